#!/usr/bin/env python3
"""Labs over an emulated path: delay, a retry's round trip, and which chains and groups stay in one flight of the server's.

What is asserted no busy machine can break: nothing is quicker than the path, and differences of round trips are far larger
than what scheduling adds. `--folder DIR` instead prints what a run of `hrr` or `paths` measured of its paths, and its stalls.
"""

import argparse
import collections
import csv
import json
import pathlib
import shutil
import statistics
import subprocess
import sys

RETRY = """name = "retry"
groups = [
  { offer = "MLKEM1024:X25519", key_shares = "MLKEM1024", label = "right" },
  { offer = "X25519:MLKEM1024", key_shares = "X25519", label = "wrong" },
]
responses = ["direct"]
rate = 20
block = "1s"
blocks = 2
[proxy]
groups = "MLKEM1024"
[link]
rtt = ["20ms", "60ms"]
[warmup]
transactions = 4
[capture]
proxy = false
"""
WINDOW = """name = "window"
groups = ["X25519", "X25519MLKEM768"]
responses = ["direct"]
certificate = [
  "ecdsa-p256",
  { kind = "rsa-2048", chain = 3 },
  { kind = "ml-dsa-44", chain = 3 },
  { kind = "ml-dsa-65", chain = 3 },
]
rate = 10
block = "1s"
blocks = 1
[link]
rtt = "60ms"
initcwnd = [10, 20]
[warmup]
transactions = 4
[capture]
proxy = false
"""


CHAINS = [("ecdsa-p256", 1), ("rsa-2048", 3), ("ml-dsa-44", 3), ("ml-dsa-65", 3)]


def median(rows, column):
    return statistics.median(int(row[column]) for row in rows)


def median_ms(rows, column):
    return median(rows, column) / 1e6


def read(folder):
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    rows = collections.defaultdict(list)
    with open(folder / "transactions.csv", newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            rows[row["cell"]].append(row)
    return manifest, rows


class Check:
    def __init__(self, arguments):
        self.arguments = arguments
        self.wrong = []

    def expect(self, holds, what):
        print(("  " if holds else "  WRONG: ") + what)
        if not holds:
            self.wrong.append(what)

    def lab(self, text):
        scratch = pathlib.Path(self.arguments.scratch)
        spec = scratch / "spec.toml"
        spec.write_text(text, encoding="ascii")
        result = subprocess.run([self.arguments.tlstrata, "lab", spec, "--out", scratch], stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, text=True, check=True)
        return read(pathlib.Path(result.stdout.splitlines()[-1].strip()))

    def retry(self):
        manifest, rows = self.lab(RETRY)
        for rtt in (20, 60):
            right, wrong = rows[f"right-{rtt}ms-direct"], rows[f"wrong-{rtt}ms-direct"]
            print(f"a path of {rtt} ms")
            self.expect((len(right), len(wrong)) == (40, 40), f"{len(right)} and {len(wrong)} transactions")
            self.expect({row["outcome"] for row in right + wrong} == {"complete"}, "all complete")
            self.expect({row["group"] for row in right + wrong} == {"MLKEM1024"}, "all with the same group")
            self.expect([{row["hrr"] for row in half} for half in (right, wrong)] == [{"0"}, {"1"}], "only wrong guesses retry")
            least = min(int(row["tcp_handshake_ns"]) for row in right + wrong) / 1e6
            self.expect(rtt <= least < rtt + 15, f"the quickest TCP handshake took {least:.3f} ms")
            more = median_ms(wrong, "tls_handshake_ns") - median_ms(right, "tls_handshake_ns")
            self.expect(0.8 * rtt < more < 1.5 * rtt, f"a wrong guess costs {more:.2f} ms of tls_handshake")
            retry = median_ms(wrong, "retry_ns")
            self.expect(0.8 * rtt < retry < 1.5 * rtt, f"`retry` carries {retry:.2f} ms")
        baselines = {cell["name"]: cell["compared_with"] for cell in manifest["cells"]}
        self.expect(baselines["wrong-60ms-direct"] == "right-60ms-direct", "pairs are compared on their own path")
        ways = [way for block in manifest["blocks"] for way in block["link"].values()]
        self.expect(all(way["delivered"] == way["frames"] > 0 for way in ways), "no frame is lost where none is to be")

    def window(self):
        _, rows = self.lab(WINDOW)
        print("initial windows on a path of 60 ms")
        cells = {name: rows[f"x25519mlkem768-{name}-direct"]
                 for name in ("ecdsa-p256-60ms-iw10", "ml-dsa-65-chain3-60ms-iw10", "ml-dsa-65-chain3-60ms-iw20")}
        self.in_one_flight(rows)
        short, stalled, wide = (median_ms(mine, "tls_handshake_ns") for mine in cells.values())
        flight = median(cells["ml-dsa-65-chain3-60ms-iw10"], "server_flight_bytes")
        self.expect(flight > 14_480, f"the long chain's flight is {flight:.0f} bytes, beyond 14,480")
        self.expect(60 <= short < 100, f"a short chain takes {short:.1f} ms at a window of 10")
        self.expect(stalled > short + 45, f"the long one {stalled:.1f} ms at 10: a round trip more")
        self.expect(wide < stalled - 45, f"the long one {wide:.1f} ms at 20: the round trip is gone")


    def arithmetic(self, window):
        """(group, certificate, chain) -> the server's flight in bytes, and how often it waits for an ACK: of bytes alone."""
        expected = {}
        for kind, chain in CHAINS:
            command = [self.arguments.tlstrata, "handshake", "--groups", "X25519,X25519MLKEM768", "--certs", kind, "--chain", str(chain),
                       "--initcwnd", str(window), "--handshakes", "4", "--runs", "1", "--account", "off", "--json", "-"]
            text = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, check=True).stdout
            for one in json.loads(text)["configurations"]:
                flight = next(flight for flight in one["tcp"]["flights"] if flight["from"] == "server")
                expected[one["group"], kind, chain] = (flight["bytes"], flight["waits"])
        return expected

    def in_one_flight(self, rows):
        """The table from measurement, and the one from arithmetic beside it."""
        print(f"{'group':<16}{'chain':<14}{'window':>7}{'flight':>8}{'arithmetic':>11}{'stalls':>8}{'arithmetic':>11}{'lost ms':>9}{'trips':>6}")
        for window in (10, 20):
            expected = self.arithmetic(window)
            for (group, kind, chain), (reckoned, waits) in expected.items():
                label = kind + (f"-chain{chain}" if chain > 1 else "")
                mine = rows[f"{group.lower()}-{label}-60ms-iw{window}-direct"]
                flight, stalls, lost = median(mine, "server_flight_bytes"), median(mine, "stalls"), median_ms(mine, "stall_ns")
                print(f"{group:<16}{label:<14}{window:>7}{flight:>8.0f}{reckoned:>11}{stalls:>8.0f}{waits:>11}{lost:>9.1f}"
                      f"{median(mine, 'round_trips'):>6.0f}")
                self.expect(stalls == waits, f"{group}, {label}, {window}: {stalls:.0f} stalls, as many as arithmetic has")
                self.expect(median(mine, "round_trips") == 2 + waits, "and as many round trips")
                agree = sum(int(row["stalls"]) == waits for row in mine)
                self.expect(agree >= 0.8 * len(mine) > 0, f"in {agree} of {len(mine)} handshakes")
                if waits:
                    self.expect(40 < lost < 90, f"a stall costs {lost:.1f} ms")


