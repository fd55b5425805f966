#!/usr/bin/env python3
"""Flights and stalls in captures of real clients and servers whose path is known (tests/golden/field/INDEX.tsv).

Each line of CASES says what the path made of every connection of a capture. The retransmissions under loss are counted again
here, straight from the packets, by an oracle of its own that knows no TLS.
"""
import argparse
import csv
import pathlib
import struct
import subprocess
import sys

# capture: (stalls, round trips, least and most lost in ms)
CASES = {
    "rtt50": (0, 2, 0, 0),
    "cert_longrsa": (1, 3, 40, 60),  # 19 KB of chain, 50 ms, an initial window of 10
    "hrr_x25519_to_mlkem1024": (0, 3, 0, 0),
    "tls12_curl": (0, 2, 0, 0),
}
LOSSY = ["loss5", "loss5_serverside"]
LAYERS = ["tcp_handshake", "tcp_to_tls", "tls_handshake", "tls_to_app", "app_response"]


def rows_of(program, capture, keys):
    command = [program, "analyze", str(capture), "--keylog", str(keys), "--transactions", "-"]
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return list(csv.DictReader(output.splitlines()))


def packets_of(path):
    """(source, destination, sequence, payload length, flags) of each IPv4 TCP packet of a raw-IP or Ethernet pcap."""
    data = path.read_bytes()
    order = "<" if data[:4] in (b"\xd4\xc3\xb2\xa1", b"\x4d\x3c\xb2\xa1") else ">"
    link = struct.unpack(order + "I", data[20:24])[0] & 0xFFFF
    at = 24
    while at < len(data):
        length = struct.unpack(order + "I", data[at + 8:at + 12])[0]
        frame = data[at + 16:at + 16 + length]
        at += 16 + length
        packet = frame[14:] if link == 1 else frame
        if packet[0] >> 4 != 4 or packet[9] != 6:
            continue
        header = (packet[0] & 15) * 4
        total = struct.unpack(">H", packet[2:4])[0]
        tcp = packet[header:total]
        source, destination, sequence = struct.unpack(">HHI", tcp[:8])
        payload = len(tcp) - (tcp[12] >> 4) * 4
        yield (packet[12:16], source), (packet[16:20], destination), sequence, payload, tcp[13]


def repeated(path):
    """Segments of which bytes, or the SYN, had been captured before: by connection's client port."""
    seen, counts = {}, {}
    for source, destination, sequence, payload, flags in packets_of(path):
        client = max(source, destination, key=lambda end: end[1])
        bytes_before = seen.setdefault((source, destination), set())
        place = set(range(sequence, sequence + payload)) | ({("syn", sequence)} if flags & 2 else set())
        counts[client[1]] = counts.get(client[1], 0) + bool(place & bytes_before)
        bytes_before |= place
    return counts


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tlstrata", required=True)
    parser.add_argument("--source", type=pathlib.Path, required=True)
    parser.add_argument("--scratch")
    options = parser.parse_args()
    folder = options.source / "tests/golden/field"
    wrong = []
    for name, (stalls, trips, least, most) in CASES.items():
        rows = [row for row in rows_of(options.tlstrata, folder / f"{name}.pcap", folder / f"{name}.keys") if row["request"] == "1"]
        for row in rows:
            told = (int(row["stalls"] or -1), int(row["round_trips"] or -1))
            lost = int(row["stall_ns"] or -1) / 1e6
            print(f"{name}: {told[0]} stalls, {told[1]} round trips, {lost:.1f} ms lost, segments {row['client_segments']} "
                  f"and {row['server_segments']}")
            if told != (stalls, trips) or not least <= lost <= most:
                wrong.append(f"{name}: {told[0]} stalls, {told[1]} round trips, {lost} ms; expected {stalls}, {trips}, {least} to {most}")
        if not rows:
            wrong.append(f"{name}: no row")
    for name in LOSSY:
        capture = folder / f"{name}.pcap"
        rows = rows_of(options.tlstrata, capture, folder / f"{name}.keys")
        oracle = repeated(capture)
        for row in rows:
            counted = sum(int(row[f"retransmitted_{layer}"] or 0) for layer in LAYERS)
            certain = oracle[int(row["client"].rpartition(":")[2])]
            # What was lost before the capture point was captured once: it is told by its lateness, and the oracle can't.
            fine = counted >= certain if name == "loss5" else counted == certain
            if row["outcome"] == "complete" and not fine:
                wrong.append(f"{name} {row['client']}: {counted} segments sent again, copies in the capture: {certain}")
        print(f"{name}: {sum(oracle.values())} copies in the capture, told "
              f"{ {layer: sum(int(row[f'retransmitted_{layer}'] or 0) for row in rows) for layer in LAYERS} }")
    for what in wrong:
        print(f"WRONG: {what}")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
