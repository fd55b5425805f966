#!/usr/bin/env python3
"""The selected ALPN of every field capture (tests/golden/field) against TShark, whose golden answers lack it.

A connection is told by its ends and its SYN's time. What counts is the server's ALPN extension: in TLS 1.3's
EncryptedExtensions (so the keys must do), in TLS 1.2's ServerHello.
"""
import argparse
import csv
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import tshark
from tshark import nanoseconds

FIELDS = ("tcp.stream frame.time_epoch ip.src ipv6.src tcp.srcport ip.dst ipv6.dst tcp.dstport tcp.flags.syn "
          "tcp.flags.ack tls.handshake.type tls.handshake.extensions_alpn_str").split()
SERVER_HELLO, ENCRYPTED_EXTENSIONS, CLIENT_HELLO = "2", "8", "1"


def selected(capture, key_log):
    """{(client, server, start_ns): ALPN or ""} of the streams that begin with a SYN."""
    command = ["tshark", "-n", "-r", str(capture), "-Y", "tcp && !icmp && !icmpv6", "-T", "fields", "-E", "aggregator=,"]
    for preference in tshark.PREFERENCES + ((f"tls.keylog_file:{key_log}",) if key_log else ()):
        command += ["-o", preference]
    for name in FIELDS:
        command += ["-e", name]
    run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode != 0:
        raise RuntimeError(f"tshark on {capture}: exit {run.returncode}: {run.stderr[-300:]}")
    streams, answers = {}, {}
    for line in run.stdout.splitlines():
        cells = dict(zip(FIELDS, line.split("\t")))
        stream = cells["tcp.stream"]
        if cells["tcp.flags.syn"] in ("1", "True") and cells["tcp.flags.ack"] in ("0", "False") and stream not in streams:
            start = nanoseconds(cells["frame.time_epoch"])
            streams[stream] = (tshark.address(cells, "src"), tshark.address(cells, "dst"), start)
            answers[stream] = ""
        types = cells["tls.handshake.type"].split(",")
        from_server = stream in streams and tshark.address(cells, "src") == streams[stream][1]
        if from_server and cells["tls.handshake.extensions_alpn_str"] and (
                ENCRYPTED_EXTENSIONS in types or SERVER_HELLO in types) and CLIENT_HELLO not in types:
            answers[stream] = cells["tls.handshake.extensions_alpn_str"]
    return {streams[stream]: answer for stream, answer in answers.items()}


def ours(program, capture, key_log, out):
    command = [program, "analyze", str(capture), "--transactions", str(out)] + (["--keylog", str(key_log)] if key_log else [])
    subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=True)
    with open(out, newline="", encoding="utf-8") as file:
        return {(row["client"], row["server"], int(row["start_ns"])): row["alpn"] for row in csv.DictReader(file)}


def compare(program, capture, key_log, out):
    """(connections compared, of them with an ALPN, differences as text)"""
    theirs = selected(capture, key_log)
    rows = ours(program, capture, key_log, out)
    common = theirs.keys() & rows.keys()
    wrong = [f"{capture.name}: {'-'.join(key[:2])}: {rows[key]!r}, TShark has {theirs[key]!r}"
             for key in common if rows[key] != theirs[key]]
    return len(common), sum(bool(theirs[key]) for key in common), wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tlstrata", required=True, help="the program")
    parser.add_argument("--source", type=Path, required=True, help="the checkout")
    parser.add_argument("--scratch", type=Path, required=True, help="folder for what the program writes")
    options = parser.parse_args()
    print(tshark.require())
    options.scratch.mkdir(parents=True, exist_ok=True)
    folder = options.source / "tests" / "golden" / "field"
    captures = sorted(path for path in folder.iterdir() if path.suffix in (".pcap", ".pcapng", ".gz", ".zst"))

    def one(capture):
        keys = folder / f"{capture.name.partition('.')[0]}.keys"
        return compare(options.tlstrata, capture, keys if keys.exists() else None, options.scratch / f"{capture.name}.csv")

    with ThreadPoolExecutor(2) as pool:
        verdicts = list(pool.map(one, captures))
    wrong = [line for verdict in verdicts for line in verdict[2]]
    print(*wrong, sep="\n")
    compared = sum(verdict[0] for verdict in verdicts)
    with_alpn = sum(verdict[1] for verdict in verdicts)
    print(f"{len(captures)} captures, {compared} connections, {with_alpn} of them with an ALPN, {len(wrong)} differences")
    return 1 if wrong or not with_alpn else 0


if __name__ == "__main__":
    sys.exit(main())
