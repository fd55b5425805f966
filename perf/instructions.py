#!/usr/bin/env python3
"""Counts instructions of fixed work with callgrind and fails where they grew beyond the baseline.

Instructions, not time: two runs of the same program differ by less than 0.1 %, on a busy machine too. A count holds for one
compiler, TLS library and processor architecture, so the baseline is kept by these; where it has none for this machine
the counts are printed and nothing is judged.

usage: instructions.py --tlstrata PROGRAM [--update]
"""
import argparse
import json
import os
import platform
import re
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
BASELINE = HERE / "baseline.json"
ALLOWED_GROWTH = 0.02

# OpenSSL chooses code by CPU: this leaves it AES-NI, PCLMULQDQ and SSSE3, which every x86-64 machine in question has.
PINNED = {"OPENSSL_ia32cap": "0x7ed8320b078bffff:0", "LC_ALL": "C", "PATH": os.environ.get("PATH", "")}


def workloads(source):
    """{name: (arguments, what the count is divided by)}"""
    field = source / "tests/golden/field"
    captures = sorted(str(path) for path in field.glob("*.pcap*") if not path.name.endswith(".json"))
    key_logs = sorted(str(path) for path in field.glob("*.keys") if not path.name.startswith("keys_"))
    keys = [word for path in key_logs for word in ("--keylog", path)]
    return {"analyze_field": ["analyze", *captures, *keys, "--threads", "1", "--transactions", "/dev/null"],
            "handshake_50": ["handshake", "--groups", "X25519MLKEM768", "--certs", "ecdsa-p256", "--count", "50"]}


def environment_of(program):
    """What a count depends on, as one line."""
    compiler = subprocess.run(["c++", "-dumpfullversion", "-dumpmachine"], capture_output=True, text=True, check=True)
    version = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout
    library = re.search(r"OpenSSL \d+\.\d+\.\d+", version)[0]
    # Our own key schedule takes the widest vectors that valgrind knows, which are the processor's up to AVX2.
    avx2 = re.search(r"^flags.*\bavx2\b", Path("/proc/cpuinfo").read_text(encoding="utf-8"), re.MULTILINE)
    return (f"c++ {' '.join(compiler.stdout.split())}, {library}, glibc {platform.libc_ver()[1]}, "
            f"{'AVX2' if avx2 else 'no AVX2'}")


def count_instructions(program, arguments):
    with tempfile.TemporaryDirectory() as scratch:
        ran = subprocess.run(
            ["valgrind", "--tool=callgrind", f"--callgrind-out-file={scratch}/out", program, *arguments],
            env=PINNED, capture_output=True, text=True, check=False,
        )
    counted = re.search(r"Collected : (\d+)", ran.stderr)
    if ran.returncode != 0 or counted is None:
        sys.exit(f"perf: {program} {arguments[0]} failed under callgrind:\n{ran.stderr[-2000:]}")
    return int(counted[1])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tlstrata", required=True)
    parser.add_argument("--update", action="store_true", help="take this run's counts as the baseline")
    arguments = parser.parse_args()
    here = environment_of(arguments.tlstrata)
    baseline = json.loads(BASELINE.read_text()) if BASELINE.exists() else {}
    known = baseline.get(here, {})
    grown = False
    print(here)
    for name, words in workloads(HERE.parent).items():
        count = count_instructions(arguments.tlstrata, words)
        if arguments.update:
            baseline.setdefault(here, {})[name] = count
            verdict = "is the baseline now"
        elif name not in known:
            verdict = "no baseline for this machine; --update makes one"
        else:
            growth = count / known[name] - 1
            verdict = f"{growth:+.2%} of the baseline's {known[name]:,}"
            if growth > ALLOWED_GROWTH:
                verdict += f", more than {ALLOWED_GROWTH:.0%} allowed"
                grown = True
        print(f"{name}: {count:,} instructions, {verdict}")
    if arguments.update:
        BASELINE.write_text(json.dumps(baseline, indent=2, sort_keys=True) + "\n")
    sys.exit(1 if grown else 0)


if __name__ == "__main__":
    main()
