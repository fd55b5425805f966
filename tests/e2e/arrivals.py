#!/usr/bin/env python3
"""Do transactions start when the schedule says? Constant and Poisson arrivals against a real TLS server.

As a test it looks at a few seconds and at what no busy machine can break: everything starts, is captured, and was due when
the configured process says. `--seconds 60 --strict` on a quiet machine also asks for punctuality, of starts and of SYNs.
"""

import argparse
import contextlib
import csv
import json
import math
import pathlib
import shutil
import statistics
import subprocess
import sys

import tls_servers

# Of a turn of the client's thread: everything but waiting for others. In the order of the two turns of a handshake.
HELLO = ["key_generation_ns", "hello_cpu_ns", "hello_preempted_ns", "hello_write_ns"]
FINISH = ["key_agreement_ns", "chain_ns", "signature_ns", "handshake_cpu_ns"]
ALPHA = 0.01
CLOCKS_NS = 100_000  # scheduled_ns is told in Unix time, whose offset to the monotonic clock is slewed meanwhile


def quantile(values, probability):
    return sorted(values)[min(len(values) - 1, int(probability * len(values)))]


@contextlib.contextmanager
def origin(tlstrata, certificates):
    process = subprocess.Popen([tlstrata, "serve", "origin", "--listen", "127.0.0.1:0", "--certificate",
                                certificates.certificate, "--key", certificates.key, "--groups", "X25519"],
                               stdout=subprocess.PIPE, text=True)
    try:
        yield process.stdout.readline().removeprefix("listening on ").strip()
    finally:
        process.terminate()
        process.wait(timeout=20)
        process.stdout.close()


class Judge:
    def __init__(self):
        self.wrong = []

    def expect(self, holds, what):
        print(("  " if holds else "  WRONG: ") + what)
        if not holds:
            self.wrong.append(what)

    def check_gaps(self, what, instants, rate):
        gaps = [(after - before) / 1e9 for before, after in zip(instants, instants[1:])]
        distance, p = kolmogorov_smirnov(gaps, lambda gap: -math.expm1(-rate * gap))
        self.expect(p >= ALPHA, f"Kolmogorov-Smirnov of {len(gaps)} gaps of {what} against exponential ones at {rate}/s: "
                                f"D = {distance:.4f}, p = {p:.3f}")
        if len(gaps) < 1000:
            return  # too few to tell a rate from one a fifth higher
        wrong = kolmogorov_smirnov(gaps, lambda gap: -math.expm1(-1.2 * rate * gap))[1]
        self.expect(wrong < ALPHA, f"the same against {1.2 * rate:.0f}/s: p = {wrong:.2g}, so the test can tell")


