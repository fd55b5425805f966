#!/usr/bin/env python3
"""report.html of a real run, of hostile names and of 100,000 transactions, in Debian's Chromium (report_page.mjs)."""

import argparse
import copy
import csv
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import time
import unittest

import tls_servers

ARGUMENTS = None
SPEC = """name = "page"
groups = ["X25519", "MLKEM1024"]
responses = ["4KiB", "40KiB"]
rate = 100
block = "300ms"
blocks = 5
[warmup]
transactions = 4
"""
LAYERS = ["tcp_handshake_ns", "tcp_to_tls_ns", "tls_handshake_ns", "tls_to_app_ns", "app_response_ns"]
ATTACK = "\"'\u202e\x1b[31m"
CELL = "<img src=x onerror=alert(2)>" + ATTACK
SNI = "<script>alert(1)</script>'\"\u202e\x1b[31m"


def found(*names):
    for name in names:
        path = shutil.which(name)
        if path:
            return path
    raise AssertionError(f"none of these is installed: {', '.join(names)}; ./run setup installs them")


def run(*arguments, **options):
    result = subprocess.run([str(one) for one in arguments], capture_output=True, text=True, check=False, timeout=300,
                            stdin=subprocess.DEVNULL, **options)
    if result.returncode != 0:
        raise AssertionError(f"{arguments}: exit {result.returncode}\n{result.stdout}\n{result.stderr}")
    return result.stdout


def read_rows(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def write_rows(path, rows):
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def look(mode, folder):
    """What the browser says of a folder's page."""
    environment = {**os.environ, "TLSTRATA_CHROMIUM": found("chromium", "chromium-browser", "google-chrome"),
                   "TLSTRATA_WEB": str(ARGUMENTS.source / "web")}
    said = run(found("node"), pathlib.Path(__file__).with_name("report_page.mjs"), mode, folder / "report.html",
               *([ARGUMENTS.screenshots] if ARGUMENTS.screenshots else []), env=environment)
    print(said, end="", file=sys.stderr)


class ReportTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = ARGUMENTS.scratch
        shutil.rmtree(cls.scratch, ignore_errors=True)
        cls.scratch.mkdir(parents=True)
        spec = cls.scratch / "page.toml"
        spec.write_text(SPEC, encoding="utf-8")
        said = run(ARGUMENTS.tlstrata, "lab", spec, "--out", cls.scratch / "results")
        cls.folder = pathlib.Path(said.splitlines()[-1].strip())

    def copy_of(self, name, *files):
        folder = self.scratch / name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        for file in files:
            shutil.copy(self.folder / file, folder / file)
        return folder

    def test_real_run(self):
        look("real", self.folder)

    def test_same_bytes_again_and_without_captures(self):
        page = (self.folder / "report.html").read_bytes()
        run(ARGUMENTS.tlstrata, "report", self.folder)
        self.assertEqual((self.folder / "report.html").read_bytes(), page)
        bare = self.copy_of("bare", "manifest.json", "transactions.csv", "resources.csv", "client.csv", "sides.csv")
        run(ARGUMENTS.tlstrata, "report", bare)
        look("bare", bare)
        for name in ("summary.json", "report.md"):
            self.assertEqual((bare / name).read_bytes(), (self.folder / name).read_bytes(), name)

    def test_hostile_names(self):
        folder = self.copy_of("hostile")
        (folder / "captures").mkdir()
        openssl = tls_servers.OpenSsl(ARGUMENTS.source)
        certificates = tls_servers.Certificates(openssl, self.scratch)
        captures = [f"captures/<b onclick=alert(4)>{number} $(id)'.pcapng" for number in range(2)]
        with tls_servers.s_server(openssl, certificates) as port:
            for capture in captures:
                run(ARGUMENTS.tlstrata, "load", f"https://127.0.0.1:{port}/", "--count", "5", "--rate", "50", "--verify", "off",
                    "--sni", SNI, "--capture", folder / capture)
        manifest = json.loads((self.folder / "manifest.json").read_text(encoding="utf-8"))
        manifest["name"] += ATTACK
        manifest["machine"]["cpu_model"] = CELL
        manifest["cells"] = manifest["cells"][:2]
        manifest["blocks"] = manifest["blocks"][:2]
        for number, (cell, block) in enumerate(zip(manifest["cells"], manifest["blocks"])):
            cell["name"] = cell["groups"] = CELL + str(number)
            cell["compared_with"] = CELL + "0"
            block.update(cell=cell["name"], block=0, scheduled=5, not_started=0, capture=captures[number])
        (folder / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
        header = (self.folder / "resources.csv").read_text(encoding="utf-8").splitlines()[0]
        (folder / "resources.csv").write_text(header + "\n", encoding="utf-8")
        run(ARGUMENTS.tlstrata, "analyze", folder, "--transactions", folder / "transactions.csv")
        self.assertEqual(len(read_rows(folder / "transactions.csv")), 10)
        run(ARGUMENTS.tlstrata, "report", folder)
        look("hostile", folder)

    def test_a_hundred_thousand_transactions(self):
        """Rows like the real ones, every figure drawn anew, in blocks too few for intervals: the page is what is measured."""
        draw = random.Random(5)
        real = read_rows(self.folder / "transactions.csv")
        manifest = json.loads((self.folder / "manifest.json").read_text(encoding="utf-8"))
        names = [cell["name"] for cell in manifest["cells"]]
        by_cell = {name: [row for row in real if row["cell"] == name] for name in names}
        blocks, wanted = 4, 100_000
        template = manifest["blocks"][0]
        manifest["blocks"], rows = [], []
        for name in names:
            for block in range(blocks):
                order = len(manifest["blocks"])
                each = (order + 1) * wanted // (blocks * len(names)) - order * wanted // (blocks * len(names))
                entry = copy.deepcopy(template)
                entry.update(cell=name, block=block, order=order, scheduled=each, not_started=0, capture="")
                manifest["blocks"].append(entry)
                start = int(real[0]["start_ns"]) + order * 100_000_000_000
                for number in range(each):
                    row = dict(by_cell[name][number % len(by_cell[name])])
                    start += draw.randrange(5_000_000, 15_000_000)
                    layers = [round(int(row[layer]) * draw.uniform(0.8, 1.3)) for layer in LAYERS]
                    row.update(zip(LAYERS, layers), block=block, connection=number + 1, start_ns=start, total_ns=sum(layers),
                               last_byte_ns=sum(layers) + draw.randrange(1_000, 90_000), request_ns=start + sum(layers[:4]),
                               client=f"10.203.1.{2 + number % 7}:{draw.randrange(10_000, 65_000)}")
                    rows.append(row)
        folder = self.copy_of("large", "resources.csv")
        (folder / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
        write_rows(folder / "transactions.csv", rows)
        began = time.monotonic()
        run(ARGUMENTS.tlstrata, "report", folder)
        print(f"report of {len(rows)} transactions made in {time.monotonic() - began:.1f} s", file=sys.stderr)
        look("large", folder)


def main():
    global ARGUMENTS
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tlstrata", required=True)
    whole = lambda path: pathlib.Path(path).resolve()
    parser.add_argument("--source", type=whole, required=True)
    parser.add_argument("--scratch", type=whole, required=True)
    parser.add_argument("--screenshots", type=whole, help="folder for pictures of the real run's page")
    ARGUMENTS, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0], "-v", *rest])


if __name__ == "__main__":
    main()
