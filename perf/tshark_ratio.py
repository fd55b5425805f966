#!/usr/bin/env python3
"""How many times faster than TShark the five layers of a capture come out, in one run.

Makes a capture of many copies of a real one (perf/replicate.cpp), then times, in turn and several times over: `tlstrata
analyze` with 1 and 2 threads, TShark with no more fields than the layers need and the same keys, and `cat` for scale.
Ratios are of medians of wall time; the machine's speed cancels out, its noise mostly.
"""
import argparse
import os
import pathlib
import resource
import shutil
import statistics
import subprocess
import sys
import time

# What the five layers need: whose packet it is, where its bytes lie in the stream (a message's first packet is not the one that
# TShark shows it in), which messages it completes.
FIELDS = ["frame.number", "frame.time_epoch", "tcp.stream", "ip.src", "tcp.srcport", "tcp.flags", "tcp.seq_raw", "tcp.len",
          "tls.handshake.type", "http.request.method", "http.response.code"]


def timed(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.monotonic()
    finished = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
    wall = time.monotonic() - start
    if finished.returncode != 0:
        sys.exit(f"{command[0]} failed: {finished.stderr.decode(errors='replace')[-500:]}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def read_from_disk(path):
    """Leaves the file in the page cache as a capture that was read is, in the large pages of read-ahead: what was just written lies
    in pages of 4 KB, whose mapping alone takes tlstrata as long as a fifth of its work."""
    with open(path, "rb", buffering=0) as file:
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    subprocess.run(["cat", path], stdout=subprocess.DEVNULL, check=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tlstrata", type=pathlib.Path, required=True)
    parser.add_argument("--replicate", type=pathlib.Path, required=True)
    parser.add_argument("--scratch", type=pathlib.Path, required=True)
    parser.add_argument("--copies", type=int, default=500, help="of 40 transactions each (default: 500, so 20,000)")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--minimum-one", type=float, default=60, metavar="RATIO", help="with one thread")
    parser.add_argument("--minimum-two", type=float, default=100, metavar="RATIO", help="with two threads")
    options = parser.parse_args()
    tshark = shutil.which("tshark") or sys.exit("tlstrata: no tshark: install it (Debian's package tshark)")
    field = pathlib.Path(__file__).resolve().parent.parent / "tests/golden/field"
    keys = field / "many_parallel.keys"
    options.scratch.mkdir(parents=True, exist_ok=True)
    capture = options.scratch / "many.pcap"
    subprocess.run([options.replicate, field / "many_parallel.pcap", capture, str(options.copies), "10.77.1.10", "2000000000"],
                   check=True)
    read_from_disk(capture)
    analyze = [options.tlstrata, "analyze", capture, "--keylog", keys, "--transactions", options.scratch / "rows.csv"]
    commands = {
        "tlstrata, 1 thread": [*analyze, "--threads", "1"],
        "tlstrata, 2 threads": [*analyze, "--threads", "2"],
        "TShark": [tshark, "-r", capture, "-o", f"tls.keylog_file:{keys}", "-d", "tcp.port==20450,tls", "-T", "fields",
                   *(part for name in FIELDS for part in ("-e", name))],
        "cat": ["cat", capture],
    }
    times = {name: [] for name in commands}
    for command in (commands["cat"], commands["tlstrata, 1 thread"]):
        timed(command)  # fills the page cache
    for _ in range(options.rounds):
        for name, command in commands.items():
            # Written over, the file would have to be on the disk before it is closed (ext4).
            if name.startswith("tlstrata"):
                (options.scratch / "rows.csv").unlink(missing_ok=True)
            times[name].append(timed(command))
    with open(options.scratch / "rows.csv", encoding="utf-8") as rows:
        complete = sum(",complete,decrypted," in row for row in rows)
    print(f"{capture.stat().st_size / 1e6:.0f} MB, {complete} complete decrypted transactions, {options.rounds} rounds")
    print(f"{'':22}{'wall s':>9}{'(min-max)':>16}{'CPU s':>9}{'ratio to TShark':>18}")
    wall = {name: statistics.median(one[0] for one in runs) for name, runs in times.items()}
    for name, runs in times.items():
        span = f"({min(one[0] for one in runs):.2f}-{max(one[0] for one in runs):.2f})"
        cpu = statistics.median(one[1] for one in runs)
        print(f"{name:22}{wall[name]:9.3f}{span:>16}{cpu:9.3f}{wall['TShark'] / wall[name]:18.1f}")
    capture.unlink()
    fails = [name for name, minimum in (("tlstrata, 1 thread", options.minimum_one), ("tlstrata, 2 threads", options.minimum_two))
             if wall["TShark"] / wall[name] < minimum]
    if complete != 40 * options.copies:
        fails.append(f"{40 * options.copies} transactions expected")
    if fails:
        print("below the gate: " + ", ".join(fails))
    sys.exit(1 if fails else 0)


if __name__ == "__main__":
    main()