class Bench(Judge):
    def __init__(self, arguments):
        super().__init__()
        self.arguments = arguments
        self.scratch = pathlib.Path(arguments.scratch)
        shutil.rmtree(self.scratch, ignore_errors=True)
        self.scratch.mkdir(parents=True)
        self.certificates = tls_servers.Certificates(tls_servers.OpenSsl(arguments.source), self.scratch)

    def load(self, address, *options):
        rows = self.scratch / "client.csv"
        done = subprocess.run([self.arguments.tlstrata, "load", f"https://{address}/4KiB", "--ca", self.certificates.authority,
                               "--groups", "X25519", "--transactions", rows, "--json", "-", "--warmup", "5",
                               "--duration", f"{self.arguments.seconds}s", "--local-addrs", "127.0.1.0/28",
                               "--max-failures", "1000000", *options], check=True, capture_output=True, text=True)
        with open(rows, newline="", encoding="utf-8") as file:
            return json.loads(done.stdout), list(csv.DictReader(file))

    def constant(self, address, rate):
        print(f"constant arrivals, {rate}/s for {self.arguments.seconds} s")
        document, rows = self.load(address, "--rate", str(rate))
        scheduled = document["scheduled"]
        delays = [int(row["start_delay_ns"]) for row in rows if row["start_delay_ns"]]
        due = [int(row["scheduled_ns"]) for row in rows]
        self.expect(scheduled == round(rate * self.arguments.seconds), f"{scheduled} scheduled")
        self.expect(len(delays) >= 0.999 * scheduled, f"{len(delays)} started")
        gaps = {after - before for before, after in zip(sorted(due), sorted(due)[1:])}
        self.expect(max(gaps) - min(gaps) <= CLOCKS_NS, f"due every {min(gaps)} to {max(gaps)} ns")
        p99, last = quantile(delays, 0.99), int(max(rows, key=lambda row: int(row["scheduled_ns"]))["start_delay_ns"])
        print(f"  start_delay_ns: p50 {statistics.median(delays):.0f}, p99 {p99}, max {max(delays)}; of the last start {last}")
        if self.arguments.strict:
            self.expect(p99 < 300_000, f"p99 of {p99 / 1000:.1f} us is under 300 us")
            self.expect(last < 60_000_000, f"the last one started {last / 1e6:.3f} ms late, within 60 ms")
        return statistics.mean(delays)

    def poisson(self, address, rate, timer_ns):
        print(f"Poisson arrivals, {rate}/s for {self.arguments.seconds} s")
        capture, table = self.scratch / "run.pcapng", self.scratch / "transactions.csv"
        _, rows = self.load(address, "--rate", str(rate), "--arrivals", "poisson", "--capture", capture)
        subprocess.run([self.arguments.tlstrata, "analyze", capture, "--transactions", table], check=True, capture_output=True)
        with open(table, newline="", encoding="utf-8") as file:
            syns = sorted(int(row["start_ns"]) for row in csv.DictReader(file))
        self.expect(len(syns) >= 0.999 * len(rows), f"{len(syns)} SYNs captured of {len(rows)} transactions")
        self.check_gaps("scheduled starts", sorted(int(row["scheduled_ns"]) for row in rows), rate)
        if self.arguments.strict:
            self.check_gaps("captured SYNs", syns, rate)
        delays = [int(row["start_delay_ns"]) for row in rows if row["start_delay_ns"]]
        complete = [row for row in rows if row["key_generation_ns"]]
        turns = [sum(int(row[name]) for name in names) / 1e9 for names in (HELLO, FINISH) for row in complete]
        whole = [sum(int(row[name]) for name in HELLO + FINISH) / 1e9 for row in complete]
        print(f"  start_delay_ns: mean {statistics.mean(delays):.0f}, p50 {statistics.median(delays):.0f}, "
              f"p99 {quantile(delays, 0.99)}, max {max(delays)}")
        print(f"  beside the timer's own {timer_ns:.0f} ns. Were they sent by the thread of the handshakes, M/G/1 would expect "
              f"{1e9 * queueing(2 * rate, turns):.0f} ns (starts wait for turns) to {1e9 * queueing(rate, whole):.0f} ns (for "
              f"whole handshakes)")


def queueing(rate, services):
    """Mean wait in an M/G/1 queue, Pollaczek and Khinchine."""
    busy = rate * statistics.mean(services)
    return rate * statistics.mean(one * one for one in services) / (2 * (1 - busy))


def kolmogorov_smirnov(values, distribution):
    """Largest distance of two distribution functions, and its p (Kolmogorov's series, Stephens' correction)."""
    n = len(values)
    distance = 0
    for i, value in enumerate(sorted(values)):
        expected = distribution(value)
        distance = max(distance, expected - i / n, (i + 1) / n - expected)
    scaled = (math.sqrt(n) + 0.12 + 0.11 / math.sqrt(n)) * distance
    series = sum((-1) ** (k - 1) * math.exp(-2 * (k * scaled) ** 2) for k in range(1, 101))
    return distance, min(1, max(0, 2 * series))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tlstrata", required=True)
    parser.add_argument("--source", required=True)
    parser.add_argument("--scratch", required=True)
    parser.add_argument("--seconds", type=int, default=4)
    parser.add_argument("--strict", action="store_true")
    bench = Bench(parser.parse_args())
    with origin(bench.arguments.tlstrata, bench.certificates) as address:
        timers = [bench.constant(address, rate) for rate in (100, 500)]
        for rate, timer_ns in zip((100, 500), timers):
            bench.poisson(address, rate, timer_ns)
    sys.exit(1 if bench.wrong else 0)


if __name__ == "__main__":
    main()
