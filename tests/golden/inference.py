#!/usr/bin/env python3
"""Boundaries inferred without keys against the same captures decrypted: how often they are equal, and where they are not.

Every first transaction that is complete with keys is asked for again without them. The captures with known exceptions are
those where sizes and order can't tell: HTTP/2 clients that send more than SETTINGS before the first request, and interim
responses.
"""
import argparse
import csv
import pathlib
import subprocess
import sys

COLUMNS = ["tls_handshake_ns", "tls_to_app_ns", "app_response_ns", "total_ns", "server_flight_ns", "client_finish_ns",
           "server_flight_bytes", "client_handshake_bytes", "server_handshake_bytes", "client_segments", "server_segments",
           "client_flights", "server_flights", "round_trips", "stalls", "stall_ns"]


def rows(program, capture, keys):
    command = [program, "analyze", str(capture), "--transactions", "-"] + (["--keylog", str(keys)] if keys else [])
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    first = [row for row in csv.DictReader(output.splitlines()) if row["request"] in ("0", "1")]
    return {(row["client"], row["server"], row["start_ns"]): row for row in first}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tlstrata", required=True)
    parser.add_argument("--source", type=pathlib.Path, required=True)
    parser.add_argument("--scratch")
    parser.add_argument("--minimum-agreement", type=float, default=98.0, metavar="PERCENT")
    options = parser.parse_args()
    compared = equal = 0
    golden = options.source / "tests/golden"
    for keys in sorted([*(golden / "field").glob("*.keys"), *(golden / "inference").glob("*.keys")]):
        capture = next(path for path in (keys.with_suffix(".pcap"), keys.with_suffix(".pcapng")) if path.exists())
        decrypted = rows(options.tlstrata, capture, keys)
        inferred = rows(options.tlstrata, capture, None)
        for key, row in decrypted.items():
            if row["outcome"] != "complete" or row["boundary"] != "decrypted":
                continue
            compared += 1
            other = inferred[key]
            if other["boundary"] == "decrypted":
                sys.exit(f"{capture.name}: a row without keys calls itself decrypted")
            differences = [f"{name} {row[name] or 'absent'} inferred {other[name] or 'absent'}"
                           for name in COLUMNS if row[name] != other[name]]
            equal += not differences
            if differences and keys.parent.name == "inference":
                sys.exit(f"{capture.name}: {', '.join(differences)}")
            if differences:
                print(f"{capture.name} {key[0]}: {', '.join(differences)}")
    share = 100 * equal / compared if compared else 0
    print(f"{equal} of {compared} first transactions have the same boundaries without keys ({share:.1f} %)")
    sys.exit(0 if compared and share >= options.minimum_agreement else 1)


if __name__ == "__main__":
    main()
