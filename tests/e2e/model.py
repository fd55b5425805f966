#!/usr/bin/env python3
"""`tlstrata model` against measurement: what a lab without a path predicts, and what a lab on that path then measures.

The model knows nothing of the cells that it predicts: its figures come from a run of its own. `--base` and `--paths` take
folders of runs that are there; paths need the cells' names of the base with the path's name before the response.
"""

import argparse
import json
import pathlib
import shutil
import statistics
import subprocess
import sys

LAYERS = ["tcp_handshake", "tcp_to_tls", "tls_handshake", "tls_to_app", "app_response"]
CELLS = """groups = ["X25519", "X25519MLKEM768"]
responses = ["4KiB"]
certificate = ["ecdsa-p256", { kind = "ml-dsa-65", chain = 3 }]
rate = 20
block = "1s"
blocks = 1
[warmup]
transactions = 8
[capture]
proxy = false
"""
LINK = """[link]
rtt = ["20ms", "60ms"]
"""
GATE = 0.05


def summary(folder):
    cells = json.loads((folder / "summary.json").read_text(encoding="utf-8"))["cells"]
    return {cell["name"]: cell for cell in cells}


def lab(arguments, name, text):
    spec = arguments.scratch / f"{name}.toml"
    spec.write_text(f'name = "{name}"\n{text}', encoding="ascii")
    done = subprocess.run([arguments.tlstrata, "lab", spec, "--out", arguments.scratch], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, text=True, check=True)
    return pathlib.Path(done.stdout.splitlines()[-1].strip())


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tlstrata", required=True)
    parser.add_argument("--source")
    parser.add_argument("--scratch", type=pathlib.Path, required=True)
    parser.add_argument("--base", type=pathlib.Path)
    parser.add_argument("--paths", type=pathlib.Path)
    arguments = parser.parse_args()
    shutil.rmtree(arguments.scratch, ignore_errors=True)
    arguments.scratch.mkdir(parents=True)
    base = arguments.base or lab(arguments, "base", CELLS)
    paths = arguments.paths or lab(arguments, "far", CELLS + LINK)
    measured = summary(paths)
    manifest = json.loads((paths / "manifest.json").read_text(encoding="utf-8"))
    links = [link["label"] for link in manifest["spec"]["link"]]
    asked = []
    for link in links:
        asked += ["--path", f"rtt={link}" if link[0].isdigit() else link]
    done = subprocess.run([arguments.tlstrata, "model", base, *asked, "--json", "-"], stdout=subprocess.PIPE, text=True, check=True)
    errors = []
    print(f"{'cell':<52}{'predicted ms':>13}{'measured ms':>12}{'error':>8}   largest error of a layer, without loss")
    for entry in json.loads(done.stdout)["predictions"]:
        link = entry["path"].removeprefix("rtt=")
        stem, response = entry["cell"].rsplit("-", maxsplit=1)
        cell = measured[f"{stem}-{link}-{response}"]
        total = cell["layers"]["total"]["p50_ns"]
        predicted = entry["total_with_loss"]["p50_ns"] if entry.get("total_with_loss") else entry["total_ns"]
        error = predicted / total - 1
        errors.append(abs(error))
        by_layer = {name: entry["layers"][f"{name}_ns"] - cell["layers"][name]["p50_ns"] for name in LAYERS}
        worst = max(by_layer, key=lambda name: abs(by_layer[name]))
        print(f"{cell['name']:<52}{predicted / 1e6:>13.2f}{total / 1e6:>12.2f}{error:>8.1%}   {worst} "
              f"{by_layer[worst] / 1e6:+.2f} ms")
    middle = statistics.median(errors)
    print(f"median absolute error {middle:.2%} over {len(errors)} cells, largest {max(errors):.2%}")
    sys.exit(0 if middle < GATE else f"above {GATE:.0%}")


if __name__ == "__main__":
    main()
