#!/usr/bin/env python3
"""Compares transactions.csv with layers worked out from TShark's output for the same captures, to the nanosecond.

  tshark_layers.py RESULT_FOLDER
  tshark_layers.py --capture FILE --transactions FILE.csv [--keylog FILE]

Shares no code with the program. Every row must have its transaction in TShark's output and the other way round; all six
boundaries (SYN, SYN-ACK, ClientHello, client Finished, request, response), the five layers and the total are compared.

Exit: 0 no difference and something was compared, 1 otherwise (TShark missing too), 2 usage.
"""
import argparse
import csv
import json
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import tshark
from boundaries import NAMES, CannotPlace, exchanges

LAYERS = ("tcp_handshake_ns", "tcp_to_tls_ns", "tls_handshake_ns", "tls_to_app_ns", "app_response_ns")


@dataclass
class Verdict:
    """What came of one capture."""
    capture: str
    transactions: int = 0
    boundaries: int = 0
    complete: int = 0   # rows of that outcome
    requests: int = 0   # that TShark's HTTP dissector shows
    responses: int = 0
    differences: list = field(default_factory=list)


def number(row, column):
    return int(row[column]) if row[column] else None


def interval(packets, index):
    """(value, its two packets as text) of layer `index`; absent where an end is missing or it would be negative."""
    opens, closes = packets[index], packets[index + 1]
    if opens is None or closes is None or closes.time_ns < opens.time_ns:
        return None
    return closes.time_ns - opens.time_ns


def place(packets, index):
    return " to ".join(f"{NAMES[i]} in packet {packets[i].number}" if packets[i] else f"no {NAMES[i]}"
                       for i in (index, index + 1))


def boundary_times(row):
    """The row's own six boundaries, from its start and its layers; None from the first absent layer on."""
    if number(row, "request") and number(row, "request") > 1:
        asked = number(row, "request_ns")
        answered = None if number(row, "app_response_ns") is None else asked + number(row, "app_response_ns")
        return [None] * 4 + [asked, answered]
    times = [number(row, "start_ns")]
    for layer in LAYERS:
        length = number(row, layer)
        times.append(None if length is None or times[-1] is None else times[-1] + length)
    if times[4] is None:  # early data, Fast Open: the request's own column still tells
        times[4] = number(row, "request_ns")
        if times[4] is not None and number(row, "app_response_ns") is not None:
            times[5] = times[4] + number(row, "app_response_ns")
    return times


def compare_row(row, exchange, verdict):
    """Adds to `verdict` what differs between a row and TShark's exchange."""
    who = f"{row['client']} request {exchange.number}"
    packets = exchange.packets
    for index, (name, ours, packet) in enumerate(zip(NAMES, boundary_times(row), packets)):
        # Behind a layer that is rightly absent the row does not say; its other layers are compared all the same.
        silent = packet is None or any(interval(packets, before) is None for before in range(index))
        if ours is None and silent:
            continue
        if packet is None or ours != packet.time_ns:
            theirs = f"{packet.time_ns} (packet {packet.number})" if packet else "in no packet"
            verdict.differences.append(f"{who}: {name} at {ours}, TShark {theirs}")
        else:
            verdict.boundaries += 1
    for index, layer in enumerate(LAYERS):
        theirs = interval(packets, index)
        if number(row, layer) != theirs:
            verdict.differences.append(f"{who}: {layer} is {number(row, layer)}, TShark {theirs} ({place(packets, index)})")
    first = packets[0] if exchange.number == 1 else packets[4]
    total = packets[5].time_ns - first.time_ns if packets[5] and first else None
    if number(row, "total_ns") != total:
        verdict.differences.append(f"{who}: total_ns is {number(row, 'total_ns')}, TShark {total}")
    if row["method"] != exchange.method or number(row, "status") != exchange.status:
        verdict.differences.append(f"{who}: {row['method']} {row['status']}, TShark {exchange.method} {exchange.status}")
    if (row["outcome"] == "complete") != (packets[5] is not None):
        verdict.differences.append(f"{who}: outcome {row['outcome']}, TShark: {place(packets, 4)}")
    verdict.transactions += 1
    verdict.complete += row["outcome"] == "complete"


