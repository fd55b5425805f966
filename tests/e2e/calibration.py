#!/usr/bin/env python3
"""Injects known delays and checks that exactly their layer shows them, as long as they really were.

As a test it makes one delay in each place of specs/calibration.toml, with --whole all of them. With --folder it only checks
the folder of a run that is there, and prints the table.
"""

import argparse
import bisect
import collections
import csv
import json
import pathlib
import re
import shutil
import statistics
import subprocess
import sys

LAYERS = ["tcp_handshake", "tcp_to_tls", "tls_handshake", "tls_to_app", "app_response"]
LAYER_OF = {"before_hello": "tcp_to_tls", "before_finished": "tls_handshake", "before_request": "tls_to_app",
            "before_response": "app_response"}
ONE_A_PLACE = ["none", "before_hello=cpu:1ms", "before_hello=sleep:1ms", "before_finished=cpu:1ms", "before_request=cpu:200us",
               "before_response=sleep:1ms"]
TOLERANCE_NS = 50_000
TOLERANCE = 0.03
# A delay this long, or this many times as long as the half of its interval, must be flagged; of a shorter one a short run
# on a busy machine may not be sure.
SURE_NS = 900_000
SURE_WIDTHS = 4
NEAR_NS = 100_000_000  # between a client's own start and its SYN's stamp


def rows_of(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


class Delays:
    """What each delay really was: by client and start where the client made it, by time where the origin did."""

    def __init__(self, folder):
        self.of_client = collections.defaultdict(list)
        if (folder / "injections.csv").exists():
            for row in rows_of(folder / "injections.csv"):
                self.of_client[row["client"]].append((int(row["start_ns"]), int(row["delay_ns"])))
        self.of_origin = []
        if (folder / "delays.csv").exists():
            self.of_origin = sorted((int(row["received_ns"]), int(row["delay_ns"])) for row in rows_of(folder / "delays.csv"))

    def find(self, place, row):
        start = int(row["start_ns"])
        if place != "before_response":
            near = [delay for at, delay in self.of_client[row["client"]] if abs(at - start) < NEAR_NS]
            return near[0] if len(near) == 1 else None
        asked = start + sum(int(row[f"{layer}_ns"]) for layer in LAYERS[:4])
        index = bisect.bisect_left(self.of_origin, (asked, 0))
        if index == len(self.of_origin) or self.of_origin[index][0] > asked + int(row["app_response_ns"]):
            return None
        return self.of_origin[index][1]


def medians(rows):
    return {layer: statistics.median(int(row[f"{layer}_ns"]) for row in rows) for layer in LAYERS}


def comparisons(folder):
    """What the report itself says of each cell against the baseline, by cell and layer."""
    summary = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
    return {cell["name"]: {layer: versus for layer, versus in (cell["versus_baseline"] or {}).items() if versus}
            for cell in summary["cells"]}


def half_width(versus):
    """How far the report's own interval reaches to a side: what so short a run, on so busy a machine, can tell."""
    return (versus["ci_high_ns"] - versus["ci_low_ns"]) / 2


def check(folder, alarms):
    """The table's lines, and what is wrong. So many other layers may be flagged."""
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    injections = {entry["label"]: entry for entry in manifest["spec"]["inject"]}
    rows = collections.defaultdict(list)
    for row in rows_of(folder / "transactions.csv"):
        if row["outcome"] == "complete" and all(row[f"{layer}_ns"] for layer in LAYERS):
            rows[row["cell"]].append(row)
    delays = Delays(folder)
    compared = comparisons(folder)
    baseline = medians(rows[next(cell["name"] for cell in manifest["cells"] if cell["baseline"])])
    lines = [f"{'injected':<28} {'n':>5} {'achieved us':>12} {'layer reads':>12} {'error us':>9} {'+- us':>7}  largest move of another layer"]
    wrong = []
    moved = []
    for cell in manifest["cells"]:
        injection = injections[cell["injection"]]
        place = injection["place"]
        if place == "nowhere":
            continue
        layer = LAYER_OF[place]
        known = [(row, delays.find(place, row)) for row in rows[cell["name"]]]
        known = [(row, delay) for row, delay in known if delay is not None]
        if len(known) < 0.95 * len(rows[cell["name"]]) or not known:
            wrong.append(f"{cell['name']}: only {len(known)} of {len(rows[cell['name']])} delays are known")
            continue
        achieved = statistics.median(delay for _, delay in known)
        # Of each transaction what the layer has beyond its own delay; what is usual without one is the baseline's.
        error = statistics.median(int(row[f"{layer}_ns"]) - delay for row, delay in known) - baseline[layer]
        others = {name: value - baseline[name] for name, value in medians(rows[cell["name"]]).items() if name != layer}
        worst = max(others, key=lambda name: abs(others[name]))
        own = half_width(compared[cell["name"]][layer])
        if not compared[cell["name"]][layer]["flagged"] and (achieved >= SURE_NS or achieved > SURE_WIDTHS * own):
            wrong.append(f"{cell['name']}: {layer} is not flagged")
        lines.append(f"{cell['injection']:<28} {len(known):>5} {achieved / 1e3:>12.1f} {(achieved + error) / 1e3:>12.1f} "
                     f"{error / 1e3:>9.1f} {own / 1e3:>7.1f}  {worst} {others[worst] / 1e3:+.1f} us")
        if abs(error) > max(TOLERANCE_NS, TOLERANCE * achieved, 2 * own):
            wrong.append(f"{cell['name']}: {layer} is off by {error / 1e3:.1f} us of {achieved / 1e3:.1f} us")
        for name, move in others.items():
            if compared[cell["name"]][name]["flagged"] and abs(move) > TOLERANCE_NS:
                moved.append(f"{cell['name']}: {name} is flagged and moved by {move / 1e3:.1f} us")
    # The family of comparisons has a false alarm in one run of twenty, by design; two are none.
    return lines, wrong + (moved if len(moved) > alarms else [])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tlstrata")
    parser.add_argument("--source")
    parser.add_argument("--scratch")
    parser.add_argument("--scale", default="0.25")
    parser.add_argument("--whole", action="store_true")
    parser.add_argument("--folder")
    arguments = parser.parse_args()
    if arguments.folder:
        folder = pathlib.Path(arguments.folder)
    else:
        scratch = pathlib.Path(arguments.scratch)
        shutil.rmtree(scratch, ignore_errors=True)
        scratch.mkdir(parents=True)
        spec = (pathlib.Path(arguments.source) / "specs/calibration.toml").read_text(encoding="utf-8")
        if not arguments.whole:
            spec = re.sub(r"inject = \[.*?\n\]", lambda _: f"inject = {json.dumps(ONE_A_PLACE)}", spec, flags=re.DOTALL)
        (scratch / "calibration.toml").write_text(spec, encoding="utf-8")
        result = subprocess.run([arguments.tlstrata, "lab", scratch / "calibration.toml", "--scale", arguments.scale, "--out", scratch],
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, check=False)
        if result.returncode != 0:
            sys.exit(f"the lab ended with {result.returncode}\n{result.stdout}")
        folder = pathlib.Path(result.stdout.splitlines()[-1].strip())
    lines, wrong = check(folder, 0 if arguments.folder else 1)
    print("\n".join(lines))
    for problem in wrong:
        print("wrong:", problem)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
