#!/usr/bin/env python3
"""Labs over every proxy and topology, with quotas and pinned cores, interrupted and taken up again."""

import argparse
import collections
import csv
import json
import pathlib
import shutil
import signal
import subprocess
import sys
import time
import unittest

ARGUMENTS = None

PROXIES = """name = "proxies"
groups = ["X25519", "X25519MLKEM512"]
responses = ["direct", "4KiB"]
topology = ["proxy", { reencrypt = "MLKEM768" }, { reencrypt = "X25519MLKEM512" }]
rate = 50
block = "300ms"
blocks = 1
[proxy]
name = ["nginx", "haproxy", "builtin"]
keep_upstream = false
"""
CERTIFICATES = """name = "certificates"
groups = ["X25519"]
responses = ["4KiB"]
certificate = ["ecdsa-p256", "ecdsa-p384", "rsa-2048", "rsa-3072", "ml-dsa-44", "ml-dsa-65", { kind = "rsa-2048", chain = 3 }]
rate = 50
block = "300ms"
blocks = 1
"""
LIMITED = """name = "limited"
groups = ["X25519"]
responses = ["4KiB"]
rate = 20
block = "1s"
blocks = 1
client_cpu = "10%"
[cores]
client = 0
proxy = 0
origin = [0]
[network]
congestion_control = "reno"
offloads = true
mtu = 1400
"""
LONG = """name = "long"
groups = ["X25519", "MLKEM1024"]
responses = ["4KiB"]
rate = 100
block = "300ms"
blocks = 6
[warmup]
transactions = 4
"""


