#!/usr/bin/env python3
"""Runs pairs of identical cells with seeds fixed beforehand: how many are flagged may be no more than chance gives.

A family (the five layers and the total of one pair) is flagged where the report flags any of them. At a level of 5 % the
number of flagged families is binomial; more than its 99 % bound is a fault of the statistics or of the test bed.
"""

import argparse
import json
import math
import pathlib
import shutil
import subprocess
import sys

LEVEL = 0.05
CONFIDENCE = 0.99


def bound(pairs):
    """The least k with P(X <= k) >= 0.99 for X binomial(pairs, 0.05)."""
    total = 0.0
    for k in range(pairs + 1):
        total += math.comb(pairs, k) * LEVEL**k * (1 - LEVEL) ** (pairs - k)
        if total >= CONFIDENCE:
            return k
    return pairs


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tlstrata", required=True)
    parser.add_argument("--source")
    parser.add_argument("--scratch", required=True)
    parser.add_argument("--pairs", type=int, default=6)
    parser.add_argument("--first-seed", type=int, default=1)
    parser.add_argument("--scale", default="0.4")
    arguments = parser.parse_args()
    shutil.rmtree(arguments.scratch, ignore_errors=True)
    flagged = []
    for seed in range(arguments.first_seed, arguments.first_seed + arguments.pairs):
        result = subprocess.run([arguments.tlstrata, "lab", "aa", "--scale", arguments.scale, "--seed", str(seed), "--out",
                                 arguments.scratch], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, check=False)
        if result.returncode != 0:
            sys.exit(f"the lab with seed {seed} ended with {result.returncode}\n{result.stdout}")
        folder = pathlib.Path(result.stdout.splitlines()[-1].strip())
        summary = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
        layers = [name for cell in summary["cells"] for name, versus in (cell["versus_baseline"] or {}).items()
                  if versus and versus["flagged"]]
        if layers:
            flagged.append(seed)
            print(f"seed {seed}: flagged {', '.join(layers)}", flush=True)
        shutil.rmtree(folder)
    most = bound(arguments.pairs)
    print(f"{len(flagged)} of {arguments.pairs} pairs are flagged; chance gives at most {most} at 99 %")
    sys.exit(0 if len(flagged) <= most else 1)


if __name__ == "__main__":
    main()
