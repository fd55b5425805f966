#!/usr/bin/env python3
"""`tlstrata analyze --follow` on a capture and a key log that another process is writing.

The capture grows packet by packet, each connection's secrets come after its packets; rows must appear while the file still
grows, be the same as those of the whole file, and Ctrl-C must end with the table and exit code 0.
"""
import argparse
import csv
import os
import select
import signal
import struct
import subprocess
import sys
import time
from pathlib import Path


def records(capture):
    """(file header, [packet record]) of a little-endian pcap."""
    data = capture.read_bytes()
    at, found = 24, []
    while at < len(data):
        size = 16 + struct.unpack_from("<I", data, at + 8)[0]
        found.append(data[at:at + size])
        at += size
    return data[:24], found


def read_lines(process, count, seconds):
    """At least `count` lines of what the process prints, if they come within `seconds`; and whatever came with them."""
    text, end = b"", time.monotonic() + seconds
    while text.count(b"\n") < count and time.monotonic() < end:
        if select.select([process.stdout], [], [], 0.1)[0]:
            got = os.read(process.stdout.fileno(), 65536)
            if not got:
                break
            text += got
    return text


def facts(row):
    return {name: value for name, value in row.items() if name != "connection"}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tlstrata", required=True, help="the program")
    parser.add_argument("--source", type=Path, required=True, help="the checkout")
    parser.add_argument("--scratch", type=Path, required=True, help="folder for what the test writes")
    options = parser.parse_args()
    options.scratch.mkdir(parents=True, exist_ok=True)
    field = options.source / "tests" / "golden" / "field"
    whole, whole_keys = field / "resume_tickets.pcap", field / "resume_tickets.keys"
    expected_csv = options.scratch / "expected.csv"
    subprocess.run([options.tlstrata, "analyze", whole, "--keylog", whole_keys, "--transactions", expected_csv],
                   check=True, stdout=subprocess.DEVNULL)
    with open(expected_csv, newline="", encoding="utf-8") as file:
        expected = list(csv.DictReader(file))

    growing, keys = options.scratch / "growing.pcap", options.scratch / "growing.keys"
    header, packets = records(whole)
    growing.write_bytes(header)
    keys.write_bytes(b"")
    process = subprocess.Popen([options.tlstrata, "analyze", growing, "--keylog", keys, "--follow", "--transactions", "-"],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    time.sleep(0.3)
    with open(growing, "ab", buffering=0) as file:
        for packet in packets[:-1]:
            file.write(packet[:7])  # a reader may see half a record
            file.write(packet[7:])
        time.sleep(0.05)
        keys.write_bytes(whole_keys.read_bytes())  # later than what they open
        early = read_lines(process, 2, 10)
        file.write(packets[-1])
        time.sleep(1)
    process.send_signal(signal.SIGINT)
    rest, errors = process.communicate(timeout=20)
    text = early + rest
    rows = list(csv.DictReader(text.decode().splitlines()))
    faults = []
    if early.count(b"\n") < 2:
        faults.append("no row while the capture was growing")
    if process.returncode != 0:
        faults.append(f"exit {process.returncode}: {errors.decode()}")
    order = lambda row: (row["start_ns"], row["request"])  # noqa: E731
    if sorted(map(facts, rows), key=order) != sorted(map(facts, expected), key=order):
        faults.append(f"{len(rows)} rows differ from the {len(expected)} of the whole file:\n{text.decode()}")
    if any(row["boundary"] != "decrypted" for row in rows):
        faults.append("a row without its keys")

    # On a terminal's side: a line a transaction and the table.
    process = subprocess.Popen([options.tlstrata, "analyze", whole, "--keylog", whole_keys, "--follow"],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    lines = read_lines(process, len(expected) - 1, 10)
    process.send_signal(signal.SIGTERM)
    rest, errors = process.communicate(timeout=20)
    if process.returncode != 0 or lines.count(b" complete ") < len(expected) - 1 or b"transactions on" not in rest:
        faults.append(f"live lines: exit {process.returncode}\n{lines.decode()}{rest.decode()}{errors.decode()}")
    print(*faults, sep="\n")
    print(f"{len(rows)} rows, {early.count(bytes([10]))} lines while the file grew")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
