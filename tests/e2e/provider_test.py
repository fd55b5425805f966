#!/usr/bin/env python3
"""Groups of our OpenSSL provider with real programs: tlstrata load, openssl s_client and s_server, and nginx in a lab."""

import argparse
import csv
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

import tls_servers

ARGUMENTS = None
CODE = 0x2FB6
CLIENT_SHARE = 800 + 32
SERVER_SHARE = 768 + 32

PROVIDERS = """openssl_conf = openssl_init
[openssl_init]
providers = provider_section
[provider_section]
default = default_section
tlstrata = tlstrata_section
[default_section]
activate = 1
[tlstrata_section]
module = tlstrata-provider.so
activate = {activate}
{more}
"""
GROUP = """group1 = extra_section
[extra_section]
name = P384MLKEM1024
code_point = {code_point}
mlkem = ML-KEM-1024
classical = P-384
order = classical-first
security_bits = 192
"""

LAB = """name = "provider"
groups = ["X25519", "X25519MLKEM512"]
responses = ["4KiB"]
rate = 100
block = "300ms"
blocks = 1
[warmup]
transactions = 2
"""


class ProviderTest(unittest.TestCase):
    def setUp(self):
        self.scratch = pathlib.Path(ARGUMENTS.scratch) / self.id().rsplit(".", maxsplit=1)[-1]
        shutil.rmtree(self.scratch, ignore_errors=True)
        self.scratch.mkdir(parents=True)
        self.openssl = tls_servers.OpenSsl(ARGUMENTS.source)
        self.certificates = tls_servers.Certificates(self.openssl, self.scratch)
        self.configure()

    def configure(self, more="", activate=1):
        path = self.scratch / "openssl.cnf"
        path.write_text(PROVIDERS.format(more=more, activate=activate), encoding="ascii")
        self.openssl.environment["OPENSSL_CONF"] = str(path)
        self.openssl.environment["OPENSSL_MODULES"] = str(pathlib.Path(ARGUMENTS.tlstrata).parent)

    def load(self, port, *arguments, program=None, **options):
        return subprocess.run([program or ARGUMENTS.tlstrata, "load", f"https://localhost:{port}/", "--ca",
                               self.certificates.authority, "--count", "10", "--json", "-", *arguments],
                              capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL, timeout=60, **options)

    def s_client(self, port, groups):
        return subprocess.run([self.openssl.program, "s_client", "-connect", f"localhost:{port}", "-groups", groups,
                               "-CAfile", self.certificates.authority], env=self.openssl.environment, capture_output=True,
                              text=True, check=False, stdin=subprocess.DEVNULL, timeout=60).stdout

    def test_load_gets_it_without_anybodys_doing(self):
        with tls_servers.s_server(self.openssl, self.certificates, "-groups", "X25519MLKEM512") as port:
            result = self.load(port, "--groups", "x25519_mlkem512:X25519", "--threads", "2")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(json.loads(result.stdout)["groups"], {"X25519MLKEM512": 10})

    def test_the_share_goes_over_the_wire_as_it_should(self):
        hellos = []
        with tls_servers.ScriptedServer(lambda c: hellos.append(tls_servers.receive_client_hello(c))) as server:
            self.load(server.port, "--groups", "X25519MLKEM512:X25519")
        hello = tls_servers.ClientHello(next(hello for hello in hellos if hello))
        self.assertEqual((hello.groups, hello.key_shares), ([CODE, 0x1D], [CODE]))
        self.assertEqual(len(hello.extensions[51]), 2 + 4 + CLIENT_SHARE)

    def test_openssls_own_client_and_server(self):
        with tls_servers.s_server(self.openssl, self.certificates, "-groups", "X25519:X25519MLKEM512") as port:
            self.assertIn("Negotiated TLS1.3 group: X25519MLKEM512", self.s_client(port, "X25519MLKEM512"))
            self.assertIn("Verify return code: 0 (ok)", self.s_client(port, "X25519MLKEM512"))

    def test_a_group_that_the_configuration_adds(self):
        self.configure(GROUP.format(code_point="0xFE01"))
        with tls_servers.s_server(self.openssl, self.certificates, "-groups", "P384MLKEM1024") as port:
            self.assertIn("Negotiated TLS1.3 group: P384MLKEM1024", self.s_client(port, "P384MLKEM1024"))
            result = self.load(port, "--groups", "0xFE01", env=self.openssl.environment)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertEqual(json.loads(result.stdout)["groups"], {"0xfe01": 10})
            result = self.load(port, "--groups", "X25519,0xFE01")
            self.assertEqual(result.returncode, 2, "without that configuration there is no such group")

    def test_a_bad_configuration_is_told_by_openssl(self):
        self.configure(GROUP.format(code_point="many"), activate=0)
        told = subprocess.run([self.openssl.program, "list", "-providers", "-provider", "tlstrata"],
                              env=self.openssl.environment, capture_output=True, text=True, check=False)
        self.assertNotEqual(told.returncode, 0)
        self.assertIn("tlstrata provider: group1.code_point = many: no code point of a group; write a number", told.stderr)

    def test_a_program_without_its_provider_says_so(self):
        alone = self.scratch / "tlstrata"
        shutil.copy(ARGUMENTS.tlstrata, alone)
        with tls_servers.s_server(self.openssl, self.certificates) as port:
            result = self.load(port, "--groups", "X25519MLKEM512", program=alone)
            self.assertEqual(result.returncode, 3)
            self.assertRegex(result.stderr, r"^tlstrata: there is no tlstrata-provider.so \(.*\): keep it beside the program")
            self.assertEqual(self.load(port, "--groups", "X25519MLKEM768", program=alone).returncode, 0)
            # An installation's place.
            (self.scratch / "lib" / "tlstrata").mkdir(parents=True)
            (self.scratch / "bin").mkdir()
            shutil.copy(pathlib.Path(ARGUMENTS.tlstrata).parent / "tlstrata-provider.so", self.scratch / "lib" / "tlstrata")
            alone.rename(self.scratch / "bin" / "tlstrata")
        with tls_servers.s_server(self.openssl, self.certificates, "-groups", "X25519MLKEM512") as port:
            result = self.load(port, "--groups", "X25519MLKEM512", program=self.scratch / "bin" / "tlstrata")
            self.assertEqual(result.returncode, 0, result.stderr)

    def test_nginx_in_a_lab(self):
        spec = self.scratch / "spec.toml"
        spec.write_text(LAB, encoding="ascii")
        # Whatever OpenSSL is configured with here is not the lab's servers'.
        environment = os.environ | {"OPENSSL_CONF": "/dev/null"}
        result = subprocess.run([ARGUMENTS.tlstrata, "lab", spec, "--out", self.scratch / "results"], capture_output=True,
                                text=True, check=False, stdin=subprocess.DEVNULL, timeout=120, env=environment)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        folder = pathlib.Path(result.stdout.splitlines()[-1].strip())
        with open(folder / "transactions.csv", newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual({(row["cell"], row["group"], row["outcome"], row["boundary"]) for row in rows},
                         {("x25519-4KiB", "X25519", "complete", "decrypted"),
                          ("x25519mlkem512-4KiB", "X25519MLKEM512", "complete", "decrypted")})
        capture = next(path for path in (folder / "captures").iterdir() if "mlkem512" in path.name)
        self.check_shares_by_tshark(capture)
        self.check_shares_by_analyze(capture)

    def check_shares_by_tshark(self, capture):
        fields = ["tls.handshake.type", "tls.handshake.extensions_key_share_group",
                  "tls.handshake.extensions_key_share_key_exchange_length"]
        shown = subprocess.run(["tshark", "-r", capture, "-Y", fields[2], "-T", "fields",
                                *[word for field in fields for word in ("-e", field)]], capture_output=True, text=True,
                               check=True, env={"PATH": os.environ["PATH"], "HOME": str(self.scratch)}).stdout
        rows = [line.split("\t") for line in shown.splitlines()]
        for first_type, size in (("1", CLIENT_SHARE), ("2", SERVER_SHARE)):
            shares = [row[1:] for row in rows if row[0].split(",")[0] == first_type]
            self.assertEqual(shares, [[str(CODE), str(size)]] * 30, first_type)

    def check_shares_by_analyze(self, capture):
        shown = subprocess.run([ARGUMENTS.tlstrata, "analyze", capture, "--show", "1"], capture_output=True, text=True,
                               check=True).stdout
        self.assertIn(f"key shares      X25519MLKEM512 ({CLIENT_SHARE} B)", shown)
        hello = re.search(r"ServerHello, X25519MLKEM512, \S+, (\d+) B", shown)
        self.assertIsNotNone(hello, shown)
        # Record, message, random, session id, suite, and the two extensions: 90 bytes around the share.
        self.assertEqual(int(hello[1]), 90 + SERVER_SHARE)


def main():
    global ARGUMENTS
    parser = argparse.ArgumentParser()
    parser.add_argument("--tlstrata", required=True)
    parser.add_argument("--source", required=True)
    parser.add_argument("--scratch", required=True)
    ARGUMENTS, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0], *rest], verbosity=2)


if __name__ == "__main__":
    main()
