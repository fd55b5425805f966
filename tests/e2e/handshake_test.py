#!/usr/bin/env python3
"""`tlstrata handshake`: the study's configurations, bytes to the last one, retries as OpenSSL's own programs have them, transports,
regressions, instructions, and a chain beyond the initial window as a capture of it shows.
"""

import argparse
import json
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

import tls_servers

ARGUMENTS = None

OFFERS = [("X25519", "X25519"), ("X25519MLKEM768:X25519", "X25519MLKEM768"),
          ("X25519MLKEM768:X25519", "X25519MLKEM768:X25519"), ("X25519:X25519MLKEM768", "X25519"),
          ("MLKEM1024:X25519MLKEM768:X25519", "MLKEM1024"), ("secp256r1", "secp256r1")]
SERVERS = ["X25519MLKEM768:X25519", "X25519:X25519MLKEM768", "X25519", "MLKEM1024", "X25519MLKEM768", "secp256r1:X25519"]


def handshake(*options, expect=0):
    done = subprocess.run([ARGUMENTS.tlstrata, "handshake", *options], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          check=False, timeout=240)
    if done.returncode != expect:
        raise AssertionError(f"handshake {options} ended with {done.returncode}: {done.stdout[-2000:]}{done.stderr}")
    return done


def result(*options):
    return json.loads(handshake(*options, "--json", "-").stdout)


def field(configuration, side, message, name):
    return sum(line["bytes"] for each in configuration["messages"] if each["from"] == side and each["message"] == message
               for line in each["fields"] if line["name"] == name)


def without_signature(configuration, side):
    return sum(line["bytes"] for line in configuration["byte_differences"][side]
               if (line["message"], line["field"]) != ("CertificateVerify", "signature"))


