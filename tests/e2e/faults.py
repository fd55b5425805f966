#!/usr/bin/env python3
"""Faults of real servers, disks, limits and clocks: what goes on, what ends with a clear error, and that nothing is lost.

In every case scheduled = the sum of outcomes, and what was measured before the fault is kept.
"""

import argparse
import collections
import csv
import json
import os
import pathlib
import re
import resource
import shutil
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
import unittest

import tls_servers

ARGUMENTS = None

SPEC = """name = "faults"
groups = ["X25519"]
responses = ["4KiB"]
rate = 100
block = "500ms"
blocks = 60
[warmup]
transactions = 2
[timeouts]
connect = "500ms"
handshake = "500ms"
response = "500ms"
"""


def wait_for(condition, seconds, what):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():
            return
        time.sleep(0.02)
    raise AssertionError(f"not within {seconds} s: {what}")


def processes(*words):
    """Pids of living processes whose command lines hold all of the words."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        try:
            command = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if all(word in command for word in words):
            found.append(int(entry.name))
    return found


def read_csv(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


class FaultsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(ARGUMENTS.scratch)
        shutil.rmtree(cls.folder, ignore_errors=True)
        cls.folder.mkdir(parents=True)
        cls.openssl = tls_servers.OpenSsl(ARGUMENTS.source)
        cls.certificates = tls_servers.Certificates(cls.openssl, cls.folder)

    def setUp(self):
        self.scratch = self.folder / self.id().rsplit(".", maxsplit=1)[-1]
        self.scratch.mkdir()

    # --- the lab ---

    def start_lab(self, spec=SPEC, out=None, prefix=()):
        path = self.scratch / "spec.toml"
        path.write_text(spec, encoding="ascii")
        self.out = out or self.scratch / "results"
        process = subprocess.Popen([*prefix, ARGUMENTS.tlstrata, "lab", str(path), "--out", str(self.out)],
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(lambda: (process.poll() is None and process.kill(), process.communicate()))
        return process

    def wait_for_blocks(self, process, count):
        wait_for(lambda: len(list(self.out.glob("*/captures/*.pcapng"))) >= count or process.poll() is not None, 60,
                 f"{count} blocks have run")
        self.assertIsNone(process.poll(), "the lab ended early")

    def end_of(self, process, code):
        output, error = process.communicate(timeout=120)
        self.assertEqual(process.returncode, code, output + error)
        return output, error

    def check_kept(self, least):
        """What is in the folder adds up; returns rows and blocks."""
        folder = next(self.out.iterdir())
        manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
        self.assertGreaterEqual(len(manifest["blocks"]), least)
        again = self.scratch / "again.csv"
        subprocess.run([ARGUMENTS.tlstrata, "analyze", str(folder), "--transactions", str(again)], check=True,
                       capture_output=True)
        rows = read_csv(again)
        scheduled = sum(block["scheduled"] for block in manifest["blocks"])
        not_started = sum(block["not_started"] for block in manifest["blocks"])
        self.assertEqual(len(rows) + not_started, scheduled)
        return rows, manifest

    def test_proxy_killed_in_mid_run(self):
        process = self.start_lab()
        self.wait_for_blocks(process, 3)
        for pid in processes("nginx: master", str(self.scratch)) or processes("nginx", str(self.scratch)):
            os.kill(pid, signal.SIGKILL)
        _, error = self.end_of(process, 3)
        self.assertRegex(error.splitlines()[-1], r"^tlstrata: nginx ended in mid-run")
        self.assertIn("are kept in", error)
        rows, manifest = self.check_kept(3)
        self.assertTrue(manifest["partial"])
        self.assertEqual({row["outcome"] for row in rows}, {"complete"})

    def test_origin_frozen(self):
        process = self.start_lab(SPEC.replace("blocks = 60", "blocks = 12"))
        self.wait_for_blocks(process, 3)
        pid, = processes("serve origin", str(self.out)) or processes("serve origin", "10.203.2.2:8080")
        os.kill(pid, signal.SIGSTOP)
        self.wait_for_blocks(process, 6)
        os.kill(pid, signal.SIGCONT)
        output, _ = self.end_of(process, 1)
        self.assertIn("no_response", output)
        rows, manifest = self.check_kept(12)
        self.assertFalse(manifest["partial"])
        outcomes = collections.Counter(row["outcome"] for row in rows)
        self.assertGreater(outcomes["no_response"], 50)
        self.assertGreater(outcomes["complete"], 150)
        self.assertEqual(rows[-1]["outcome"], "complete", "it serves again")

    def test_disk_full(self):
        mount = self.scratch / "disk"
        mount.mkdir()
        # A mount namespace of its own: the small file system goes with the lab.
        prefix = ["unshare", "--mount", "sh", "-c", 'mount -t tmpfs -o size=3m none "$1" && shift && "$@"; code=$?; '
                  f'cp -a "{mount}/." "{self.scratch}/results"; exit $code', "sh", str(mount)]
        (self.scratch / "results").mkdir()
        process = self.start_lab(out=mount, prefix=prefix)
        output, error = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 3, output + error)
        self.assertIn("No space left on device", error)
        self.assertEqual(len(error.splitlines()), 1, error)
        self.out = self.scratch / "results"
        rows, _ = self.check_kept(1)
        self.assertEqual({row["outcome"] for row in rows}, {"complete"})

    # --- the client alone ---

    def load(self, url, *arguments, expect, prefix=(), limits=()):
        json_file = self.scratch / "load.json"
        csv_file = self.scratch / "load.csv"

        def set_limits():
            for what, most in limits:
                resource.setrlimit(what, (most, most))
        result = subprocess.run([*prefix, ARGUMENTS.tlstrata, "load", url, "--ca", self.certificates.authority, "--groups",
                                 "X25519", "--json", str(json_file), "--transactions", str(csv_file), *arguments],
                                capture_output=True, text=True, check=False, timeout=120, preexec_fn=set_limits)
        self.assertEqual(result.returncode, expect, result.stdout + result.stderr)
        document = json.loads(json_file.read_text(encoding="utf-8"))
        self.assertEqual(sum(document["outcomes"].values()), document["scheduled"])
        rows = read_csv(csv_file)
        self.assertEqual(len(rows), document["scheduled"])
        self.assertEqual(collections.Counter(row["outcome"] for row in rows),
                         {name: count for name, count in document["outcomes"].items() if count})
        return document, result

    def server(self, *arguments, prefix=()):
        process = subprocess.Popen([*prefix, ARGUMENTS.tlstrata, "serve", *arguments, "--certificate",
                                    self.certificates.certificate, "--key", self.certificates.key], stdout=subprocess.PIPE,
                                   text=True)
        self.addCleanup(lambda: (process.kill(), process.communicate()))
        return process, process.stdout.readline().removeprefix("listening on ").strip()

    def test_a_tenth_of_the_connections_reset(self):
        _, origin = self.server("origin", "--listen", "127.0.0.1:0")
        count = 0

        def relay(connection):
            """To the real server, but every tenth connection is reset after its ClientHello."""
            nonlocal count
            count += 1
            if count % 10 == 0:
                connection.recv(4096)
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                connection.close()
                return
            host, port = origin.rsplit(":", maxsplit=1)
            with socket.create_connection((host, int(port))) as upstream:
                def copy(source, sink):
                    try:
                        while data := source.recv(65536):
                            sink.sendall(data)
                        sink.shutdown(socket.SHUT_WR)
                    except OSError:
                        pass
                back = threading.Thread(target=copy, args=(upstream, connection), daemon=True)
                back.start()
                copy(connection, upstream)
                back.join()
            connection.close()
        listener = socket.create_server(("127.0.0.1", 0), backlog=256)
        self.addCleanup(listener.close)

        def accept():
            while True:
                try:
                    connection, _ = listener.accept()
                except OSError:
                    return
                threading.Thread(target=relay, args=(connection,), daemon=True).start()
        threading.Thread(target=accept, daemon=True).start()
        url = f"https://127.0.0.1:{listener.getsockname()[1]}/4KiB"
        document, _ = self.load(url, "--rate", "100", "--duration", "2s", expect=1)
        self.assertEqual(document["outcomes"]["reset"], 20)
        self.assertEqual(document["outcomes"]["complete"], 180)

    def test_accept_queue_full(self):
        with socket.socket() as listener:
            listener.bind(("127.0.0.1", 0))
            listener.listen(4)  # and nobody accepts
            url = f"https://127.0.0.1:{listener.getsockname()[1]}/"
            document, _ = self.load(url, "--rate", "50", "--duration", "1s", "--connect-timeout", "500ms",
                                    "--handshake-timeout", "500ms", expect=1)
        # Linux takes one more than asked for; what waits in the queue has a TCP connection and no TLS.
        self.assertEqual(document["outcomes"]["handshake_incomplete"], 5)
        self.assertEqual(document["outcomes"]["tcp_timeout"], 45)

    def test_key_log_full(self):
        _, address = self.server("origin", "--listen", "127.0.0.1:0")
        keys = self.scratch / "small"
        keys.mkdir()
        prefix = ["unshare", "--mount", "sh", "-c", f'mount -t tmpfs -o size=16k none "{keys}" && exec "$@"', "sh"]
        document, result = self.load(f"https://{address}/4KiB", "--rate", "100", "--duration", "1s", "--keylog",
                                     str(keys / "keys.txt"), expect=3, prefix=prefix)
        self.assertEqual(document["outcomes"]["complete"], 100)
        self.assertIn("cannot write the key log", result.stderr)
        self.assertIn("No space left on device", result.stderr)

    def test_out_of_descriptors(self):
        _, address = self.server("origin", "--listen", "127.0.0.1:0")
        document, _ = self.load(f"https://{address}/4KiB?delay=2s", "--rate", "100", "--duration", "1s", expect=1,
                                limits=[(resource.RLIMIT_NOFILE, 40)])
        self.assertGreater(document["outcomes"]["not_started"], 50)
        self.assertGreater(document["outcomes"]["complete"], 20)

    def test_out_of_ports(self):
        _, address = self.server("origin", "--listen", "127.0.0.1:18443",
                                 prefix=["unshare", "--net", "sh", "-c", 'ip link set lo up && exec "$@"', "sh"])
        pid, = processes("serve origin --listen 127.0.0.1:18443")
        inside = ["nsenter", f"--net=/proc/{pid}/ns/net", "sh", "-c",
                  'echo 40000 40029 >/proc/sys/net/ipv4/ip_local_port_range && exec "$@"', "sh"]
        document, _ = self.load(f"https://{address}/4KiB?delay=2s", "--rate", "100", "--duration", "1s", expect=1,
                                prefix=inside)
        self.assertGreaterEqual(document["outcomes"]["not_started"], 70)
        self.assertGreaterEqual(document["outcomes"]["complete"], 25)

    def test_clock_stepped_in_mid_capture(self):
        """A clock that is set back while packets are stamped: absent intervals, no negative and no dropped ones."""
        process = self.start_lab(SPEC.replace("blocks = 60", "blocks = 1"))
        self.end_of(process, 0)
        folder = next(self.out.iterdir())
        capture = next((folder / "captures").glob("*.pcapng"))
        packets = int(re.search(r"Number of packets\s*[:=]\s*(\d+)", subprocess.run(
            ["capinfos", "-M", "-c", capture], capture_output=True, text=True, check=True).stdout)[1])
        half = packets // 2
        first, second, stepped, whole = (self.scratch / name for name in ("1.pcapng", "2.pcapng", "s.pcapng", "w.pcapng"))
        subprocess.run(["editcap", "-r", capture, first, f"1-{half}"], check=True, capture_output=True)
        subprocess.run(["editcap", "-r", capture, second, f"{half + 1}-{packets}"], check=True, capture_output=True)
        subprocess.run(["editcap", "-t", "-5", second, stepped], check=True, capture_output=True)
        subprocess.run(["mergecap", "-a", "-w", whole, first, stepped], check=True, capture_output=True)
        table = self.scratch / "stepped.csv"
        subprocess.run([ARGUMENTS.tlstrata, "analyze", str(whole), "--transactions", str(table)], check=True,
                       capture_output=True)
        rows = read_csv(table)
        self.assertEqual(len(rows), 50)
        for row in rows:
            for layer in ("tcp_handshake_ns", "tcp_to_tls_ns", "tls_handshake_ns", "tls_to_app_ns", "app_response_ns"):
                self.assertFalse(row[layer].startswith("-"), row)


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
