#!/usr/bin/env python3
"""A small lab run, then every boundary of every transaction against TShark on the same captures (tshark_layers.py).

The run is real: namespaces, nginx, three key exchanges. Keys come from inside the captures; TShark gets no key option.
"""
import argparse
import json
import shutil
import subprocess
import sys
from pathlib import Path

import tshark
from tshark_layers import compare, jobs_of_folder

SPEC = """\
name = "differential"
groups = ["X25519", "X25519MLKEM768", "MLKEM1024"]
responses = ["4KiB", "40KiB"]
rate = 50
block = "400ms"
blocks = 2
seed = 7
[warmup]
transactions = 6
per_block = 1
"""


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tlstrata", required=True, help="the program")
    parser.add_argument("--source", type=Path, required=True, help="the checkout")
    parser.add_argument("--scratch", type=Path, required=True, help="folder for the run; emptied first")
    return parser.parse_args()


def run_lab(options):
    """The result folder of a small run; None where the lab failed, after saying why."""
    shutil.rmtree(options.scratch, ignore_errors=True)
    options.scratch.mkdir(parents=True)
    spec = options.scratch / "differential.toml"
    spec.write_text(SPEC)
    command = [options.tlstrata, "lab", str(spec), "--out", str(options.scratch / "result")]
    run = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=240)
    manifests = list(options.scratch.rglob("manifest.json"))
    if run.returncode != 0 or len(manifests) != 1:
        print(f"lab: exit {run.returncode}, {len(manifests)} manifests\n{run.stdout[-2000:]}{run.stderr[-2000:]}")
        return None
    return manifests[0].parent


def main():
    options = parse_arguments()
    print(tshark.require())
    folder = run_lab(options)
    if folder is None:
        return 1
    jobs, stray = jobs_of_folder(folder)
    scheduled = sum(block["scheduled"] for block in json.loads((folder / "manifest.json").read_text())["blocks"])
    rows = sum(len(rows) for _, rows, _ in jobs)
    print(f"{scheduled} transactions scheduled, {rows} rows")
    return 0 if compare(jobs, own_list=True) and not stray and rows == scheduled else 1


if __name__ == "__main__":
    sys.exit(main())
