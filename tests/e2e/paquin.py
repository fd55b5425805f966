#!/usr/bin/env python3
"""Medians and 95th percentiles of `tlstrata lab paquin` beside those of Paquin, Stebila and Tamvada 2020 (TCP and TLS, ms).

usage: paquin.py FOLDER

Theirs: P-256 against P-256 with Kyber512, OpenSSL 1.1.1 with liboqs, network namespaces and netem, 5,000 handshakes a point,
handshakes that failed tried again and not counted. Here: P-256 against X25519MLKEM512. Intervals: 95 %, of order statistics.
"""
import csv
import math
import pathlib
import sys

PUBLISHED = {  # path: (P-256, with Kyber512), each p50 and p95
    "metro": ((12.10, 12.87), (12.14, 12.87)),
    "continental": ((63.74, 64.56), (63.80, 64.62)),
    "intercontinental": ((393.10, 394.02), (393.18, 394.16)),
    "metro-loss5": ((12.51, 1031), (12.55, 1033)),
    "intercontinental-loss20": ((994, 4575), (1014, 5757)),
}
PARTS = ("tcp_handshake_ns", "tcp_to_tls_ns", "tls_handshake_ns")


def quantile(values, share):
    """Its value and an interval that covers the true one in 95 of 100 (normal approximation of the binomial)."""
    n = len(values)
    at, spread = share * n, 1.96 * math.sqrt(n * share * (1 - share))
    return tuple(values[min(n - 1, max(0, int(rank)))] for rank in (at, at - spread, at + spread))


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    cells = {}
    with open(pathlib.Path(sys.argv[1]) / "transactions.csv", newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            cells.setdefault(row["cell"], []).append(row)
    print(f"{'path':<26}{'key exchange':<16}{'n':>6}{'failed':>8}{'p50':>9}  {'(interval)':<20}{'published':>10}{'p95':>10}  "
          f"{'(interval)':<20}{'published':>10}")
    for path, published in PUBLISHED.items():
        for group, (median, tail) in zip(("secp256r1", "x25519mlkem512"), published):
            rows = cells[f"{group}-{path}-direct"]
            times = sorted(sum(int(row[part]) for part in PARTS) / 1e6 for row in rows if all(row[part] for part in PARTS))
            texts = [f"{value:>9.2f}  {f'({low:.2f}..{high:.2f})':<20}{was:>10}"
                     for (value, low, high), was in ((quantile(times, 0.5), median), (quantile(times, 0.95), tail))]
            print(f"{path:<26}{group:<16}{len(times):>6}{len(rows) - len(times):>8}{texts[0]} {texts[1]}")


if __name__ == "__main__":
    main()
