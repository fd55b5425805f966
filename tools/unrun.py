#!/usr/bin/env python3
"""Names the tests that ctest counted as passed although they did not run: skipped, disabled, or skipped inside GoogleTest.

usage: unrun.py RESULTS.xml LastTest.log   (ctest's --output-junit file and its log)
Exit 1 under CI=true where there is one, else a notice and 0.
"""
import os
import re
import sys
import xml.etree.ElementTree as ElementTree


def unrun_tests(results_path, log_path):
    found = []
    for case in ElementTree.parse(results_path).getroot().iter("testcase"):
        if case.get("status") not in ("run", "fail"):
            found.append(f"{case.get('name')} ({case.get('status')})")
    with open(log_path, encoding="utf-8", errors="replace") as log:
        # One line a skipped test; the summary that GoogleTest repeats them in says "[  SKIPPED ] 1 test".
        for name in re.findall(r"^\[  SKIPPED \] (\S+\.\S+)", log.read(), re.MULTILINE):
            if f"{name} (skipped by GoogleTest)" not in found:
                found.append(f"{name} (skipped by GoogleTest)")
    return found


def main():
    found = unrun_tests(sys.argv[1], sys.argv[2])
    for test in found:
        print(f"did not run: {test}", file=sys.stderr)
    return 1 if found and os.environ.get("CI") == "true" else 0


if __name__ == "__main__":
    sys.exit(main())