def retry_text(rows):
    return f"{median_ms(rows, 'retry_ns'):.2f}" if rows else "-"


def show(folder):
    manifest, rows = read(folder)
    links = {link["label"]: link for link in manifest["spec"]["link"]}
    print(f"{'cell':<36}{'n':>6}{'asked rtt':>11}{'tcp min':>10}{'tcp p50':>10}{'tls p50':>10}{'retry p50':>10}{'asked loss':>11}"
          f"{'lost':>8}{'late p99 us':>12}")
    for cell in manifest["cells"]:
        ways = [way for block in manifest["blocks"] if block["cell"] == cell["name"] for way in block["link"].values()]
        mine = [row for row in rows[cell["name"]] if row["outcome"] == "complete"]
        link = links[cell["link"] or next(iter(links))]
        rtt = (link["forward"]["delay_ns"] + link["backward"]["delay_ns"]) / 1e6
        retries = [row for row in mine if row["retry_ns"]]
        print(f"{cell['name']:<36}{len(mine):>6}{rtt:>11.2f}{min(int(row['tcp_handshake_ns']) for row in mine) / 1e6:>10.2f}"
              f"{median_ms(mine, 'tcp_handshake_ns'):>10.2f}{median_ms(mine, 'tls_handshake_ns'):>10.2f}"
              f"{retry_text(retries):>10}{link['forward']['loss']:>11.2%}"
              f"{sum(way['lost'] for way in ways) / sum(way['frames'] for way in ways):>8.2%}"
              f"{max(way['p99_late_ns'] for way in ways) / 1e3:>12.1f}")
    show_flights(rows)


def show_flights(rows):
    print(f"\n{'cell':<44}{'n':>6}{'flight':>8}{'stalled':>9}{'lost ms':>9}{'trips':>6}{'segments':>9}{'again':>6}")
    for cell, all_of in rows.items():
        mine = [row for row in all_of if row["outcome"] == "complete" and row.get("stalls")]
        if mine:
            stalled = [row for row in mine if int(row["stalls"])]
            again = sum(int(row["retransmitted_tls_handshake"] or 0) for row in mine)
            print(f"{cell:<44}{len(mine):>6}{median(mine, 'server_flight_bytes'):>8.0f}{len(stalled) / len(mine):>9.1%}"
                  f"{median_ms(stalled, 'stall_ns') if stalled else 0:>9.2f}{median(mine, 'round_trips'):>6.0f}"
                  f"{median(mine, 'server_segments'):>9.0f}{again:>6}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tlstrata")
    parser.add_argument("--source")
    parser.add_argument("--scratch")
    parser.add_argument("--folder", type=pathlib.Path)
    arguments = parser.parse_args()
    if arguments.folder:
        show(arguments.folder)
        return
    shutil.rmtree(arguments.scratch, ignore_errors=True)
    pathlib.Path(arguments.scratch).mkdir(parents=True)
    check = Check(arguments)
    check.retry()
    check.window()
    sys.exit(1 if check.wrong else 0)


if __name__ == "__main__":
    main()
