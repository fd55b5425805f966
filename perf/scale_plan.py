#!/usr/bin/env python3
"""What more load and more captures than one machine's would take: figures measured here, projected.

Measured, several times each, as CPU (which other work on the machine disturbs less than time): a transaction of `tlstrata load`
with a new full handshake; analysis by one rank, per byte, connection and row; the first reading of --join; the merge of
rank 0; memory of a rank and of a key log. Projected from their medians: cores and machines for rates of handshakes and
sizes of captures, and what is scarce first. `--measured FILE` projects from an earlier run's figures.
"""
import argparse
import heapq
import json
import os
import pathlib
import random
import re
import statistics
import subprocess
import sys

SOURCE = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(SOURCE / "tests/e2e"))

import tls_servers  # noqa: E402

# Of a machine that the projection takes for granted; change them with --cores and the like.
PORTS = 28_232          # net.ipv4.ip_local_port_range of Linux, to one server address and port
TIME_WAIT_S = 60.0      # of the side that closes first
HANDSHAKES_A_SECOND = (10_000, 100_000, 1_000_000)
TERABYTES = (1, 10, 100)


def used(command):
    """(CPU seconds, peak MB with mapped files, what it printed) of a command."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    printed = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"{command[0]} failed: {printed[-500:]}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, printed


def merge_seconds(printed):
    """Of the last line of `tlstrata-mpi analyze`."""
    number, unit = re.search(r"merge ([0-9.]+) (s|ms|us)", printed).groups()
    return float(number) * {"s": 1, "ms": 1e-3, "us": 1e-6}[unit]


class Bench:
    def __init__(self, options):
        self.options = options
        self.tlstrata, self.mpi = options.build / "tlstrata", options.build / "tlstrata-mpi"
        self.scratch = options.scratch
        self.scratch.mkdir(parents=True, exist_ok=True)
        self.figures = {}

    def note(self, name, values):
        self.figures[name] = {"median": statistics.median(values), "low": min(values), "high": max(values), "n": len(values)}
        print(f"  {name:<34} {statistics.median(values):12.4g}   ({min(values):.4g} to {max(values):.4g}, n={len(values)})",
              file=sys.stderr)

    def load(self):
        openssl = tls_servers.OpenSsl(SOURCE)
        certificates = tls_servers.Certificates(openssl, self.scratch)
        server = subprocess.Popen(
            [self.tlstrata, "serve", "origin", "--listen", "127.0.0.1:0", "--certificate", certificates.certificate, "--key",
             certificates.key], stdout=subprocess.PIPE, text=True)
        try:
            address = server.stdout.readline().split()[-1]
            values, memory, capture_bytes = [], [], []
            for _ in range(self.options.rounds):
                capture, document = self.scratch / "load.pcapng", self.scratch / "load.json"
                _, peak, _ = used([self.tlstrata, "load", f"https://{address}/4KiB", "--users", "4", "--count", "500", "--verify",
                                "off", "--groups", "X25519MLKEM768", "--json", document])
                cpu = json.loads(document.read_text(encoding="utf-8"))["cpu"]
                values.append((cpu["user_ns_per_transaction"] + cpu["system_ns_per_transaction"]) / 1000)
                memory.append(peak)
                used([self.tlstrata, "load", f"https://{address}/4KiB", "--users", "4", "--count", "100", "--verify", "off",
                      "--groups", "X25519MLKEM768", "--capture", capture])
                capture_bytes.append(capture.stat().st_size / 100)
                capture.unlink()
        finally:
            server.terminate()
            server.wait()
        self.note("load_cpu_us", values)
        self.note("load_memory_mb", memory)
        self.note("capture_bytes_a_transaction", capture_bytes)

    def analysis(self):
        field = SOURCE / "tests/golden/field"
        capture, keys = field / "many_parallel.pcap", field / "many_parallel.keys"
        made = [self.scratch / f"plan-{number}.pcap" for number in range(4)]
        for path in made:
            subprocess.run([self.options.build / "replicate", capture, path, "100", "10.77.1.10", "40000000"], check=True)
        size = sum(path.stat().st_size for path in made)
        found = {name: [] for name in ("analysis_cpu_ns_a_byte", "analysis_cpu_us_a_connection", "scan_cpu_ns_a_byte",
                                       "merge_us_a_row", "spool_bytes_a_row", "analysis_memory_mb")}
        document = self.scratch / "plan.json"
        base = [self.mpi, "analyze", *made, "--keylog", keys, "--json", document]
        for _ in range(self.options.rounds):
            _, peak, _ = used(base)
            result = json.loads(document.read_text(encoding="utf-8"))
            rank = result["mpi"]["ranks"][0]["cpu_ns"]
            used([*base, "--join"])  # files of the same connections: only the scan is of interest
            scan = json.loads(document.read_text(encoding="utf-8"))["mpi"]["scan_cpu_ns"]
            rows = sum(result["outcomes"].values())
            found["analysis_cpu_ns_a_byte"].append(rank / size)
            found["analysis_cpu_us_a_connection"].append(rank / 1000 / result["counts"]["connections"])
            found["scan_cpu_ns_a_byte"].append(scan / size)
            found["spool_bytes_a_row"].append(result["mpi"]["spool_bytes"] / rows)
            found["analysis_memory_mb"].append(peak)
            _, _, printed = used([self.mpi, "analyze", *made, "--keylog", keys, "--transactions", self.scratch / "plan.csv"])
            found["merge_us_a_row"].append(merge_seconds(printed) * 1e6 / rows)
        for name, values in found.items():
            self.note(name, values)
        self.figures["bytes_a_connection"] = {"median": size / result["counts"]["connections"]}
        self.figures["rows_a_connection"] = {"median": rows / result["counts"]["connections"]}
        for path in made:
            path.unlink()

    def key_log(self):
        keys, capture = self.scratch / "million.keys", SOURCE / "tests/golden/field/grp_X25519.pcap"
        connections = 100_000
        drawn = random.Random(1)
        with open(keys, "w", encoding="ascii") as file:
            for _ in range(connections):
                client = f"{drawn.getrandbits(256):064x}"
                for label in ("CLIENT_HANDSHAKE_TRAFFIC_SECRET", "SERVER_HANDSHAKE_TRAFFIC_SECRET", "CLIENT_TRAFFIC_SECRET_0",
                              "SERVER_TRAFFIC_SECRET_0"):
                    file.write(f"{label} {client} {drawn.getrandbits(384):096x}\n")
        values = []
        for _ in range(self.options.rounds):
            cpu, _, _ = used([self.tlstrata, "analyze", capture, "--keylog", keys])
            values.append(cpu * 1e6 / connections)
        self.note("key_log_cpu_us_a_connection", values)
        self.figures["key_log_bytes_a_connection"] = {"median": keys.stat().st_size / connections}
        keys.unlink()


def hand_out(files, ranks):
    """Simulated: how much longer the last rank takes than if work could be cut anywhere, with sizes spread tenfold."""
    drawn = random.Random(7)
    sizes = sorted((drawn.lognormvariate(0, 0.75) for _ in range(files)), reverse=True)
    free = [0.0] * min(ranks, files)
    for size in sizes:
        heapq.heappush(free, heapq.heappop(free) + size)
    return max(free) / (sum(sizes) / ranks)


def project(figures, options):
    at = {name: figure["median"] for name, figure in figures.items()}
    print(f"\nLoad (projection): machines of {options.cores} cores and {options.gigabits} Gbit/s, filled to {options.fill:.0%}\n")
    print("| handshakes/s | cores | machines | client addresses a server address | Gbit/s | first wall |\n|---|---|---|---|---|---|")
    for rate in HANDSHAKES_A_SECOND:
        cores = rate * at["load_cpu_us"] / 1e6 / options.fill
        machines = -(-cores // options.cores)
        addresses = rate * TIME_WAIT_S / PORTS
        gigabits = rate * at["capture_bytes_a_transaction"] * 8 / 1e9
        walls = {"CPU": machines, "ports (one address a machine)": addresses,
                 "network": gigabits / options.gigabits / options.fill}
        print(f"| {rate:,} | {cores:,.1f} | {machines:,.0f} | {addresses:,.0f} | {gigabits:.2f} | {max(walls, key=walls.get)} |")
    print(f"\nAnalysis (projection): to be done in {options.hours:g} h, files of {options.file_gb:g} GB, one process merges\n")
    print("| captures | connections | cores | with --join | read GB/s | simulated hand-out | rows at rank 0 | merge | "
          "key log a rank |\n|---|---|---|---|---|---|---|---|---|")
    for terabytes in TERABYTES:
        size = terabytes * 1e12
        connections = size / at["bytes_a_connection"]
        rows = connections * at["rows_a_connection"]
        seconds = options.hours * 3600
        cores = size * at["analysis_cpu_ns_a_byte"] / 1e9 / seconds
        # Scan, and what crosses read in two windows at the scan's speed.
        joined = cores + size * 3 * at["scan_cpu_ns_a_byte"] / 1e9 / seconds
        over = hand_out(int(size / options.file_gb / 1e9), max(1, round(cores)))
        print(f"| {terabytes} TB | {connections:.2g} | {cores:.2f} | {joined:.2f} | {size / seconds / 1e9:.2f} | +{over - 1:.1%} | "
              f"{rows * at['spool_bytes_a_row'] / 1e9:,.0f} GB | {rows * at['merge_us_a_row'] / 3.6e9:.2f} h | "
              f"{connections * 270 / 1e9:,.0f} GB |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, default=SOURCE / "build/release")
    parser.add_argument("--scratch", type=pathlib.Path, default=pathlib.Path("/tmp/tlstrata-scale-plan"))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--measured", type=pathlib.Path, help="figures of an earlier run; nothing is measured")
    parser.add_argument("--out", type=pathlib.Path, help="where to keep the figures")
    parser.add_argument("--cores", type=int, default=32, help="of a machine")
    parser.add_argument("--gigabits", type=float, default=25, help="of a machine's network")
    parser.add_argument("--fill", type=float, default=0.5, help="how far a core may be filled before starts come late")
    parser.add_argument("--hours", type=float, default=1, help="for an analysis")
    parser.add_argument("--file-gb", type=float, default=1, help="of a capture, on average")
    options = parser.parse_args()
    if options.measured:
        figures = json.loads(options.measured.read_text(encoding="utf-8"))
    else:
        bench = Bench(options)
        bench.load()
        bench.analysis()
        bench.key_log()
        figures = bench.figures
    if options.out:
        options.out.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")
    project(figures, options)


if __name__ == "__main__":
    main()