def compare_capture(capture, rows, key_log=None):
    verdict = Verdict(Path(capture).name)
    waiting = {}
    for row in rows:
        waiting.setdefault((row["client"], row["server"], number(row, "start_ns")), []).append(row)
    connections = tshark.read(capture, key_log, expected_streams=len(waiting) + 8)
    for stream, connection in sorted(connections.items()):
        if connection.syn is None:
            continue  # began before the capture: no transaction of ours, unless a row is left over below
        mine = waiting.pop((connection.client, connection.server, connection.syn.time_ns), None)
        name = f"stream {stream} ({connection.client})"
        if mine is None:
            verdict.differences.append(f"{name}: no row begins with packet {connection.syn.number}")
            continue
        try:
            found = exchanges(connection)
        except CannotPlace as reason:
            verdict.differences.append(f"{name}: {reason}")
            continue
        mine.sort(key=lambda row: number(row, "request") or 0)
        if len(mine) != len(found):
            verdict.differences.append(f"{name}: {len(mine)} rows, TShark has {len(found)} transactions")
        for row, exchange in zip(mine, found):
            compare_row(row, exchange, verdict)
        verdict.requests += connection.http_requests
        verdict.responses += connection.http_responses
    for (client, _, start_ns), left in waiting.items():
        verdict.differences.append(f"{client} at {start_ns}: {len(left)} rows, no such connection in TShark's output")
    return verdict


def read_rows(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file, strict=True))


def jobs_of_folder(folder):
    """([(capture, its rows, key log)] with one job a block, rows that belong to no block) of a result folder."""
    blocks = json.loads((folder / "manifest.json").read_text())["blocks"]
    rows = {}
    for row in read_rows(folder / "transactions.csv"):
        rows.setdefault((row["cell"], row["block"]), []).append(row)
    jobs = [(folder / block["capture"], rows.pop((block["cell"], str(block["block"])), []), None) for block in blocks]
    return jobs, sum(len(left) for left in rows.values())


def compare(jobs, own_list=False, shown=10):
    """Runs `jobs` in two processes, prints differences and totals; True where all is equal and something was compared.

    `own_list`: TShark's HTTP dissector must also list one request and one response per complete row.
    """
    begun = time.monotonic()
    with ProcessPoolExecutor(max_workers=2) as pool:
        waiting = [pool.submit(compare_capture, *job) for job in jobs]
        verdicts = [job.result() for job in waiting]
    for verdict in verdicts:
        for difference in verdict.differences[:shown]:
            print(f"{verdict.capture}: {difference}")
        if len(verdict.differences) > shown:
            print(f"{verdict.capture}: and {len(verdict.differences) - shown} more differences")
    transactions = sum(verdict.transactions for verdict in verdicts)
    differences = sum(len(verdict.differences) for verdict in verdicts)
    print(f"{len(verdicts)} captures, {transactions} transactions, {sum(v.complete for v in verdicts)} of them complete "
          f"(TShark's own list: {sum(v.requests for v in verdicts)} requests, {sum(v.responses for v in verdicts)} "
          f"responses), {sum(v.boundaries for v in verdicts)} boundary times equal, {differences} differences; "
          f"{time.monotonic() - begun:.1f} s")
    complete = sum(verdict.complete for verdict in verdicts)
    listed = {sum(verdict.requests for verdict in verdicts), sum(verdict.responses for verdict in verdicts)}
    return transactions > 0 and differences == 0 and (not own_list or listed == {complete})


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?", type=Path, help="a result folder")
    parser.add_argument("--capture", type=Path)
    parser.add_argument("--transactions", type=Path)
    parser.add_argument("--keylog", type=Path, help="where --capture has no keys inside")
    options = parser.parse_args()
    if bool(options.folder) == bool(options.capture) or bool(options.capture) != bool(options.transactions):
        parser.error("give a result folder, or --capture with --transactions")
    return options


def main():
    options = parse_arguments()
    print(tshark.require())
    if options.folder:
        jobs, stray = jobs_of_folder(options.folder)
        if stray:
            print(f"{stray} rows belong to no block of the manifest")
    else:
        jobs, stray = [(options.capture, read_rows(options.transactions), options.keylog)], 0
    return 0 if compare(jobs, own_list=options.folder is not None) and not stray else 1


if __name__ == "__main__":
    sys.exit(main())