class Study(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.result = result("--handshakes", "200", "--runs", "3")
        cls.by_name = {each["name"]: each for each in cls.result["configurations"]}

    def test_it_is_the_studys_four(self):
        self.assertEqual(list(self.by_name), ["ecdsa-p256 X25519", "rsa-2048 X25519", "ecdsa-p256 X25519MLKEM768",
                                              "ecdsa-p256 MLKEM1024"])
        self.assertEqual([self.result[key] for key in ["tool", "command", "transport"]], ["tlstrata", "handshake", "memory"])
        for each in self.by_name.values():
            self.assertEqual((each["n"], each["hrr"], each["resumed"]), (600, False, False))
            self.assertEqual(len(each["client"]["cpu_ns"]["run_medians"]), 3)

    def test_rsa_costs_the_server_a_multiple(self):
        ratio = self.by_name["rsa-2048 X25519"]["server"]["versus_baseline"]
        self.assertGreater(ratio["ratio"], 1.5)
        self.assertLess(ratio["ratio"], 6)
        self.assertTrue(ratio["flagged"])
        self.assertLess(ratio["ci_low_ns"], ratio["difference_ns"])
        self.assertGreater(ratio["ci_high_ns"], ratio["difference_ns"])

    def test_byte_differences_are_exact_and_named(self):
        hybrid = self.by_name["ecdsa-p256 X25519MLKEM768"]
        self.assertEqual([(line["field"], line["bytes"]) for line in hybrid["byte_differences"]["client"]],
                         [("key_share", 1184), ("ec_point_formats", -8)])
        self.assertEqual(without_signature(hybrid, "client"), 1176)
        self.assertEqual(without_signature(hybrid, "server"), 1088)
        pure = self.by_name["ecdsa-p256 MLKEM1024"]
        self.assertEqual(without_signature(pure, "server"), 1536)
        base = self.by_name["ecdsa-p256 X25519"]
        self.assertEqual(hybrid["client"]["bytes_sent"]["median"] - base["client"]["bytes_sent"]["median"], 1176)
        for each in self.by_name.values():
            for side in ["client", "server"]:
                named = sum(message["bytes"] for message in each["messages"] if message["from"] == side)
                sent = each[side]["bytes_sent"]
                self.assertLessEqual(abs(named - sent["mean"]), 8, each["name"])  # DER
                self.assertEqual(named, sum(record["bytes"] for record in each["records"] if record["from"] == side))
        self.assertEqual(self.by_name["rsa-2048 X25519"]["server"]["signature_bytes"], {"min": 256, "mean": 256, "max": 256})
        der = base["server"]["signature_bytes"]
        self.assertLess(der["min"], der["mean"])
        self.assertEqual(der["max"], 72)

    def test_the_cpu_account_adds_up(self):
        for each in self.by_name.values():
            for side in ["client", "server"]:
                account = each[side]["cpu_account"]
                self.assertAlmostEqual(sum(account["parts_ns"].values()) / account["total_ns"], 1, places=6)
                self.assertGreater(account["floor_ns"], 0)
                self.assertGreater(account["parts_ns"]["key_schedule"], 0)
        hybrid = self.by_name["ecdsa-p256 X25519MLKEM768"]
        self.assertGreater(hybrid["server"]["cpu_account"]["parts_ns"]["encapsulation"], 0)
        self.assertGreater(hybrid["server"]["cpu_account"]["parts_ns"]["signing"], 0)

    def test_the_table_is_for_people(self):
        told = handshake("--handshakes", "20", "--runs", "1", "--groups", "X25519,X25519MLKEM768").stdout
        for text in ["client CPU", "+1,176", "+1,088", "ec_point_formats", "floor", "fits", "95 % interval"]:
            self.assertIn(text, told)
        self.assertNotIn("\x1b", told)


class Choices(unittest.TestCase):
    def test_transports_threads_resumption_and_client_certificates(self):
        small = ["--handshakes", "20", "--runs", "1", "--groups", "X25519MLKEM768"]
        sent = result(*small)["configurations"][0]["client"]["bytes_sent"]["median"]
        for options in [["--transport", "socketpair"], ["--transport", "tcp", "--threads", "2"], ["--cold"],
                        ["--threads", "3"]]:
            each = result(*small, *options)["configurations"][0]
            self.assertEqual((each["n"], each["client"]["bytes_sent"]["median"]), (20, sent), options)
        for options in [["--resume"], ["--resume", "--transport", "socketpair"]]:
            resumed = result(*small, *options)["configurations"][0]
            self.assertEqual((resumed["resumed"], resumed["group"]), (True, "X25519MLKEM768"))
            self.assertIsNone(resumed["server"]["signature_bytes"])
        mutual = result(*small, "--mutual")["configurations"][0]
        self.assertGreater(field(mutual, "client", "Certificate", "certificate 1"), 300)

    def test_what_the_server_prefers_is_a_retry_or_a_list(self):
        each = {one["server_groups"]: one for one in result(
            "--handshakes", "10", "--runs", "1", "--groups", "X25519MLKEM768:X25519", "--server-groups",
            "X25519MLKEM768,X25519")["configurations"]}
        self.assertEqual((each["X25519MLKEM768"]["hrr"], each["X25519MLKEM768"]["tcp"]["round_trips"]), (False, 1))
        self.assertEqual((each["X25519"]["hrr"], each["X25519"]["tcp"]["round_trips"]), (True, 2))

    def test_what_cannot_be_is_refused(self):
        self.assertIn("no suitable", handshake("--groups", "X25519", "--server-groups", "MLKEM1024", expect=1).stderr)
        self.assertIn("--cold --resume", handshake("--cold", "--resume", expect=2).stderr)
        self.assertIn("rsa-1024", handshake("--certs", "rsa-1024", expect=2).stderr)
        self.assertIn("X25519MLKEM", handshake("--groups", "X25519MLKEM99", expect=2).stderr)
        self.assertIn("libssl", handshake("--openssl", "/nowhere", expect=3).stderr)

    def test_two_openssls_are_measured_together(self):
        prefix = pathlib.Path(subprocess.run(["ldd", ARGUMENTS.tlstrata], capture_output=True, text=True, check=True).stdout
                              .split("libssl.so.3 => ")[1].split()[0]).parent
        both = result("--handshakes", "20", "--runs", "1", "--groups", "X25519", "--openssl", str(prefix), "--openssl",
                      str(prefix))
        self.assertEqual([each["n"] for each in both["configurations"]], [20, 20])
        self.assertEqual(len(both["openssl"]), 2)
        self.assertIn(str(prefix), both["openssl"][1])


class Retries(unittest.TestCase):
    def openssl_says(self, openssl, certificates, port, offer, shares):
        """What s_client got: (outcome, group)."""
        sent = shares.split(":")
        groups = ":".join(("*" if name in sent else "") + name for name in offer.split(":"))
        told = subprocess.run([openssl.program, "s_client", "-connect", f"127.0.0.1:{port}", "-tls1_3", "-groups", groups, "-msg",
                               "-CAfile", certificates.authority], env=openssl.environment, input="", capture_output=True,
                              text=True, check=False, timeout=60).stdout
        hellos = len(re.findall(r"^>>> .*ClientHello", told, re.MULTILINE))
        if "Cipher is (NONE)" in told:
            return ("failure", None)
        # "Negotiated TLS1.3 group: X25519MLKEM768", or for what is no KEM "Peer Temp Key: ECDH, prime256v1, 256 bits".
        group = re.search(r"^(?:Negotiated TLS1\.3 group|Peer Temp Key|Server Temp Key): (?:ECDH, )?([^\s,]+)", told, re.MULTILINE)
        if group is None:
            raise AssertionError(f"s_client does not say the group: {told[-3000:]}")
        return ("retry" if hellos == 2 else "direct", "secp256r1" if group[1] == "prime256v1" else group[1])

    def test_the_matrix_is_what_openssls_own_programs_do(self):
        folder = pathlib.Path(ARGUMENTS.scratch)
        folder.mkdir(parents=True, exist_ok=True)
        openssl = tls_servers.OpenSsl(ARGUMENTS.source)
        certificates = tls_servers.Certificates(openssl, folder)
        cells = result("--matrix", "--handshakes", "5")["matrix"]
        self.assertEqual(len(cells), 36)
        ours = {(cell["groups"], cell["key_shares"].replace("+", ":"), cell["server_groups"]): (cell["outcome"], cell["group"])
                for cell in cells}
        theirs = {}
        for server in SERVERS:
            with tls_servers.s_server(openssl, certificates, "-groups", server) as port:
                for offer, shares in OFFERS:
                    theirs[offer, shares, server] = self.openssl_says(openssl, certificates, port, offer, shares)
        self.assertEqual(ours, theirs)
        self.assertEqual({outcome for outcome, _ in ours.values()}, {"direct", "retry", "failure"})
        for cell in cells:
            if cell["outcome"] == "retry":
                self.assertEqual(cell["round_trips"], 2)
        told = handshake("--matrix", "--handshakes", "2").stdout
        self.assertIn("S6  secp256r1:X25519", told)
        self.assertIn("retry X25519", told)


class Regression(unittest.TestCase):
    def test_bytes_and_cpu_against_an_earlier_run(self):
        folder = pathlib.Path(ARGUMENTS.scratch)
        folder.mkdir(parents=True, exist_ok=True)
        base = str(folder / "base.json")
        small = ["--handshakes", "60", "--runs", "1", "--certs", "rsa-2048", "--groups", "X25519"]
        handshake(*small, "--save", base)
        told = handshake(*small, "--against", base, "--fail-if", "client.bytes > 0", "--fail-if", "server.cpu > +900%").stdout
        self.assertIn("Against", told)
        self.assertIn("server.cpu", told)
        # The same name with more work in it: the earlier run is made to look cheaper.
        cheaper = json.loads(pathlib.Path(base).read_text(encoding="utf-8"))
        server = cheaper["configurations"][0]["server"]
        server["cpu_ns"]["median"] /= 10
        server["cpu_ns"]["block_medians"] = [each / 10 for each in server["cpu_ns"]["block_medians"]]
        pathlib.Path(base).write_text(json.dumps(cheaper), encoding="utf-8")
        self.assertIn("server.cpu grew by",
                      handshake(*small, "--against", base, "--fail-if", "server.cpu > +100%", expect=1).stderr)
        self.assertIn("--fail-if", handshake(*small, "--against", base, "--fail-if", "server.cpu < 3", expect=2).stderr)
        self.assertIn("nothing of the earlier run",
                      handshake(*small, "--against", base, "--fail-if", "server.instructions > 1%", expect=2).stderr)

    def test_instructions_are_the_same_twice(self):
        counts = []
        for _ in range(2):
            one = result("--under", "callgrind", "--handshakes", "20", "--groups", "X25519MLKEM768")
            self.assertTrue(one["OPENSSL_ia32cap"])
            counts.append([one["configurations"][0][side]["instructions"] for side in ["client", "server"]])
        for first, second in zip(*counts):
            self.assertGreater(first, 100_000)
            self.assertLess(abs(second / first - 1), 0.001)


class Window(unittest.TestCase):
    def test_a_chain_beyond_the_window_is_named_and_a_capture_agrees(self):
        options = ["--groups", "X25519MLKEM768", "--certs", "ml-dsa-65", "--chain", "3", "--handshakes", "2", "--runs", "1",
                   "--account", "off"]
        folder = pathlib.Path(ARGUMENTS.scratch)
        folder.mkdir(parents=True, exist_ok=True)
        capture = folder / "handshake.pcapng"
        keys = folder / "keys.txt"
        keys.unlink(missing_ok=True)
        tshark = subprocess.Popen(["tshark", "-q", "-i", "lo", "-s", "65535", "-B", "64", "-w", str(capture), "-f", "tcp"],
                                  stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
        try:
            for line in tshark.stderr:
                if "Capturing on" in line:
                    break
            measured = None
            # Nothing tells when the capture has really begun: handshakes go on until it has seen some.
            for _ in range(50):
                measured = result(*options, "--transport", "tcp", "--keylog", str(keys))
                if capture.exists() and capture.stat().st_size > 60_000:
                    break
        finally:
            tshark.terminate()
            tshark.wait(timeout=60)
            tshark.stderr.close()
        tcp = measured["configurations"][0]["tcp"]
        self.assertFalse(tcp["fits"])
        self.assertEqual(tcp["window_bytes"], 14480)
        self.assertEqual(tcp["window_excess_bytes"], tcp["server_flight_bytes"] - 14480)
        self.assertEqual(tcp["round_trips"], 2)
        self.assertIn(f"{tcp['window_excess_bytes']:,} bytes too many", handshake(*options).stdout)
        rows = folder / "transactions.csv"
        subprocess.run([ARGUMENTS.tlstrata, "analyze", str(capture), "--keylog", str(keys), "--transactions", str(rows)],
                       check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        lines = rows.read_text(encoding="utf-8").splitlines()
        names = lines[0].split(",")
        flights = {int(each.split(",")[names.index("server_flight_bytes")]) for each in lines[1:]
                   if each.split(",")[names.index("group")] == "X25519MLKEM768"
                   and each.split(",")[names.index("boundary")] == "decrypted"}
        # ML-DSA's signatures are all of one length; the flight of the account has its ChangeCipherSpec, 6 bytes, in it.
        self.assertEqual(flights, {tcp["server_flight_bytes"]})


def main():
    global ARGUMENTS
    parser = argparse.ArgumentParser()
    parser.add_argument("--tlstrata", required=True)
    parser.add_argument("--source", required=True)
    parser.add_argument("--scratch", required=True)
    ARGUMENTS, rest = parser.parse_known_args()
    shutil.rmtree(ARGUMENTS.scratch, ignore_errors=True)
    unittest.main(argv=[sys.argv[0], *rest], verbosity=2)


if __name__ == "__main__":
    main()
