#!/usr/bin/env python3
"""`tlstrata serve` against curl and `openssl s_client`: delays, TLS on either side, keep-alive, upstreams that fail."""

import argparse
import contextlib
import pathlib
import shutil
import socket
import subprocess
import sys
import threading
import time
import unittest

import tls_servers

ARGUMENTS = None


@contextlib.contextmanager
def server(*arguments):
    """A `tlstrata serve ...` on a free port of loopback; yields its address."""
    process = subprocess.Popen([ARGUMENTS.tlstrata, "serve", *arguments, "--listen", "127.0.0.1:0"], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)
    try:
        line = process.stdout.readline()
        if not line.startswith("listening on "):
            raise AssertionError(process.stderr.read())
        yield line.removeprefix("listening on ").strip()
    finally:
        process.terminate()
        process.wait(timeout=20)
        process.stdout.close()
        process.stderr.close()


def port_of(address):
    return int(address.rsplit(":", maxsplit=1)[1])


class ServeTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(ARGUMENTS.scratch)
        shutil.rmtree(cls.folder, ignore_errors=True)
        cls.folder.mkdir(parents=True)
        cls.openssl = tls_servers.OpenSsl(ARGUMENTS.source)
        cls.certificates = tls_servers.Certificates(cls.openssl, cls.folder)

    def tls(self, groups="X25519MLKEM768:X25519:MLKEM1024"):
        return ["--certificate", self.certificates.certificate, "--key", self.certificates.key, "--groups", groups]

    def curl(self, *arguments):
        return subprocess.run(["curl", "--silent", "--show-error", "--max-time", "30", "--cacert",
                               self.certificates.authority, *arguments], capture_output=True, check=True).stdout

    def temporary_key(self, address, group):
        result = subprocess.run([self.openssl.program, "s_client", "-connect", address, "-groups", group, "-CAfile",
                                 self.certificates.authority, "-verify_return_error", "-nocommands"],
                                env=self.openssl.environment, input="", capture_output=True, text=True, check=False)
        lines = [line for line in result.stdout.splitlines() if "group:" in line or "Temp Key" in line]
        return lines[0] if lines and result.returncode == 0 else result.stderr

    def test_origin_holds_answers_back_and_says_for_how_long(self):
        log = self.folder / "delays.csv"
        with server("origin", "--delays", str(log)) as address:
            took = []
            for path in ("/4KiB", "/4KiB?delay=30ms", "/4KiB?a=b&delay=30ms"):
                start = time.monotonic()
                self.assertEqual(len(self.curl(f"http://{address}{path}")), 4096)
                took.append(time.monotonic() - start)
            self.assertEqual(self.curl("-o", "/dev/null", "-w", "%{http_code}", f"http://{address}/1?delay=soon"), b"404")
        self.assertGreaterEqual(took[1], 0.030)
        self.assertGreaterEqual(took[2], 0.030)
        # That the first was not held back is what the log says: on a busy machine it may take as long.
        rows = [[int(field) for field in line.split(",")] for line in log.read_text(encoding="ascii").splitlines()]
        self.assertEqual(len(rows), 2)
        for (received_ns, delay_ns), seconds in zip(rows, took[1:]):
            self.assertLess(abs(received_ns / 1e9 - time.time()), 60)
            self.assertTrue(0.030 <= delay_ns / 1e9 <= seconds, (delay_ns, seconds))

    def test_origin_serves_tls(self):
        with server("origin", *self.tls()) as address:
            body = self.curl(f"https://{address}/1MB", f"https://{address}/5")
            self.assertEqual(len(body), 1_000_005)
            self.assertIn("MLKEM1024", self.temporary_key(address, "MLKEM1024"))

    def test_proxy_relays_bodies_of_all_sizes(self):
        with server("origin") as origin, server("proxy", "--upstream", origin, *self.tls()) as address:
            for size in (0, 1, 4096, 16384, 65536, 3_000_000):
                self.assertEqual(self.curl(f"https://{address}/{size}"), self.curl(f"http://{origin}/{size}"), size)
            # Three requests, one connection.
            shown = self.curl("-o", "/dev/null", "-o", "/dev/null", "-o", "/dev/null", "-w", "%{num_connects}",
                              *[f"https://{address}/{size}" for size in (1, 2, 3)])
            self.assertEqual(shown, b"100")
            head = self.curl("--head", f"https://{address}/4KiB").decode()
            self.assertIn("Content-Length: 4096", head)
            self.assertEqual(self.curl("-o", "/dev/null", "-w", "%{http_code}", "-d", "x=y", f"https://{address}/4KiB"),
                             b"405")
            self.assertEqual(self.curl("-o", "/dev/null", "-w", "%{http_code}", f"https://{address}/nothing"), b"404")
            self.assertEqual(len(self.curl("--http1.0", f"https://{address}/4KiB")), 4096)
            # A body that a GET brings is not forwarded, and does not become the next request.
            for _ in range(3):
                self.assertEqual(len(self.curl("-X", "GET", "-d", "GET /1 HTTP/1.1", f"https://{address}/4KiB")), 4096)
                self.assertEqual(len(self.curl(f"https://{address}/5")), 5)

    def test_proxy_selects_the_groups_that_it_was_given(self):
        with server("origin") as origin, server("proxy", "--upstream", origin, *self.tls("MLKEM768:X25519")) as address:
            self.assertIn("MLKEM768", self.temporary_key(address, "MLKEM768"))
            self.assertIn("X25519", self.temporary_key(address, "X25519"))
            self.assertIn("handshake failure", self.temporary_key(address, "MLKEM1024"))

    def test_proxy_reencrypts(self):
        with server("origin", *self.tls("MLKEM1024")) as origin:
            upstream = ["--upstream", origin, "--upstream-tls", "--upstream-ca", self.certificates.authority]
            with server("proxy", *upstream, "--upstream-groups", "MLKEM1024", *self.tls("X25519")) as address:
                self.assertEqual(len(self.curl(f"https://{address}/1MB", f"https://{address}/4KiB")), 1_004_096)
            with server("proxy", *upstream, "--upstream-groups", "MLKEM1024", "--upstream-keep", "0",
                        *self.tls("X25519")) as address:
                self.assertEqual(len(self.curl(f"https://{address}/40KiB", f"https://{address}/4KiB")), 45056)
            # No group in common with the origin.
            with server("proxy", *upstream, "--upstream-groups", "X25519", *self.tls("X25519")) as address:
                self.assertEqual(self.curl("-w", "%{http_code}", f"https://{address}/4KiB"), b"502")

    def test_proxy_answers_direct_itself(self):
        with server("proxy", "--upstream", f"127.0.0.1:{tls_servers.free_port()}", *self.tls()) as address:
            self.assertEqual(self.curl("-w", "%{http_code} %{size_download}", f"https://{address}/direct"), b"200 0")
            self.assertEqual(self.curl("-w", "%{http_code}", f"https://{address}/4KiB"), b"502")

    def test_proxy_outlives_upstreams_that_misbehave(self):
        answers = [b"", b"no http\r\n\r\n", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
                   b"HTTP/1.1 200 OK\r\n\r\nuntil the end"]
        with socket.create_server(("127.0.0.1", 0)) as listener:
            def serve():
                for answer in answers:
                    connection, _ = listener.accept()
                    connection.recv(4096)
                    connection.sendall(answer)
                    connection.close()
            thread = threading.Thread(target=serve)
            thread.start()
            with server("proxy", "--upstream", f"127.0.0.1:{listener.getsockname()[1]}", *self.tls()) as address:
                for expected in (b"502", b"502", b"502", b"until the end200"):
                    self.assertEqual(self.curl("-w", "%{http_code}", f"https://{address}/1"), expected)
            thread.join()

    def test_proxy_tries_a_closed_idle_connection_anew(self):
        with server("proxy", "--upstream", f"127.0.0.1:{(port := tls_servers.free_port())}", *self.tls()) as address:
            for _ in range(2):
                with socket.create_server(("127.0.0.1", port), reuse_port=False) as listener:
                    def serve(listener=listener):
                        connection, _ = listener.accept()
                        connection.recv(4096)
                        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
                        connection.close()
                    thread = threading.Thread(target=serve)
                    thread.start()
                    self.assertEqual(self.curl(f"https://{address}/1"), b"ok")
                    thread.join()

    def test_wrong_options_are_explained(self):
        for arguments, word in ((["--upstream", "127.0.0.1:1", "--certificate", "/no/such"], "--key"),
                                (["--upstream", "127.0.0.1:1", *self.tls("NOSUCH")], "NOSUCH"),
                                (["--upstream", "nowhere"], "nowhere")):
            result = subprocess.run([ARGUMENTS.tlstrata, "serve", "proxy", *arguments], capture_output=True, text=True,
                                    check=False, timeout=20)
            self.assertEqual(result.returncode, 2, result.stderr)
            self.assertIn(word, result.stderr)


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
