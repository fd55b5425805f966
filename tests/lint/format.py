#!/usr/bin/env python3
"""C++ is formatted as .clang-format says, by exactly clang-format 19 (versions differ). --fix formats in place."""
import re
import shutil
import subprocess
import sys
from pathlib import Path

import lint

PROGRAM = "clang-format-19"


def sources(source):
    return lint.files(source, "src", "provider", "tests", "fuzz", "perf", suffixes=lint.CPP)


def check(source):
    if shutil.which(PROGRAM) is None:
        return [f"{PROGRAM} is missing: ./run setup installs it"]
    ran = subprocess.run(
        [PROGRAM, "--dry-run", "--ferror-limit=1", *sources(source)], cwd=source, capture_output=True, text=True, check=False
    )
    findings = re.findall(r"^(\S+:\d+):\d+: (?:warning|error): (.*)$", ran.stderr, re.MULTILINE)
    if ran.returncode != 0 and not findings:
        return [f"{PROGRAM} failed: {ran.stderr}"]
    return [f"{where}: {what}" for where, what in findings]


if __name__ == "__main__":
    if "--fix" in sys.argv:
        root = Path(__file__).resolve().parents[2]
        sys.exit(subprocess.run([PROGRAM, "-i", *sources(root)], check=False).returncode)
    lint.main(check)
