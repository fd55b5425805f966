#!/usr/bin/env python3
"""How many requests a second one core of `tlstrata serve origin` holds: its CPU a request under ApacheBench, kept alive.

Behind a proxy the origin must never be what limits. ab is busier than the origin, so the rate on the clock is ab's; the CPU
that the origin spends on a request is its own, and its inverse is what a core holds.
"""
import argparse
import os
import pathlib
import re
import statistics
import subprocess
import sys

SOURCE = pathlib.Path(__file__).resolve().parent.parent


def cpu_seconds(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tlstrata", type=pathlib.Path, required=True)
    parser.add_argument("--count", type=int, default=100_000, help="requests a round (default: 100000)")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--least", type=float, default=20_000, metavar="REQUESTS", help="a second and core (default: 20000)")
    options = parser.parse_args()
    ab = pathlib.Path(subprocess.run([SOURCE / "tools/unpack.sh", "ab", "apache2-utils", "libapr1", "libaprutil1"], check=True,
                                     stdout=subprocess.PIPE, text=True).stdout.strip())
    environment = {**os.environ, "LD_LIBRARY_PATH": ":".join(str(path) for path in ab.glob("usr/lib/*") if path.is_dir())}
    with subprocess.Popen([options.tlstrata, "serve", "origin", "--listen", "127.0.0.1:0"], stdout=subprocess.PIPE,
                          text=True) as origin:
        try:
            address = origin.stdout.readline().removeprefix("listening on ").strip()
            rates, clock = [], []
            for _ in range(options.rounds):
                before = cpu_seconds(origin.pid)
                out = subprocess.run([ab / "usr/bin/ab", "-q", "-k", "-n", str(options.count), "-c", "20",
                                      f"http://{address}/4KiB"], env=environment, check=True, capture_output=True, text=True).stdout
                assert re.search(r"Failed requests:\s+0\n", out) and f"Complete requests:      {options.count}" in out, out
                rates.append(options.count / (cpu_seconds(origin.pid) - before))
                clock.append(float(re.search(r"Requests per second:\s+([0-9.]+)", out)[1]))
        finally:
            origin.terminate()
    print(f"origin, 4 KiB bodies, kept alive: {statistics.median(rates):,.0f} requests a second of its CPU "
          f"({statistics.median(clock):,.0f}/s on the clock, with ab beside it; {options.rounds} rounds of {options.count:,})")
    if statistics.median(rates) < options.least:
        sys.exit(f"below the gate of {options.least:,.0f}")


if __name__ == "__main__":
    main()
