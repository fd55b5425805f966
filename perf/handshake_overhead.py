#!/usr/bin/env python3
"""Instructions a handshake of `tlstrata handshake` against a bare loop of OpenSSL's calls on the same library: what the harness
adds has to stay below 3 %. Counted by callgrind over the whole process, as the slope between two numbers of handshakes.

usage: handshake_overhead.py --tlstrata PROGRAM --bare PROGRAM --source CHECKOUT
"""
import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import instructions

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "e2e"))
import tls_servers  # noqa: E402  pylint: disable=wrong-import-position

MOST = 0.03
COUNTS = (20, 70)
GROUPS = ("X25519", "X25519MLKEM768")


def count(words, environment):
    with tempfile.TemporaryDirectory() as scratch:
        ran = subprocess.run(["valgrind", "--tool=callgrind", f"--callgrind-out-file={scratch}/out", *words], env=environment,
                             capture_output=True, text=True, check=False)
    counted = re.search(r"Collected : (\d+)", ran.stderr)
    if ran.returncode != 0 or counted is None:
        sys.exit(f"perf: {words[0]} failed under callgrind:\n{ran.stderr[-2000:]}")
    return int(counted[1])


def per_handshake(words_of, environment):
    few, many = (count(words_of(n), environment) for n in COUNTS)
    return (many - few) / (COUNTS[1] - COUNTS[0])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tlstrata", required=True)
    parser.add_argument("--bare", required=True)
    parser.add_argument("--source", required=True)
    arguments = parser.parse_args()
    grown = False
    with tempfile.TemporaryDirectory() as scratch:
        certificates = tls_servers.Certificates(tls_servers.OpenSsl(arguments.source), Path(scratch))
        for group in GROUPS:
            bare = per_handshake(lambda n, group=group: [arguments.bare, certificates.certificate, certificates.key,
                                                         certificates.authority, group, str(n)], instructions.PINNED)
            ours = per_handshake(lambda n, group=group: [arguments.tlstrata, "handshake", "--groups", group, "--certs",
                                                         "ecdsa-p256", "--count", str(n)], instructions.PINNED)
            overhead = ours / bare - 1
            grown = grown or overhead > MOST
            print(f"{group}: {ours:,.0f} instructions a handshake, the bare loop {bare:,.0f}: {overhead:+.2%}, "
                  f"at most {MOST:.0%} allowed")
    sys.exit(1 if grown else 0)


if __name__ == "__main__":
    main()
