#!/usr/bin/env python3
"""Drives `tlstrata compare` and `report --format`: real load files, result folders whose rows are made here, gates for CI."""

import argparse
import csv
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import unittest

import tls_servers

ARGUMENTS = None
SCRATCH = None

HEADER = ("cell,block,connection,request,client,server,start_ns,tcp_handshake_ns,tcp_to_tls_ns,tls_handshake_ns,"
          "tls_to_app_ns,app_response_ns,total_ns,last_byte_ns,outcome,boundary,tls_version,cipher,group,key_shares,hrr,"
          "resumed,early_data,alpn,client_hello_bytes,server_flight_bytes,client_handshake_bytes,server_handshake_bytes,"
          "method,status,hello_send_ns,retry_ns,server_wait_ns,server_flight_ns,client_finish_ns,request_ns,"
          "client_hello_complete_ns,inverted")
HOSTILE = "<script>alert(1)</script>\"=cmd()|calc'\x1b[31m\u202e"


def run(*arguments, code=0):
    done = subprocess.run([ARGUMENTS.tlstrata, *arguments], capture_output=True, text=True, check=False, timeout=120)
    if done.returncode != code:
        raise AssertionError(f"exit code {done.returncode}, not {code}: {arguments}\n{done.stdout}\n{done.stderr}")
    return done


