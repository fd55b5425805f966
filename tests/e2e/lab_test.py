#!/usr/bin/env python3
"""Runs small labs for real: hosts, nginx, packets, and what is left when they end well, badly or not at all."""

import argparse
import csv
import json
import os
import pathlib
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
import unittest

ARGUMENTS = None
IN_CI = os.environ.get("CI") == "true"

LAYERS = ["tcp_handshake_ns", "tcp_to_tls_ns", "tls_handshake_ns", "tls_to_app_ns", "app_response_ns"]
SMALL = """name = "small"
groups = ["X25519", "MLKEM1024"]
responses = ["4KiB"]
rate = 100
block = "300ms"
blocks = 2
[warmup]
transactions = 4
"""
LONG = SMALL.replace('"small"', '"long"').replace("blocks = 2", "blocks = 200")


def read_csv(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def processes_of(folder):
    """Living processes whose command line names a folder: servers and clients of a lab, whatever host they are in."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        try:
            command = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if str(folder) in command:
            found.append(f"{entry.name} {command}")
    return found


def network_namespaces():
    found = set()
    for entry in pathlib.Path("/proc").glob("[0-9]*/ns/net"):
        try:
            found.add(os.readlink(entry))
        except OSError:
            continue
    return found


def wait_for(condition, seconds, what):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():
            return
        time.sleep(0.05)
    raise AssertionError(f"not within {seconds} s: {what}")


def readable_for(user, folder, aside):
    """The start of a command under which others than root can read a checkout below a private folder (root's home).

    In a mount namespace of its own the checkout is mounted in the empty folder `aside` too, an empty file system hides the
    private folder, and the checkout is mounted in that again.
    """
    blocked = next((parent for parent in reversed(folder.parents) if not parent.stat().st_mode & stat.S_IXOTH), None)
    if os.geteuid() != 0 or user == 0 or blocked is None:
        return []
    script = ('mount --make-rprivate / && mount --bind "$1" "$3" && mount -t tmpfs -o mode=755 none "$2" && mkdir -p "$1" && '
              'mount --bind "$3" "$1" && shift 3 && exec "$@"')
    return ["unshare", "--mount", "sh", "-c", script, "sh", str(folder), str(blocked), aside]


class LabTest(unittest.TestCase):
    def setUp(self):
        self.scratch = pathlib.Path(ARGUMENTS.scratch) / self.id().rsplit(".", maxsplit=1)[-1]
        shutil.rmtree(self.scratch, ignore_errors=True)
        self.scratch.mkdir(parents=True)
        self.out = self.scratch / "results"
        self.namespaces = network_namespaces()

    def tearDown(self):
        wait_for(lambda: not processes_of(self.scratch), 5, f"no process left: {processes_of(self.scratch)}")
        wait_for(lambda: network_namespaces() <= self.namespaces, 5, "no namespace left")
        names = subprocess.run(["ip", "-o", "link"], capture_output=True, text=True, check=True).stdout
        self.assertNotIn("proxy-front", names)
        self.assertEqual(subprocess.run(["ip", "netns"], capture_output=True, text=True, check=True).stdout, "")

    def spec(self, text, name="spec.toml"):
        path = self.scratch / name
        path.write_text(text, encoding="utf-8")
        return path

    def command(self, *arguments):
        out = [] if "--out" in arguments else ["--out", str(self.out)]
        return [ARGUMENTS.tlstrata, "lab", *out, *map(str, arguments)]

    def lab(self, *arguments, expect=0, **options):
        result = subprocess.run(self.command(*arguments), capture_output=True, text=True, timeout=120, check=False,
                                stdin=subprocess.DEVNULL, **options)
        self.assertEqual(result.returncode, expect, f"{result.stdout}\n{result.stderr}")
        return result

    def folder_of(self, result):
        folder = pathlib.Path(result.stdout.splitlines()[-1].strip())
        self.assertTrue(folder.is_dir(), result.stdout)
        return folder

    def only_folder(self):
        folders = list(self.out.iterdir())
        self.assertEqual(len(folders), 1, folders)
        return folders[0]

    def check_one_complaint(self, result):
        lines = result.stderr.splitlines()
        self.assertEqual(len(lines), 1, result.stderr)
        self.assertTrue(lines[0].startswith("tlstrata: "), result.stderr)
        return lines[0]

    def check_rows(self, folder, expected=None):
        """Every scheduled transaction is a complete row whose layers sum to its total."""
        manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
        rows = read_csv(folder / "transactions.csv")
        scheduled = sum(block["scheduled"] for block in manifest["blocks"])
        not_started = sum(block["not_started"] for block in manifest["blocks"])
        self.assertEqual(len(rows) + not_started, scheduled)
        if expected is not None:
            self.assertEqual(len(rows), expected)
        groups = {cell["name"]: cell["groups"] for cell in manifest["cells"]}
        for row in rows:
            self.assertEqual(row["outcome"], "complete", row)
            self.assertEqual(row["boundary"], "decrypted", row)
            self.assertEqual(row["group"], groups[row["cell"]], row)
            self.assertEqual(sum(int(row[layer]) for layer in LAYERS), int(row["total_ns"]), row)
            self.assertEqual(row["status"], "200", row)
        for block in manifest["blocks"]:
            self.assertEqual(block["capture_dropped"], 0, block)
            self.assertGreater(block["capture_packets"], 0, block)
        return manifest, rows

    def start_long(self):
        process = subprocess.Popen(self.command(self.spec(LONG)), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   text=True, stdin=subprocess.DEVNULL)
        self.addCleanup(lambda: (process.poll() is None and process.kill(), process.communicate()))
        wait_for(lambda: len(list(self.out.glob("*/captures/*.pcapng"))) >= 3 or process.poll() is not None, 60,
                 "three blocks have run")
        self.assertIsNone(process.poll(), "the lab ended early")
        return process

    def test_small_lab(self):
        result = self.lab(self.spec(SMALL))
        self.assertEqual(result.stderr, "", "silent in a pipe")
        folder = self.folder_of(result)
        manifest, rows = self.check_rows(folder, expected=120)

        self.assertFalse(manifest["partial"])
        self.assertEqual(manifest["planned_blocks"], 4)
        self.assertEqual([cell["name"] for cell in manifest["cells"]], ["x25519-4KiB", "mlkem1024-4KiB"])
        self.assertEqual([cell["baseline"] for cell in manifest["cells"]], [True, False])
        self.assertEqual([block["order"] for block in manifest["blocks"]], [0, 1, 2, 3])
        for key in ("cpu_model", "cores", "kernel", "governor", "mitigations", "load_average_before"):
            self.assertIn(key, manifest["machine"])
        self.assertTrue(manifest["openssl"].startswith("OpenSSL 3."), manifest["openssl"])
        self.assertRegex(manifest["proxy"]["version"], r"^\d+\.\d+")

        self.assertEqual((folder / "spec.toml").read_text(encoding="utf-8"), SMALL)
        for name in ("client.csv", "resources.csv", "summary.json", "report.html", "report.md"):
            self.assertTrue((folder / name).is_file(), name)
        self.assertTrue(list((folder / "tables").glob("*.tex")))
        self.assertFalse((folder / ".work").exists())
        self.assertEqual(list(folder.rglob("*.tmp")), [])
        self.assertIn("X25519", result.stdout)
        self.assertIn("MLKEM1024", result.stdout)
        for layer in LAYERS:
            self.assertIn(layer.removesuffix("_ns"), result.stdout)

        self.check_client_csv(folder, rows)
        self.check_resources(folder)
        self.check_captures_open_elsewhere(folder, manifest)
        self.check_analyze_gives_the_same(folder)

    def check_client_csv(self, folder, rows):
        clients = read_csv(folder / "client.csv")
        key = lambda row: (row["cell"], row["block"], row["client"], row["server"])
        self.assertEqual(sorted(map(key, clients)), sorted(map(key, rows)))
        captured = {key(row): row for row in rows}
        for row in clients:
            self.assertEqual(row["outcome"], "complete", row)
            # The client cannot see its SYN before it is sent, nor its response before it has come.
            self.assertLess(abs(int(row["start_ns"]) - int(captured[key(row)]["start_ns"])), 1_000_000_000)

    def check_resources(self, folder):
        resources = read_csv(folder / "resources.csv")
        self.assertEqual(len(resources), 4 * 3)
        for row in resources:
            self.assertIn(row["component"], ("client", "proxy", "origin"))
            self.assertGreater(int(row["cpu_user_ns"]) + int(row["cpu_system_ns"]), 0, row)
            self.assertGreater(int(row["wall_ns"]), 300_000_000, row)
            self.assertEqual(row["transactions"], "30", row)
            self.assertGreater(int(row["bytes_received"]), 0, row)
        by_component = {name: [row for row in resources if row["component"] == name] for name in ("client", "origin")}
        for row in by_component["client"]:
            self.assertGreater(int(row["bytes_received"]), 30 * 4096, row)
            self.assertEqual(row["capture_dropped"], "0", row)
        for row in by_component["origin"]:
            self.assertGreater(int(row["bytes_sent"]), 30 * 4096, row)

    def check_captures_open_elsewhere(self, folder, manifest):
        """TShark, given no keys, shows every GET and every 200."""
        tshark = shutil.which("tshark")
        if tshark is None:
            self.assertFalse(IN_CI, "tshark is missing")
            self.skipTest("tshark is missing")
        # An empty home: no preferences of the user's, where key files may be named.
        environment = {"PATH": os.environ["PATH"], "HOME": str(self.scratch)}
        captures = sorted((folder / "captures").glob("*.pcapng"))
        self.assertEqual([str(path.relative_to(folder)) for path in captures],
                         sorted(block["capture"] for block in manifest["blocks"]))
        for path in captures:
            self.assertEqual(path.stat().st_mode & 0o777, 0o600, path)
            shown = subprocess.run([tshark, "-r", str(path), "-Y", "http", "-T", "fields", "-e", "http.request.method",
                                    "-e", "http.response.code"], capture_output=True, text=True, check=True,
                                   env=environment).stdout
            fields = [line.split("\t") for line in shown.splitlines()]
            self.assertEqual(sum(field[0] == "GET" for field in fields), 30, path)
            self.assertEqual(sum(field[-1] == "200" for field in fields), 30, path)

    def check_analyze_gives_the_same(self, folder):
        again = self.scratch / "again.csv"
        for threads in ("1", "2"):
            subprocess.run([ARGUMENTS.tlstrata, "analyze", str(folder), "--threads", threads, "--transactions",
                            str(again)], check=True, capture_output=True)
            self.assertEqual(again.read_bytes(), (folder / "transactions.csv").read_bytes())
        derived = ["summary.json", "report.html", "report.md"]
        before = {name: (folder / name).read_bytes() for name in derived}
        subprocess.run([ARGUMENTS.tlstrata, "report", str(folder)], check=True, capture_output=True)
        for name in derived:
            self.assertEqual((folder / name).read_bytes(), before[name], name)

    def test_json_goes_alone_to_standard_output(self):
        result = self.lab(self.spec(SMALL), "--json", "-", "--seed", "77")
        document = json.loads(result.stdout)
        self.assertEqual(list(document)[:3], ["tool", "version", "command"])
        self.assertEqual([cell["outcomes"]["complete"] for cell in document["cells"]], [60, 60])
        manifest = json.loads((pathlib.Path(document["folder"]) / "manifest.json").read_text(encoding="utf-8"))
        self.assertEqual(manifest["seed"], 77)

    def test_interrupt_ends_cleanly_and_keeps_what_was_measured(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(number=number):
                shutil.rmtree(self.out, ignore_errors=True)
                process = self.start_long()
                process.send_signal(number)
                stdout, stderr = process.communicate(timeout=60)
                self.assertEqual(process.returncode, 1, stderr)
                folder = self.only_folder()
                self.assertEqual(stdout.splitlines()[-1].strip(), str(folder))
                manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
                self.assertTrue(manifest["partial"])
                self.assertGreaterEqual(len(manifest["blocks"]), 3)
                self.assertLess(len(manifest["blocks"]), 400)
                self.assertNotEqual(manifest["ended_utc"], "")
                rows = read_csv(folder / "transactions.csv")
                self.assertEqual(len(rows) + sum(block["not_started"] for block in manifest["blocks"]),
                                 sum(block["scheduled"] for block in manifest["blocks"]))
                self.assertTrue((folder / "report.html").is_file())
                self.assertIn("partial", stderr)
                self.assertFalse((folder / ".work").exists())

    def test_interrupt_before_the_first_block_leaves_no_folder(self):
        spec = self.spec(LONG.replace('"300ms"', '"30s"').replace("rate = 100", "rate = 1"))
        process = subprocess.Popen(self.command(spec), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                   stdin=subprocess.DEVNULL)
        wait_for(lambda: list(self.out.glob("*/.work")), 20, "the lab has begun")
        process.send_signal(signal.SIGINT)
        stdout, stderr = process.communicate(timeout=60)
        self.assertEqual((process.returncode, stdout), (1, ""), stderr)
        self.assertIn("before the first block", stderr)
        self.assertEqual(list(self.out.iterdir()), [])

    def test_kill_leaves_nothing_and_the_next_run_works(self):
        process = self.start_long()
        killed = self.only_folder()
        process.kill()
        process.wait()
        wait_for(lambda: not processes_of(self.scratch), 5, f"no process left: {processes_of(self.scratch)}")
        wait_for(lambda: network_namespaces() <= self.namespaces, 5, "no namespace left")
        self.assertTrue((killed / ".work").is_dir())
        kept = sorted(path.name for path in (killed / "captures").glob("*.pcapng"))
        self.assertGreaterEqual(len(kept), 3)
        bystander = self.out / "mine" / "notes.tmp"
        bystander.parent.mkdir()
        bystander.write_text("precious", encoding="utf-8")

        self.check_rows(self.folder_of(self.lab(self.spec(SMALL))), expected=120)
        self.assertFalse((killed / ".work").exists(), "the keys of the killed run are gone")
        self.assertEqual(list(killed.rglob("*.tmp")), [])
        self.assertEqual(sorted(path.name for path in (killed / "captures").glob("*.pcapng")), kept)
        self.assertTrue(json.loads((killed / "manifest.json").read_text(encoding="utf-8"))["partial"])
        self.assertTrue(bystander.exists())

    def test_two_labs_at_a_time_are_refused(self):
        process = self.start_long()
        second = self.lab(self.spec(SMALL, "second.toml"), expect=3)
        self.assertIn("another lab is running", self.check_one_complaint(second))
        self.assertIn(str(process.pid), second.stderr)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)

    def test_as_an_unprivileged_user(self):
        user = 65534 if os.geteuid() == 0 else os.geteuid()
        as_nobody = ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups"] if os.geteuid() == 0 else []
        if subprocess.run([*as_nobody, "unshare", "--user", "true"], capture_output=True, check=False).returncode != 0:
            self.assertFalse(IN_CI, "user namespaces are not allowed here")
            self.skipTest("user namespaces are not allowed here")
        if os.geteuid() == 0:
            os.chown(self.scratch, user, user)
        spec = self.spec(SMALL)
        aside = tempfile.mkdtemp()
        self.addCleanup(os.rmdir, aside)
        readable = readable_for(user, pathlib.Path(ARGUMENTS.source).resolve(), aside)
        result = subprocess.run([*readable, *as_nobody, *self.command(spec)], capture_output=True, text=True, timeout=120,
                                check=False, stdin=subprocess.DEVNULL, cwd="/")
        self.assertEqual(result.returncode, 0, f"{result.stdout}\n{result.stderr}")
        folder = self.folder_of(result)
        self.check_rows(folder, expected=120)
        self.assertEqual(folder.stat().st_uid, user)

    def test_what_cannot_work_is_one_line(self):
        spec = self.spec(SMALL)
        blocked = self.scratch / "a-file"
        blocked.write_text("", encoding="utf-8")
        cases = [
            ([self.spec(SMALL.replace("rate", "rates"), "key.toml")], {}, ["key.toml:4", "'rates'", "'rate'"]),
            ([self.spec(SMALL.replace("300ms", "300"), "unit.toml")], {}, ["unit.toml:5", "'block'", "unit"]),
            ([self.spec(SMALL.replace("MLKEM1024", "MLKEM1025"), "group.toml")], {}, ["group.toml:2", "'MLKEM1024'"]),
            ([self.scratch / "absent.toml"], {}, ["absent.toml", "No such file"]),
            ([self.scratch], {}, [str(self.scratch)]),
            ([spec, "--out", blocked / "below"], {}, ["a-file", "--out"]),
            ([spec, "--out", "/proc/nowhere"], {}, ["/proc/nowhere", "--out"]),
            ([spec], {"TLSTRATA_NGINX": "/nowhere/nginx"}, ["/nowhere/nginx"]),
        ]
        for arguments, environment, expected in cases:
            with self.subTest(expected=expected):
                result = self.lab(*arguments, expect=3, env={**os.environ, **environment})
                line = self.check_one_complaint(result)
                for part in expected:
                    self.assertIn(part, line)
                self.assertEqual(list(self.out.iterdir()) if self.out.exists() else [], [], "no empty folder is left")

    def test_usage_errors(self):
        for arguments in (["--seed", "minus"], ["--no-such-option"], ["quick", "quick"]):
            result = self.lab(*arguments, expect=2)
            self.check_one_complaint(result)

    def test_disk_full_is_one_line_and_nothing_looks_whole(self):
        self.out.mkdir()
        own_mounts = ["unshare", "--mount"] if os.geteuid() == 0 else ["unshare", "--user", "--map-root-user", "--mount"]
        script = 'mount -t tmpfs -o size=512k tmpfs "$0" && "$@"; code=$?; find "$0" -name "*.tmp" -o -name .work; exit $code'
        result = subprocess.run([*own_mounts, "sh", "-c", script, str(self.out),
                                 *self.command(self.spec(LONG))], capture_output=True, text=True, timeout=120,
                                check=False, stdin=subprocess.DEVNULL)
        self.assertEqual(result.returncode, 3, f"{result.stdout}\n{result.stderr}")
        self.assertIn("No space left", self.check_one_complaint(result))
        self.assertEqual(result.stdout, "")

    def test_lists_and_shows_the_built_in_ones(self):
        listed = self.lab("--list").stdout
        self.assertIn("quick", listed)
        shown = self.lab("--show-spec", "quick").stdout
        self.assertEqual(shown, (pathlib.Path(ARGUMENTS.source) / "specs/quick.toml").read_text(encoding="utf-8"))
        self.assertIn("quick", self.check_one_complaint(self.lab("--show-spec", "quck", expect=3)))
        self.assertFalse(self.out.exists())


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