def read_csv(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


class BedTest(unittest.TestCase):
    def setUp(self):
        self.scratch = pathlib.Path(ARGUMENTS.scratch) / self.id().rsplit(".", maxsplit=1)[-1]
        shutil.rmtree(self.scratch, ignore_errors=True)
        self.scratch.mkdir(parents=True)
        self.out = self.scratch / "results"

    def command(self, spec, *arguments):
        path = self.scratch / "spec.toml"
        path.write_text(spec, encoding="ascii")
        return [ARGUMENTS.tlstrata, "lab", str(path), "--out", str(self.out), *arguments]

    def run_command(self, command, expect=0):
        result = subprocess.run(command, capture_output=True, text=True, timeout=200, check=False, stdin=subprocess.DEVNULL)
        self.assertEqual(result.returncode, expect, result.stdout + result.stderr)
        return result

    def lab(self, spec, *arguments):
        result = self.run_command(self.command(spec, *arguments))
        return self.read(pathlib.Path(result.stdout.splitlines()[-1].strip()))

    def read(self, folder):
        """A folder in which all is complete and adds up."""
        manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
        rows = read_csv(folder / "transactions.csv")
        self.assertEqual({row["outcome"] for row in rows}, {"complete"})
        self.assertEqual(len(rows), sum(block["scheduled"] for block in manifest["blocks"]))
        self.assertEqual([block["capture_dropped"] for block in manifest["blocks"]], [0] * len(manifest["blocks"]))
        return folder, manifest, rows

    def test_every_proxy_in_every_topology(self):
        folder, manifest, rows = self.lab(PROXIES)
        groups = {cell["name"]: cell["groups"] for cell in manifest["cells"]}
        self.assertEqual(len(groups), 36)
        for row in rows:
            self.assertEqual(row["group"], groups[row["cell"]], row)
            self.assertEqual(row["boundary"], "decrypted", row)
        versions = {server["proxy"]: server["openssl"] for server in manifest["servers"]}
        self.assertEqual(set(versions), {"nginx", "haproxy", "builtin"})
        self.assertEqual(len(set(versions.values())), 1, versions)

        # Both legs: the client's capture above, and what the proxy sent to the origin.
        for block in manifest["blocks"]:
            cell = next(cell for cell in manifest["cells"] if cell["name"] == block["cell"])
            upstream = manifest["servers"][cell["server"]]["origin_groups"]
            self.assertEqual(len(block["proxy_captures"]), 2 if upstream else 1)
            if not upstream:
                continue
            table = self.scratch / "back.csv"
            subprocess.run([ARGUMENTS.tlstrata, "analyze", folder / block["proxy_captures"][1], "--transactions", table],
                           check=True, capture_output=True)
            back = collections.Counter((row["group"], row["outcome"], row["boundary"]) for row in read_csv(table))
            expected = {} if cell["direct"] else {(upstream, "complete", "decrypted"): 15}
            self.assertEqual(back, expected, block)
        # Nothing waits for a delayed ACK, 40 ms, on either leg.
        self.assertLess(sum(int(row["app_response_ns"]) > 35_000_000 for row in rows), len(rows) / 20)
        self.check_sides(folder, rows)

    def check_sides(self, folder, rows):
        sides = read_csv(folder / "sides.csv")
        self.assertEqual(len(sides), len(rows))
        total = {(row["cell"], row["block"], row["client"]): int(row["total_ns"]) for row in rows}
        for row in sides:
            parts = [int(row[name]) for name in ("client_ns", "path_ns", "server_ns")]
            self.assertEqual(sum(parts), total[(row["cell"], row["block"], row["client"])], row)
            self.assertGreater(min(parts), 0, row)

    def test_every_certificate(self):
        _, manifest, rows = self.lab(CERTIFICATES)
        flight = collections.defaultdict(set)
        for row in rows:
            flight[row["cell"]].add(int(row["server_flight_bytes"]))
        sizes = {name.removeprefix("x25519-").removesuffix("-4KiB"): max(values) for name, values in flight.items()}
        self.assertEqual(len(sizes), 7)
        self.assertLess(sizes["ecdsa-p256"], sizes["ecdsa-p384"])
        self.assertLess(sizes["rsa-2048"], sizes["rsa-3072"])
        # FIPS 204: a key and two signatures of ML-DSA-44 are 6,152 bytes, of ML-DSA-65 8,570.
        self.assertGreater(sizes["ml-dsa-44"], 1312 + 2 * 2420)
        self.assertGreater(sizes["ml-dsa-65"], 1952 + 2 * 3309)
        self.assertGreater(sizes["rsa-2048-chain3"], sizes["rsa-2048"] + 2 * 500)
        self.assertEqual({server["certificate"] for server in manifest["servers"]}, set(sizes))

    def test_quota_cores_and_network(self):
        folder, manifest, _ = self.lab(LIMITED)
        resources = {row["component"]: row for row in read_csv(folder / "resources.csv")}
        cpu = sum(int(resources["client"][name]) for name in ("cpu_user_ns", "cpu_system_ns"))
        # Less than the quota and the one portion that may be under way.
        self.assertLess(cpu, 0.11 * int(resources["client"]["wall_ns"]) + 1e6)
        self.assertGreater(int(resources["client"]["voluntary_switches"]), 0)
        self.assertEqual(resources["proxy"]["interface_dropped"], "0")
        machine = json.dumps(manifest["machine"])
        self.assertIn("reno", machine)
        self.assertIn("1400", machine)
        self.assertEqual([path.name for path in pathlib.Path("/sys/fs/cgroup/cpu").glob("tlstrata-*")], [])

    def interrupt(self, number):
        process = subprocess.Popen(self.command(LONG), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                   stdin=subprocess.DEVNULL)
        deadline = time.monotonic() + 60
        while len(list(self.out.glob("*/captures/*.pcapng"))) < 5 and time.monotonic() < deadline:
            time.sleep(0.02)
        process.send_signal(number)
        process.communicate(timeout=60)
        folder = next(self.out.iterdir())
        before = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
        self.assertTrue(before["partial"])
        return folder, before

    def test_an_interrupted_run_is_taken_up(self):
        for number in (signal.SIGINT, signal.SIGKILL):
            with self.subTest(number=number):
                shutil.rmtree(self.out, ignore_errors=True)
                folder, before = self.interrupt(number)
                kept = {(block["cell"], block["block"]): block["started_ns"] for block in before["blocks"]
                        if not block.get("partial")}
                self.run_command([ARGUMENTS.tlstrata, "lab", "--continue", str(folder)])
                self.assertEqual(list(self.out.iterdir()), [folder], "into the same folder")
                _, manifest, rows = self.read(folder)
                self.assertFalse(manifest["partial"])
                self.assertEqual(len(manifest["continued_utc"]), 1)
                self.assertEqual(manifest["seed"], before["seed"])
                self.assertEqual(sorted(block["order"] for block in manifest["blocks"]), list(range(12)))
                self.assertEqual(len(rows), 360)
                self.assertEqual(len(read_csv(folder / "client.csv")), 360)
                self.assertEqual(len(read_csv(folder / "resources.csv")), 36)
                again = {(block["cell"], block["block"]): block["started_ns"] for block in manifest["blocks"]}
                same = [key for key, started in kept.items() if again[key] == started]
                if number == signal.SIGINT:
                    self.assertEqual(len(same), len(kept), "no whole block was run again")
                else:
                    self.assertGreaterEqual(len(same), 1)
                self.assertFalse((folder / ".work").exists())

    def test_what_cannot_be_taken_up(self):
        result = self.run_command([ARGUMENTS.tlstrata, "lab", "--continue", str(self.scratch)], expect=3)
        self.assertIn("manifest.json", result.stderr)
        result = self.run_command([ARGUMENTS.tlstrata, "lab", "--continue", str(self.scratch), "--scale", "2"], expect=2)
        self.assertIn("--scale", result.stderr)

    def test_scale(self):
        _, manifest, rows = self.lab(LONG, "--scale", "0.5")
        self.assertEqual(len(rows), 180)
        self.assertEqual(manifest["spec"]["block_ns"], 150_000_000)
        self.run_command(self.command(LONG, "--scale", "0.001"), expect=2)


def main():
    global ARGUMENTS
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tlstrata", required=True)
    parser.add_argument("--source", required=True)
    parser.add_argument("--scratch", required=True)
    ARGUMENTS, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0], "-v", *rest])


if __name__ == "__main__":
    main()