def make_folder(name, seed, groups, added_us=0.0, cell_suffix=""):
    """A result folder: ten blocks of 60 transactions a cell, tcp_to_tls longer by `added_us`."""
    folder = SCRATCH / name
    folder.mkdir()
    draw = random.Random(seed)
    lines = [HEADER.split(",")]
    clock = 1_767_225_600_000_000_000
    cells = []
    for number, (group, to_tls_us) in enumerate(groups):
        cell = f"{group}-4KiB{cell_suffix}"
        cells.append({"name": cell, "groups": group, "key_shares": "", "response_bytes": 4096, "baseline": number == 0})
        for block in range(10):
            effect = 0.01 * draw.gauss(0, 1)
            for _ in range(60):
                medians = [40, to_tls_us, 1000, 60, 350]
                layers = [round(1000 * median * 2.718281828 ** (0.15 * draw.gauss(0, 1) + effect)) for median in medians]
                layers[1] += round(1000 * added_us)
                clock += 10_000_000
                lines.append([cell, block, len(lines), 1, "10.0.0.2:40000", "10.0.0.1:443", clock, *layers, sum(layers),
                              sum(layers) + 9000, "complete", "decrypted", "1.3", "TLS_AES_128_GCM_SHA256", group, group, 0, 0,
                              0, "http/1.1", 330, 1000, 400, 1010, "GET", 200, "", "", "", "", "", clock + 1, "", 0])
    with open(folder / "transactions.csv", "w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows(lines)
    manifest = {"tool": "tlstrata", "version": "0.1.0", "command": "lab", "name": name, "spec_name": "made", "partial": False,
                "started_utc": "2026-01-01T00:00:00Z", "ended_utc": "2026-01-01T00:01:00Z", "seed": 7, "openssl": "made here",
                "proxy": {"name": "none", "version": "0"}, "clock": {"source": "none", "capture": "none"}, "machine": {},
                "warmup": {"transactions": 0, "note": ""}, "cells": cells,
                "blocks": [{"cell": cell["name"], "block": block, "order": block, "scheduled": 60, "not_started": 0}
                           for cell in cells for block in range(10)]}
    (folder / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    (folder / "resources.csv").write_text(
        "cell,block,component,cpu_user_ns,cpu_system_ns,wall_ns,transactions,bytes_sent,bytes_received,packets_sent,"
        "packets_received,retransmissions,capture_packets,capture_dropped,voluntary_switches,involuntary_switches,"
        "interface_dropped,listen_overflows\n", encoding="utf-8")
    return str(folder)


class Folders(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        groups = [("X25519", 180), ("MLKEM1024", 290)]
        cls.before = make_folder("before", 1, groups)
        cls.after = make_folder("after", 2, groups, added_us=41)
        cls.again = make_folder("again", 3, groups)

    def test_says_what_is_different_in_words(self):
        text = run("compare", self.before, self.after).stdout
        self.assertRegex(text, r"tcp_to_tls +[\d.,]+ +[\d.,]+ us +\+[34]\d\.\d us \([\d.]+ to [\d.]+ us\), large")
        self.assertRegex(text, r"tls_handshake .*no difference seen \(-?[\d.]+ to [\d.]+ us\), would have seen [\d.]+ us")

    def test_identical_configurations_are_no_difference(self):
        text = run("compare", self.before, self.again).stdout
        self.assertEqual(len(re.findall(r"no difference seen", text)), 12, text)

    def test_gates_are_exit_codes(self):
        gate = ["--fail-if", "tls_handshake.p50 > +5%", "--fail-if", "X25519-4KiB:tcp_to_tls > +20us"]
        failed = run("compare", self.before, self.after, *gate, code=1)
        self.assertRegex(failed.stderr, r"^tlstrata: failed: X25519-4KiB:tcp_to_tls > \+20us \(X25519-4KiB\): \+\d+")
        self.assertEqual(failed.stderr.count("\n"), 1, failed.stderr)
        self.assertEqual(run("compare", self.before, self.again, *gate).stderr, "")
        surely = run("compare", self.before, self.after, *gate, "--judge-by", "interval", code=1)
        self.assertIn("95 % interval", surely.stderr)
        for wrong in ["total > 5%", "totals > +5%", "none:total > +5%"]:
            self.assertIn("tlstrata: ", run("compare", self.before, self.after, "--fail-if", wrong, code=2).stderr)

    def test_one_result_in_four_formats(self):
        formats = {name: SCRATCH / f"comparison.{name}" for name in ["json", "csv", "markdown", "latex"]}
        run("compare", self.before, self.after, *[word for name, path in formats.items() for word in (f"--{name}", str(path))])
        document = json.loads(formats["json"].read_text(encoding="utf-8"))
        self.assertEqual(list(document)[:3], ["tool", "version", "command"])
        with open(formats["csv"], newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual(len(rows), 12)
        for row in rows:
            pair = next(pair for pair in document["pairs"] if pair["name"] == row["cell"])
            figures = pair["b"]["versus_baseline"][row["layer"]]
            self.assertAlmostEqual(float(row["difference_ns"]), figures["difference_ns"])
            self.assertAlmostEqual(float(row["minimum_detectable_ns"]), figures["minimum_detectable_ns"])
            self.assertEqual(row["verdict"].removeprefix("'"), pair["verdicts"][row["layer"]])
        self.assertIn("| tcp_to_tls |", formats["markdown"].read_text(encoding="utf-8"))
        self.assertIn("\\toprule", formats["latex"].read_text(encoding="utf-8"))

    def test_two_cells_of_a_folder_and_a_wrong_one(self):
        text = run("compare", f"{self.before}:X25519-4KiB", f"{self.before}:MLKEM1024-4KiB").stdout
        self.assertIn("compares across group: A X25519, B MLKEM1024", text)
        self.assertIn("X25519-4KiB, MLKEM1024-4KiB", run("compare", f"{self.before}:P", self.after, code=2).stderr)

    def test_unlike_rows_are_refused_unless_told(self):
        mixed = make_folder("mixed", 4, [("X25519", 180)])
        path = pathlib.Path(mixed) / "transactions.csv"
        lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
        lines[5] = lines[5].replace(",X25519,X25519,0,0,0,", ",X25519,X25519,1,0,0,")
        path.write_text("".join(lines), encoding="utf-8")
        refused = run("compare", f"{self.before}:X25519-4KiB", mixed, code=3).stderr
        self.assertIn("B mixes unlike transactions: 599 of X25519; 1 of X25519, HelloRetryRequest", refused)
        self.assertIn("MIXED: B of X25519-4KiB", run("compare", f"{self.before}:X25519-4KiB", mixed, "--mixed").stdout)

    def test_reports_in_every_format_and_beside_published_figures(self):
        for name in ["percentiles", "differences", "effects", "cos", "dilution", "cpu", "traffic", "course", "outcomes"]:
            for form in ["text", "markdown", "csv", "latex", "json"]:
                self.assertTrue(run("report", self.before, "--table", name, "--format", form).stdout)
        self.assertTrue(run("report", self.before, "--format", "markdown").stdout.startswith("## What does MLKEM1024 cost"))
        self.assertFalse((pathlib.Path(self.before) / "report.md").exists(), "printing writes nothing")
        published = run("report", self.before, "--reference", "layered-study").stdout
        self.assertEqual(published, run("compare", self.before, "--reference", "layered-study").stdout)
        self.assertRegex(published, r"tcp_to_tls, overhead factor +about 6 +1\.6\d +agrees in direction; smaller: 0\.2[67] of")
        self.assertRegex(published, r"total at 40 KB, relative overhead +about 8 % +- +not measured here")

    def test_hostile_names_are_text_everywhere(self):
        folder = make_folder("hostile", 5, [("X25519", 180), ("MLKEM1024", 290)], cell_suffix=HOSTILE)
        outputs = [run("compare", folder, folder).stdout]
        outputs += [run("compare", folder, folder, f"--{form}", "-").stdout for form in ["markdown", "latex", "csv"]]
        outputs += [run("report", folder, "--table", "effects", "--format", form).stdout
                    for form in ["text", "markdown", "latex", "csv"]]
        for output in outputs:
            self.assertNotIn("\x1b", output)
            self.assertNotIn("\u202e", output)
        for markdown in (outputs[1], outputs[5]):
            self.assertNotIn("<script", markdown)
        injected = make_folder("injected", 6, [("X25519", 180)])
        path = pathlib.Path(injected) / "transactions.csv"
        path.write_text(path.read_text(encoding="utf-8").replace("X25519-4KiB", "=cmd()"), encoding="utf-8")
        self.assertNotRegex(run("compare", injected, injected, "--csv", "-").stdout, r"(?m)^=")


class Load(unittest.TestCase):
    """What the client wrote of real connections, without blocks."""

    def test_two_key_exchanges_of_real_load(self):
        openssl = tls_servers.OpenSsl(ARGUMENTS.source)
        certificates = tls_servers.Certificates(openssl, SCRATCH)
        server = subprocess.Popen([ARGUMENTS.tlstrata, "serve", "origin", "--listen", "127.0.0.1:0", "--certificate",
                                   certificates.certificate, "--key", certificates.key, "--groups", "X25519:MLKEM1024"],
                                  stdout=subprocess.PIPE, text=True)
        try:
            address = re.search(r"127\.0\.0\.1:\d+", server.stdout.readline()).group(0)
            files = {}
            for group in ["X25519", "MLKEM1024"]:
                files[group] = str(SCRATCH / f"{group}.csv")
                run("load", f"https://{address}/4KiB", "--ca", certificates.authority, "--groups", group, "--rate", "100",
                    "--count", "200", "--transactions", files[group])
        finally:
            server.terminate()
            server.wait(timeout=tls_servers.PATIENCE_S)
            server.stdout.close()
        pair = [files["X25519"], files["MLKEM1024"]]
        self.assertIn("group: A X25519, B MLKEM1024", run("compare", *pair, code=3).stderr)
        plain = run("compare", *pair, "--across", "group").stdout
        self.assertIn("not tested: no blocks", plain)
        self.assertIn("rows have no blocks, so nothing was repeated", plain)
        document = json.loads(run("compare", *pair, "--across", "group", "--slices", "10", "--json", "-").stdout)
        against = document["pairs"][0]["b"]["versus_baseline"]["total"]
        self.assertLess(against["ci_low_ns"], against["ci_high_ns"])
        self.assertGreater(against["minimum_detectable_ns"], 0)
        self.assertIn("not what varies between runs", " ".join(document["notes"]))
        run("compare", *pair, "--across", "group", "--fail-if", "total.p50 > -99%", code=1)
        run("compare", *pair, "--across", "group", "--fail-if", "total.p50 > +100000%")
        # The same file by a mapping, as of another tool.
        mapped = run("compare", files["X25519"], files["X25519"], "--columns", "total=handshake_cpu_ns:us,cell=mode").stdout
        self.assertIn("open (A: 200 rows", mapped)


def main():
    global ARGUMENTS, SCRATCH  # set once, before the tests
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tlstrata", required=True)
    parser.add_argument("--source", required=True)
    parser.add_argument("--scratch", required=True)
    ARGUMENTS, remaining = parser.parse_known_args()
    ARGUMENTS.tlstrata = os.path.abspath(ARGUMENTS.tlstrata)
    SCRATCH = pathlib.Path(ARGUMENTS.scratch)
    shutil.rmtree(SCRATCH, ignore_errors=True)
    SCRATCH.mkdir(parents=True)
    unittest.main(argv=[sys.argv[0], "-v", *remaining])


if __name__ == "__main__":
    main()
