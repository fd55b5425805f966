#!/usr/bin/env python3
"""Field captures (tests/golden/field) through `tlstrata analyze`, every boundary against TShark (tshark_layers.py).

Loss, reordering, duplicates, small segments, large segments, retries, resumption, keep-alive: what a lab on a clean link
does not make. HTTP/2, TLS 1.2 and captures that TShark cannot decrypt whole are left to golden/field.py.
"""
import argparse
import subprocess
import sys
from pathlib import Path

import tshark
from tshark_layers import compare, read_rows

CAPTURES = (
    "any_router_sll1.pcap", "any_sll2.pcap", "cert_longrsa.pcap", "ch_multi_record.pcap", "dup.pcap",
    "h1_100continue.pcap", "h1_bigheaders.pcap", "h1_keepalive.pcap", "h1_pipeline.pcap",
    "hrr_x25519_to_mlkem1024.pcap", "loss5.pcap", "loss5_serverside.pcap", "many_parallel.pcap", "mtls_p256.pcap",
    "mtu300.pcap", "nano_pcapng.pcapng", "node_client.pcap", "port_reuse.pcap", "record_padding.pcap", "reorder.pcap",
    "resume_tickets.pcap", "rtt50.pcap", "suite_chacha.pcap", "tso_on.pcap", "two_if.pcapng", "two_points.pcapng")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tlstrata", required=True, help="the program")
    parser.add_argument("--source", type=Path, required=True, help="the checkout")
    parser.add_argument("--scratch", type=Path, required=True, help="folder for what the program writes")
    options = parser.parse_args()
    print(tshark.require())
    options.scratch.mkdir(parents=True, exist_ok=True)
    folder = options.source / "tests" / "golden" / "field"
    jobs = []
    for name in CAPTURES:
        keys = folder / f"{name.partition('.')[0]}.keys"
        out = options.scratch / f"{name}.csv"
        out.unlink(missing_ok=True)
        run = subprocess.run([options.tlstrata, "analyze", str(folder / name), "--keylog", str(keys),
                              "--transactions", str(out)], stdin=subprocess.DEVNULL, capture_output=True, text=True)
        if run.returncode != 0:
            print(f"analyze {name}: exit {run.returncode}: {run.stderr[-500:]}")
            return 1
        jobs.append((folder / name, read_rows(out), keys))
    return 0 if compare(jobs) else 1


if __name__ == "__main__":
    sys.exit(main())
