#!/usr/bin/env python3
"""Whether the analyzer's time and memory stay what they should be when captures, connections and key logs grow.

Makes captures of copies of a real one (perf/replicate.cpp): 10^4 to 10^7 packets of short connections one after the
other, and one with 100,000 connections open at once. Judged: time a packet (the same for all sizes), memory beyond mapped
files at 1 GB and at 4 GB, and of streamed input; what a key log of a million lines adds. Needs 6 GB of disk.
"""
import argparse
import pathlib
import random
import re
import subprocess
import sys
import time

PACKETS_A_COPY, CONNECTIONS_A_COPY = 1007, 40
SIZES = (10, 100, 1000, 2300, 10_000)  # copies; 2300 are 1 GB, 10,000 are 10^7 packets and 4.3 GB
OPEN_AT_ONCE = 2500                    # copies: 100,000 connections


def run(command, stdin=None):
    """(seconds, peak of anonymous memory in MB): what the process has beyond mapped files."""
    begun, peak = time.monotonic(), 0
    process = subprocess.Popen(command, stdin=stdin, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    while process.poll() is None:
        try:
            status = pathlib.Path(f"/proc/{process.pid}/status").read_text(encoding="utf-8")
        except OSError:
            break
        found = re.search(r"RssAnon:\s+(\d+)", status)
        peak = max(peak, int(found[1]) if found else 0)
        time.sleep(0.002)
    errors = process.communicate()[1]
    if process.returncode != 0:
        sys.exit(f"{command[0]} failed: {errors.decode(errors='replace')[-500:]}")
    return time.monotonic() - begun, peak / 1024


class Bench:
    def __init__(self, options):
        self.tlstrata, self.replicate, self.scratch = options.tlstrata, options.replicate, options.scratch
        field = pathlib.Path(__file__).resolve().parent.parent / "tests/golden/field"
        self.capture, self.keys = field / "many_parallel.pcap", field / "many_parallel.keys"
        self.made = self.scratch / "scale.pcap"
        self.fails = []

    def make(self, copies, step_ns):
        subprocess.run([self.replicate, self.capture, self.made, str(copies), "10.77.1.10", str(step_ns)], check=True)
        return self.made.stat().st_size / 1e9

    def analyze(self, *more, capture=None, stdin=None):
        return run([self.tlstrata, "analyze", capture or self.made, "--keylog", self.keys, "--transactions", "/dev/null", *more],
                   stdin)

    def judge(self, fine, what):
        if not fine:
            self.fails.append(what)

    def sizes(self):
        per_packet, memory = {}, {}
        for copies in SIZES:
            gigabytes = self.make(copies, 2_000_000_000)
            self.analyze()  # the page cache
            seconds, peak = min(self.analyze() for _ in range(3 if copies < 1000 else 1))
            packets = copies * PACKETS_A_COPY
            per_packet[copies], memory[copies] = 1e9 * seconds / packets, peak
            line = f"{packets:>11,} packets  {gigabytes:6.2f} GB  {seconds:7.2f} s  {per_packet[copies]:6.0f} ns a packet  {peak:6.1f} MB"
            if copies == 2300:
                with open(self.made, "rb") as file, subprocess.Popen(["cat"], stdin=file, stdout=subprocess.PIPE) as cat:
                    streamed = self.analyze(capture="-", stdin=cat.stdout)[1]
                line += f", streamed {streamed:.1f} MB"
                self.judge(streamed < 100, "streamed input takes 100 MB or more")
            print(line, flush=True)
        self.judge(memory[2300] < 100, "1 GB takes 100 MB or more beyond the mapped file")
        self.judge(memory[10_000] < 1.3 * memory[2300], "memory grows from 1 GB to 4 GB")
        self.judge(per_packet[10_000] < 1.5 * per_packet[1000], "time a packet grows from 10^6 to 10^7 packets")

    def open_at_once(self):
        self.make(OPEN_AT_ONCE, 1)
        seconds, peak = self.analyze()
        connections, packets = OPEN_AT_ONCE * CONNECTIONS_A_COPY, OPEN_AT_ONCE * PACKETS_A_COPY
        print(f"{packets:>11,} packets of {connections:,} connections open at once: {seconds:.2f} s, "
              f"{1e9 * seconds / packets:.0f} ns a packet, {peak:.0f} MB, {1e6 * peak / connections:.0f} bytes a connection")

    def key_log(self):
        self.make(10, 2_000_000_000)
        log = self.scratch / "million.keys"
        source = random.Random(1)
        labels = ("CLIENT_HANDSHAKE_TRAFFIC_SECRET", "SERVER_HANDSHAKE_TRAFFIC_SECRET", "CLIENT_TRAFFIC_SECRET_0",
                  "SERVER_TRAFFIC_SECRET_0")
        with open(log, "w", encoding="ascii") as file:
            for _ in range(250_000):
                client_random = source.randbytes(32).hex()
                file.writelines(f"{label} {client_random} {source.randbytes(48).hex()}\n" for label in labels)
        without = min(self.analyze() for _ in range(5))[0]
        with_log = min(self.analyze("--keylog", log) for _ in range(3))
        added = with_log[0] - without
        print(f"a key log of a million lines adds {added:.2f} s, {with_log[1]:.0f} MB in all")
        self.judge(added < 0.5, "a key log of a million lines adds 0.5 s or more")
        log.unlink()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tlstrata", type=pathlib.Path, required=True)
    parser.add_argument("--replicate", type=pathlib.Path, required=True)
    parser.add_argument("--scratch", type=pathlib.Path, required=True)
    options = parser.parse_args()
    options.scratch.mkdir(parents=True, exist_ok=True)
    bench = Bench(options)
    try:
        bench.sizes()
        bench.open_at_once()
        bench.key_log()
    finally:
        bench.made.unlink(missing_ok=True)
    if bench.fails:
        print("below the gate: " + "; ".join(bench.fails))
    sys.exit(1 if bench.fails else 0)


if __name__ == "__main__":
    main()
