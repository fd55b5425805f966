#!/usr/bin/env python3
"""Key share prediction with a real DNS server: `load --predict` shares what the record says, and falls back where it is wrong."""

import argparse
import contextlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import unittest

import knot
import nginx
import tls_servers

ARGUMENTS = None
OPENSSL = None
CERTIFICATES = None

OFFER = "X25519MLKEM768:X25519:MLKEM1024:MLKEM768"  # the server has MLKEM1024 alone


def generic(*parameters, priority=1, target=b"\x00"):
    """An HTTPS record by its bytes; parameters are (key, value)."""
    data = priority.to_bytes(2, "big") + target
    for key, value in parameters:
        data += key.to_bytes(2, "big") + len(value).to_bytes(2, "big") + value
    return rf"TYPE65 \# {len(data)} {data.hex()}"


def groups(*codes):
    return b"".join(code.to_bytes(2, "big") for code in codes)


# What is wrong with each, its record, what the client makes of it, and whether a retry follows.
WRONG = [
    ("missing", None, "no_record"),
    ("without groups", "HTTPS 1 . alpn=h2", "no_hint"),
    ("stale", r'HTTPS 1 . key9="\002\001"', "predicted"),
    ("only groups that nobody knows", r'HTTPS 1 . key9="\171\205\190\239"', "no_common"),
    ("GREASE alone", r'HTTPS 1 . key9="\010\010\026\026"', "no_common"),
    ("an empty list", generic((9, b"")), "malformed"),
    ("half a code point", generic((9, b"\x02\x02\x02")), "malformed"),
    ("a group twice", generic((9, groups(0x0202, 0x0202))), "malformed"),
    ("oversized", generic((9, groups(*range(0x4000, 0x4000 + 500)))), "oversized"),
    ("an alias", "HTTPS 0 elsewhere.localhost.", "no_record"),
    ("keys out of order", generic((9, groups(0x0202)), (1, b"\x02h2")), "malformed"),
    ("a value longer than its record", r"TYPE65 \# 9 000100 0009 0040 0202", "malformed"),
    ("another server's", r'HTTPS 1 elsewhere.localhost. key9="\002\002"', "no_record"),
    ("demands what nobody knows", generic((0, groups(0x8001)), (9, groups(0x0202)), (0x8001, b"")), "no_record"),
]


class PredictionTest(unittest.TestCase):
    def setUp(self):
        self.scratch = pathlib.Path(ARGUMENTS.scratch) / self.id().rsplit(".", maxsplit=1)[-1]
        shutil.rmtree(self.scratch, ignore_errors=True)
        self.scratch.mkdir(parents=True)

    @contextlib.contextmanager
    def server(self, record):
        """nginx with MLKEM1024 alone, and Knot with `record` for it; None: the name has none."""
        with nginx.Nginx(ARGUMENTS.source, OPENSSL, CERTIFICATES, self.scratch / "nginx", groups="MLKEM1024") as server:
            zone = [] if record is None else [f"_{server.port}._https {record}"]
            with knot.Knot(ARGUMENTS.source, zone) as dns:
                yield server.port, dns.resolver

    def load(self, port, *arguments, count=20, answers=True):
        # A query has two seconds, which a busy machine can take from a server that does answer.
        for _ in range(3 if answers else 1):
            document = self.load_once(port, *arguments, count=count)
            if not document.get("prediction", {}).get("counts", {}).get("failed"):
                break
        return document

    def load_once(self, port, *arguments, count):
        finished = subprocess.run([ARGUMENTS.tlstrata, "load", f"https://localhost:{port}/4KiB", "--ca", CERTIFICATES.authority,
                                   "--groups", OFFER, "--count", str(count), "--rate", "200", "--json", "-", *arguments],
                                  capture_output=True, text=True, check=False, timeout=120)
        self.assertEqual(finished.returncode, 0, finished.stderr + finished.stdout[-2000:])
        document = json.loads(finished.stdout)
        self.assertEqual((document["outcomes"]["complete"], document["groups"]), (count, {"MLKEM1024": count}))
        return document

    def test_retries_fall_from_all_to_none(self):
        with self.server(r'HTTPS 1 . alpn=h2 key9="\002\002\017\236"') as (port, resolver):
            without = self.load(port)
            predicted = self.load(port, "--predict", "--resolver", resolver)
        self.assertEqual((without["retried"], predicted["retried"]), (20, 0))
        self.assertNotIn("prediction", without)
        prediction = predicted["prediction"]
        self.assertEqual(prediction["name"], f"_{port}._https.localhost")
        # The record's order is the server's, whatever the client likes best.
        self.assertEqual(prediction["hinted"], ["MLKEM1024", "X25519MLKEM768"])

    def test_every_wrong_record_falls_back(self):
        for title, record, kind in WRONG:
            with self.subTest(title), self.server(record) as (port, resolver):
                document = self.load(port, "--predict", "--resolver", resolver, count=5)
                self.assertEqual(document["prediction"]["counts"][kind], 1, document["prediction"])
                self.assertEqual(document["retried"], 5)
                shares = document["configurations"][0]["key_shares"]
                self.assertEqual(shares, ["MLKEM768" if kind == "predicted" else "X25519MLKEM768"])

    def test_probe_compares_the_record_with_the_server(self):
        for record, right in ((r'HTTPS 1 . key9="\002\002"', True), (r'HTTPS 1 . key9="\002\001"', False)):
            with self.server(record) as (port, resolver):
                for _ in range(3):  # as in load()
                    finished = subprocess.run([ARGUMENTS.tlstrata, "probe", f"localhost:{port}", "--predict", "--resolver",
                                               resolver, "--rate", "1000", "--tolerance", "off", "--json", "-"],
                                              capture_output=True, text=True, check=True, timeout=120)
                    record = json.loads(finished.stdout)["hosts"][0]["https_record"]
                    if record["kind"] != "failed":
                        break
            self.assertEqual((record["kind"], record["right"]), ("predicted" if right else "no_common", right))

    def test_nobody_answers(self):
        with nginx.Nginx(ARGUMENTS.source, OPENSSL, CERTIFICATES, self.scratch / "nginx", groups="MLKEM1024") as server:
            document = self.load(server.port, "--predict", "--resolver", f"127.0.0.1:{tls_servers.free_port()}", count=5,
                                 answers=False)
        self.assertEqual((document["prediction"]["counts"]["failed"], document["retried"]), (1, 5))


def main():
    global ARGUMENTS, OPENSSL, CERTIFICATES  # set once, before the tests
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tlstrata", required=True)
    parser.add_argument("--source", required=True)
    parser.add_argument("--scratch", required=True)
    ARGUMENTS, remaining = parser.parse_known_args()
    ARGUMENTS.tlstrata = os.path.abspath(ARGUMENTS.tlstrata)
    scratch = pathlib.Path(ARGUMENTS.scratch).resolve()
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir(parents=True)
    OPENSSL = tls_servers.OpenSsl(ARGUMENTS.source)
    CERTIFICATES = tls_servers.Certificates(OPENSSL, scratch)
    unittest.main(argv=[sys.argv[0], "-v", *remaining])


if __name__ == "__main__":
    main()
