#!/usr/bin/env python3
"""`tlstrata handshake` on pairs of identical configurations with seeds fixed beforehand: how many pairs are flagged may be no
more than chance gives. At a level of 5 % that number is binomial; more than its 99 % bound is a fault of the statistics or
of the measurement.
"""

import argparse
import json
import subprocess
import sys

import aa


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tlstrata", required=True)
    parser.add_argument("--source")
    parser.add_argument("--scratch")
    parser.add_argument("--pairs", type=int, default=40)
    parser.add_argument("--first-seed", type=int, default=1)
    parser.add_argument("--handshakes", default="200")
    parser.add_argument("--most", type=int, help="flagged pairs that are allowed [the 99 %% bound]")
    arguments = parser.parse_args()
    flagged = []
    for seed in range(arguments.first_seed, arguments.first_seed + arguments.pairs):
        done = subprocess.run([arguments.tlstrata, "handshake", "--groups", "X25519,X25519", "--handshakes", arguments.handshakes,
                               "--runs", "2", "--account", "off", "--seed", str(seed), "--json", "-"],
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=True)
        second = json.loads(done.stdout)["configurations"][1]
        sides = {side: second[side]["versus_baseline"] for side in ["client", "server"]}
        found = [f"{side} {versus['ratio']:.3f}" for side, versus in sides.items() if versus["flagged"]]
        if found:
            flagged.append(seed)
            print(f"seed {seed}: flagged {', '.join(found)}", flush=True)
    most = aa.bound(arguments.pairs) if arguments.most is None else arguments.most
    print(f"{len(flagged)} of {arguments.pairs} pairs are flagged; {most} are allowed")
    sys.exit(0 if len(flagged) <= most else 1)


if __name__ == "__main__":
    main()
