#!/usr/bin/env python3
"""Drives `tlstrata load` and `tlstrata serve` against real servers, good and bad, and reads what they write."""

import argparse
import csv
import http.client
import json
import os
import pathlib
import pty
import shutil
import signal
import socket
import ssl
import stat
import subprocess
import sys
import threading
import unittest

import tls_servers

ARGUMENTS = None
OPENSSL = None
CERTIFICATES = None

COLUMNS = ("cell,block,client,server,start_ns,request,scheduled_ns,start_delay_ns,tcp_handshake_ns,tls_handshake_ns,"
           "request_send_ns,app_response_ns,total_ns,outcome,group,status,mode,resumed,early_data,woken_at_ns,hello_at_ns,"
           "finished_at_ns,request_at_ns,response_woken_at_ns,last_byte_ns,tcp_to_tls_ns,hello_queue_ns,key_generation_ns,"
           "key_generation_shares_ns,hello_cpu_ns,hello_preempted_ns,hello_write_ns,key_agreement_ns,chain_ns,signature_ns,signing_ns,"
           "handshake_cpu_ns,handshake_preempted_ns,handshake_queue_ns,handshake_wait_ns").split(",")
RESPONSE = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"


def run(*arguments, **options):
    options.setdefault("timeout", 120)
    return subprocess.run([ARGUMENTS.tlstrata, *arguments], capture_output=True, text=True, check=False, **options)


class Run:
    """One `tlstrata load` with JSON and CSV, and what became of it."""

    def __init__(self, url, *arguments, scratch, ca=True):
        self.csv_path = scratch / "client.csv"
        trust = ["--ca", CERTIFICATES.authority] if ca else []
        defaults = [word for option, value in (("--rate", "200"), ("--count", "10")) if option not in arguments
                    for word in (option, value)]
        self.process = run("load", url, *trust, *defaults, "--json", "-", "--transactions", str(self.csv_path),
                           *arguments)
        self.code = self.process.returncode
        if self.code not in (0, 1):
            raise AssertionError(f"exit code {self.code}: {self.process.stderr}")
        self.json = json.loads(self.process.stdout)
        with open(self.csv_path, newline="", encoding="utf-8") as file:
            self.rows = list(csv.DictReader(file))

    def outcomes(self):
        return {name: count for name, count in self.json["outcomes"].items() if count}

    def reasons(self):
        return [failure["reason"] for failure in self.json["failures"]]


class Case(unittest.TestCase):
    def setUp(self):
        self.scratch = pathlib.Path(ARGUMENTS.scratch) / self.id().rsplit(".", maxsplit=1)[-1]
        shutil.rmtree(self.scratch, ignore_errors=True)
        self.scratch.mkdir(parents=True)

    def load(self, url, *arguments, **options):
        return Run(url, *arguments, scratch=self.scratch, **options)

    def expect_outcome(self, result, outcome, reason=None):
        self.assertEqual(result.outcomes(), {outcome: result.json["scheduled"]}, result.reasons())
        self.assertEqual({row["outcome"] for row in result.rows}, {outcome})
        self.assertEqual(result.code, 1)
        self.assertTrue(result.process.stderr.startswith("tlstrata: "), result.process.stderr)
        self.assertEqual(result.process.stderr.count("\n"), 1)
        if reason is not None:
            self.assertTrue(all(reason in text for text in result.reasons()), result.reasons())


class GroupsTest(Case):
    def test_each_group_is_selected_and_verified(self):
        with tls_servers.s_server(OPENSSL, CERTIFICATES, "-groups", "X25519:X25519MLKEM768:MLKEM1024") as port:
            for group in ("X25519", "X25519MLKEM768", "MLKEM1024"):
                result = self.load(f"https://localhost:{port}/", "--groups", group.lower())
                self.assertEqual(result.code, 0, result.process.stderr)
                self.assertEqual(result.outcomes(), {"complete": 10})
                self.assertEqual(result.json["groups"], {group: 10})
                self.assertEqual({row["group"] for row in result.rows}, {group})

    def test_a_share_that_the_server_does_not_want_is_asked_for_again(self):
        with tls_servers.s_server(OPENSSL, CERTIFICATES, "-groups", "X25519MLKEM768") as port:
            result = self.load(f"https://localhost:{port}/", "--groups", "X25519MLKEM768:X25519", "--key-shares", "X25519")
        self.assertEqual(result.code, 0, result.process.stderr)
        self.assertEqual(result.json["groups"], {"X25519MLKEM768": 10})
        self.assertEqual(result.json["configurations"][0]["key_shares"], ["X25519"])

    def test_a_mix_keeps_its_weights(self):
        with tls_servers.s_server(OPENSSL, CERTIFICATES) as port:
            result = self.load(f"https://localhost:{port}/", "--groups", "X25519,X25519MLKEM768=3", "--count", "40")
        self.assertEqual(result.code, 0, result.process.stderr)
        self.assertEqual(result.json["groups"], {"X25519": 10, "X25519MLKEM768": 30})
        self.assertEqual([c["scheduled"] for c in result.json["configurations"]], [10, 30])

    def test_a_server_without_the_group_is_an_alert(self):
        with tls_servers.s_server(OPENSSL, CERTIFICATES, "-groups", "X25519") as port:
            result = self.load(f"https://localhost:{port}/", "--groups", "MLKEM1024")
        self.expect_outcome(result, "tls_alert", "alert handshake_failure")

    # What goes over the wire, read by a parser that is not ours.
    def hello(self, *arguments, host="localhost"):
        hellos = []
        with tls_servers.ScriptedServer(lambda c: hellos.append(tls_servers.receive_client_hello(c))) as server:
            self.load(f"https://{host}:{server.port}/", "--count", "1", *arguments)
        # A name of several addresses is tried by a connection without a byte.
        return tls_servers.ClientHello(next(hello for hello in hellos if hello))

    def test_the_hello_offers_and_shares_what_was_asked(self):
        hello = self.hello("--groups", "X25519MLKEM768:X25519:secp256r1")
        self.assertEqual(hello.groups, [0x11EC, 0x1D, 0x17])
        self.assertEqual(hello.key_shares, [0x11EC])
        self.assertEqual(hello.versions, [0x0304])
        self.assertEqual(hello.server_name, "localhost")
        self.assertEqual(hello.alpn, b"\x08http/1.1")
        self.assertNotIn(41, hello.extensions, "no pre_shared_key: every handshake is a full one")
        hello = self.hello("--groups", "X25519MLKEM768:X25519:secp256r1", "--key-shares", "P-256:X25519MLKEM768")
        self.assertEqual(hello.key_shares, [0x11EC, 0x17])
        hello = self.hello("--groups", "MLKEM512", host="127.0.0.1")
        self.assertEqual((hello.groups, hello.key_shares), ([0x0200], [0x0200]))
        self.assertIsNone(hello.server_name, "an address is no server name")


class TrustTest(Case):
    def test_the_authority_decides(self):
        with tls_servers.s_server(OPENSSL, CERTIFICATES) as port:
            url = f"https://localhost:{port}/"
            self.expect_outcome(self.load(url, ca=False), "tls_alert", "certificate verify failed: unable to get local")
            self.assertEqual(self.load(url, "--verify", "off", ca=False).code, 0)
            self.assertEqual(self.load(f"https://127.0.0.1:{port}/").code, 0)

    def test_the_host_name_decides(self):
        with tls_servers.s_server(OPENSSL, CERTIFICATES, host="127.0.0.9") as port:
            result = self.load(f"https://127.0.0.9:{port}/")
            self.expect_outcome(result, "tls_alert", "IP address mismatch")

    def test_ipv6(self):
        try:
            tls_servers.free_port(socket.AF_INET6)
        except OSError:
            self.skipTest("this machine has no IPv6")
        with tls_servers.s_server(OPENSSL, CERTIFICATES, host="::1") as port:
            result = self.load(f"https://[::1]:{port}/")
        self.assertEqual(result.code, 0, result.process.stderr)
        self.assertTrue(all(row["server"] == f"[::1]:{port}" and row["client"].startswith("[::1]:")
                            for row in result.rows))


class BadServersTest(Case):
    def respond(self, respond, *arguments, **options):
        with tls_servers.TlsServer(CERTIFICATES, respond, **options) as server:
            return self.load(f"https://localhost:{server.port}/", "--groups", "X25519", *arguments)

    def send(self, data, orderly=True):
        def respond(tls):
            tls.sendall(data)
            return orderly
        return respond

    def test_well_formed_responses_of_each_framing(self):
        for data in (RESPONSE,
                     b"HTTP/1.0 200 ok\r\n\r\nhello to the end",
                     b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
                     b"HTTP/1.1 103 Early Hints\r\n\r\n" + RESPONSE,
                     b"HTTP/1.1 204 No Content\r\n\r\n"):
            result = self.respond(self.send(data))
            self.assertEqual((result.code, result.outcomes()), (0, {"complete": 10}), (data, result.reasons()))

    def test_an_http_error_is_complete_and_a_failure(self):
        result = self.respond(self.send(b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n"))
        self.assertEqual(result.outcomes(), {"complete": 10})
        self.assertEqual((result.json["http_errors"], result.json["failed"], result.code), (10, 10, 1))
        self.assertEqual({row["status"] for row in result.rows}, {"503"})
        self.assertEqual(self.respond(self.send(b"HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n"),
                                      "--max-failures", "10").code, 0)

    def test_responses_that_end_too_early(self):
        self.expect_outcome(self.respond(self.send(RESPONSE[:-1])), "truncated")
        # Without a close_notify anybody could have cut it.
        self.expect_outcome(self.respond(self.send(b"HTTP/1.1 200 OK\r\n\r\nhel", orderly=False)), "truncated")
        self.expect_outcome(self.respond(lambda tls: True), "no_response")
        self.expect_outcome(self.respond(lambda tls: False), "no_response")
        self.expect_outcome(self.respond(tls_servers.reset), "reset")

    def test_what_is_no_response(self):
        self.expect_outcome(self.respond(self.send(b"SSH-2.0-OpenSSH_9.2\r\n")), "no_response")

    def test_a_server_that_never_answers_times_out(self):
        done = threading.Event()
        result = self.respond(lambda tls: done.wait(tls_servers.PATIENCE_S), "--response-timeout", "200ms")
        done.set()
        self.expect_outcome(result, "no_response", "timed out")
        for row in result.rows:
            self.assertEqual((row["request"], row["app_response_ns"], row["total_ns"]), ("1", "", ""))

    def test_a_body_that_never_ends_times_out(self):
        done = threading.Event()

        def respond(tls):
            tls.sendall(RESPONSE[:-2])
            done.wait(tls_servers.PATIENCE_S)
        result = self.respond(respond, "--response-timeout", "200ms")
        done.set()
        self.expect_outcome(result, "truncated", "timed out")

    def test_a_server_that_keeps_the_connection_open_is_closed(self):
        closed = threading.Event()

        def respond(tls):
            tls.sendall(RESPONSE)
            if tls.recv(1) == b"":  # the client's close_notify
                closed.set()
        result = self.respond(respond, "--count", "1")
        self.assertEqual(result.outcomes(), {"complete": 1})
        self.assertTrue(closed.wait(tls_servers.PATIENCE_S))

    def test_tls_1_2_is_not_spoken(self):
        result = self.respond(self.send(RESPONSE), maximum_version=ssl.TLSVersion.TLSv1_2)
        self.expect_outcome(result, "tls_alert", "alert protocol_version")

    def test_a_certificate_that_is_asked_for_comes_not(self):
        with tls_servers.s_server(OPENSSL, CERTIFICATES, "-Verify", "1") as port:
            self.expect_outcome(self.load(f"https://localhost:{port}/"), "no_response", "alert certificate_required")

    def test_refused_and_resolvable_is_said_clearly(self):
        result = self.load(f"https://127.0.0.1:{tls_servers.free_port()}/")
        self.expect_outcome(result, "refused")
        self.assertIn("every connection was refused", result.process.stderr)

    def test_nothing_is_lost_when_all_kinds_come_together(self):
        turns = iter(range(1000))

        def treat(tls):
            turn = next(turns) % 3
            if turn == 0:
                tls.sendall(RESPONSE)
                return True
            if turn == 1:
                tls_servers.reset(tls)
            return False
        result = self.respond(treat, "--count", "60")
        self.assertEqual(sum(result.outcomes().values()), 60)
        self.assertEqual(result.outcomes(), {"complete": 20, "reset": 20, "no_response": 20})
        self.assertEqual(len(result.rows), 60)


class OutputTest(Case):
    def test_csv_and_json(self):
        with tls_servers.s_server(OPENSSL, CERTIFICATES) as port:
            result = self.load(f"https://localhost:{port}/", "--cell", "a-b", "--block", "3", "--count", "50",
                               "--rate", "500", "--warmup", "3")
        with open(result.csv_path, newline="", encoding="utf-8") as file:
            self.assertEqual(next(csv.reader(file)), COLUMNS)
        self.assertEqual(len(result.rows), 50)
        scheduled = [int(row["scheduled_ns"]) for row in result.rows]
        gaps = [after - before for before, after in zip(scheduled, scheduled[1:])]
        self.assertEqual(scheduled, sorted(scheduled))
        # The two clocks are read one after the other, so a gap of 2 ms is met to some microseconds.
        self.assertAlmostEqual(sorted(gaps)[len(gaps) // 2], 2_000_000, delta=20_000)
        for row in result.rows:
            self.assertEqual((row["cell"], row["block"], row["request"]), ("a-b", "3", "1"))
            self.assertEqual(int(row["start_ns"]), int(row["scheduled_ns"]) + int(row["start_delay_ns"]))
            parts = ["tcp_handshake_ns", "tcp_to_tls_ns", "tls_handshake_ns", "request_send_ns", "app_response_ns"]
            self.assertEqual(sum(int(row[part]) for part in parts), int(row["total_ns"]))
            self.assertGreaterEqual(int(row["start_delay_ns"]), 0)
        self.assertEqual(len({(row["client"], row["server"]) for row in result.rows}), 50)
        document = result.json
        self.assertEqual(list(document)[:3], ["tool", "version", "command"])
        self.assertEqual((document["tool"], document["command"]), ("tlstrata", "load"))
        self.assertEqual(sum(document["outcomes"].values()), document["scheduled"])
        self.assertEqual(document["warmup"], {"transactions": 3, "failures": []})
        layers = document["layers"]
        totals = sorted(int(row["total_ns"]) for row in result.rows)
        self.assertEqual(layers["total"]["n"], 50)
        self.assertEqual(layers["total"]["p50_ns"], (totals[24] + totals[25] + 1) // 2)
        self.assertEqual((layers["total"]["min_ns"], layers["total"]["max_ns"]), (totals[0], totals[-1]))
        self.assertIsNone(layers["total"]["p999_ns"], "50 are too few")
        self.assertGreater(document["cpu"]["user_ns_per_transaction"] + document["cpu"]["system_ns_per_transaction"], 0)

    def test_a_pipe_gets_the_table_and_no_progress(self):
        with tls_servers.s_server(OPENSSL, CERTIFICATES) as port:
            result = run("load", f"https://localhost:{port}/", "--ca", CERTIFICATES.authority, "--count", "5")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertIn("5 scheduled: 5 complete", result.stdout)
        self.assertIn("tls_handshake", result.stdout)

    def test_a_terminal_gets_progress(self):
        controller, terminal = pty.openpty()
        with tls_servers.s_server(OPENSSL, CERTIFICATES) as port:
            result = subprocess.run([ARGUMENTS.tlstrata, "load", f"https://localhost:{port}/", "--ca",
                                     CERTIFICATES.authority, "--rate", "20", "--count", "20"], stderr=terminal,
                                    stdout=subprocess.PIPE, check=False, timeout=120)
        os.close(terminal)
        self.assertEqual(result.returncode, 0)
        self.assertRegex(os.read(controller, 65536).decode(), r"\r\x1b\[K\d+ of 20 ended, \d+/s, \d+ in flight")
        os.close(controller)

    def test_the_key_log_is_private_whole_and_appended_to(self):
        log = self.scratch / "keys"
        with tls_servers.s_server(OPENSSL, CERTIFICATES) as port:
            for _ in range(2):
                self.load(f"https://localhost:{port}/", "--keylog", str(log), "--threads", "2")
        self.assertEqual(stat.S_IMODE(log.stat().st_mode), 0o600)
        lines = log.read_text(encoding="ascii").splitlines()
        labels = {}
        for line in lines:
            self.assertRegex(line, r"^[A-Z0-9_]+ [0-9a-f]{64} [0-9a-f]{64,96}$")
            label, random, _ = line.split()
            labels.setdefault(label, set()).add(random)
        for label in ("CLIENT_HANDSHAKE_TRAFFIC_SECRET", "SERVER_HANDSHAKE_TRAFFIC_SECRET", "CLIENT_TRAFFIC_SECRET_0",
                      "SERVER_TRAFFIC_SECRET_0"):
            self.assertEqual(len(labels[label]), 20, label)

    def test_unwritable_outputs_are_errors_before_the_start(self):
        connections = []
        with tls_servers.ScriptedServer(connections.append) as server:
            url = f"https://127.0.0.1:{server.port}/"
            for arguments in (["--transactions", "/nonexistent/x"], ["--json", "/nonexistent/x"],
                              ["--keylog", "/nonexistent/x"], ["--transactions", str(self.scratch)]):
                result = run("load", url, "--verify", "off", "--count", "1", *arguments)
                self.assertEqual(result.returncode, 3, result.stderr)
                self.assertRegex(result.stderr, r"^tlstrata: .*\(.*\): .*\n$")
                self.assertEqual(result.stdout, "")
        self.assertEqual(connections, [])

    def test_a_full_disk_is_an_error(self):
        with tls_servers.s_server(OPENSSL, CERTIFICATES) as port:
            for option in ("--transactions", "--json", "--keylog"):
                result = run("load", f"https://localhost:{port}/", "--ca", CERTIFICATES.authority, "--count", "2", option,
                             "/dev/full")
                self.assertEqual(result.returncode, 3, option)
                self.assertIn("No space left on device", result.stderr)


class ControlTest(Case):
    def start(self, port, *arguments, **options):
        return subprocess.Popen([ARGUMENTS.tlstrata, "load", f"https://localhost:{port}/", "--ca", CERTIFICATES.authority,
                                 *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)

    def test_an_interrupt_keeps_what_was_measured(self):
        path = self.scratch / "client.csv"
        silent = threading.Event()
        begun = threading.Event()

        def respond(tls):
            begun.set()
            silent.wait(tls_servers.PATIENCE_S)
        with tls_servers.TlsServer(CERTIFICATES, respond) as server:
            process = self.start(server.port, "--groups", "X25519", "--rate", "50", "--duration", "10m",
                                 "--transactions", str(path), "--json", "-")
            self.assertTrue(begun.wait(tls_servers.PATIENCE_S))
            process.send_signal(signal.SIGINT)
            out, error = process.communicate(timeout=tls_servers.PATIENCE_S)
            silent.set()
        self.assertEqual(process.returncode, 1)
        self.assertIn("stopped before its end", error)
        document = json.loads(out)
        self.assertTrue(document["cancelled"])
        self.assertGreaterEqual(document["outcomes"]["cancelled"], 1)
        self.assertEqual(document["outcomes"]["cancelled"] + document["outcomes"]["not_started"], 30_000)
        with open(path, newline="", encoding="utf-8") as file:
            self.assertEqual(sum(1 for _ in csv.DictReader(file)), 30_000)
        self.assertEqual(list(self.scratch.glob("*.tmp")), [])

    def test_hold_waits_for_the_word(self):
        with tls_servers.s_server(OPENSSL, CERTIFICATES) as port:
            process = self.start(port, "--hold", "--warmup", "2", "--count", "3", stdin=subprocess.PIPE)
            self.assertEqual(process.stdout.readline(), "ready\n")
            out, error = process.communicate("go\n", timeout=tls_servers.PATIENCE_S)
        self.assertEqual((process.returncode, error), (0, ""))
        self.assertIn("3 scheduled: 3 complete", out)

    def test_hold_leaves_when_nobody_is_there(self):
        path = self.scratch / "client.csv"
        with tls_servers.s_server(OPENSSL, CERTIFICATES) as port:
            process = self.start(port, "--hold", "--count", "3", "--transactions", str(path), stdin=subprocess.PIPE)
            self.assertEqual(process.stdout.readline(), "ready\n")
            out, error = process.communicate(timeout=tls_servers.PATIENCE_S)
        self.assertEqual((process.returncode, out), (3, ""))
        self.assertIn("standard input ended", error)
        self.assertEqual(list(self.scratch.iterdir()), [])

    def test_hold_can_be_interrupted(self):
        with tls_servers.s_server(OPENSSL, CERTIFICATES) as port:
            process = self.start(port, "--hold", "--count", "3", stdin=subprocess.PIPE)
            self.assertEqual(process.stdout.readline(), "ready\n")
            process.send_signal(signal.SIGTERM)
            process.wait(timeout=tls_servers.PATIENCE_S)
            process.communicate()
        self.assertEqual(process.returncode, 3)

    def test_usage(self):
        for arguments in ([], ["https://a/", "--groups", "X2551"], ["https://a/", "--groups", "*X25519"],
                          ["https://a/", "--groups", "X25519", "--key-shares", "P-256"], ["http://a/"], ["https://"],
                          ["https://a/", "--rate", "0"], ["https://a/", "--rate", "x"], ["https://a/", "--duration", "5"],
                          ["https://a/", "--arrivals", "uniform"], ["https://a/", "--verify", "maybe"],
                          ["https://a/", "--count", "0"], ["https://a/", "--threads", "0"], ["https://a/", "--nonsense"],
                          ["https://a/", "--connect-timeout", "0s"], ["https://a/", "--users", "2", "--rate", "5"],
                          ["https://a/", "--resume", "1.5"], ["https://a/", "--early-data"], ["https://a/", "--alpn", "h3"],
                          ["https://localhost/", "--local-addrs", "127.0.0.9-127.0.0.1"],
                          ["https://localhost/", "--ciphers", "RC4"], ["https://localhost/", "--metrics", "9464"],
                          ["https://a/", "--header", "no header"], ["https://a/", "--key", "key.pem"]):
            result = run("load", *arguments)
            self.assertEqual(result.returncode, 2, (arguments, result.stderr))
            self.assertRegex(result.stderr, r"^tlstrata: .*\n$")
        self.assertIn("X25519MLKEM768", run("load", "https://a/", "--groups", "X2551").stderr)
        self.assertEqual(run("load", "https://no-such-host.invalid/").returncode, 3)
        self.assertEqual(run("load", "https://localhost/", "--ca", "/nonexistent").returncode, 3)


class PortsTest(Case):
    # In a network namespace of its own, whose ephemeral range is ten ports wide.
    SCRIPT = """set -e
        ip link set lo up
        echo 40000 40009 > /proc/sys/net/ipv4/ip_local_port_range
        python3 -c 'import socket, sys, time
listener = socket.create_server(("127.0.0.1", 8443), backlog=64)
print("up", flush=True)
time.sleep(600)' > up &
        trap "kill $!" EXIT
        while ! grep -q up up; do sleep 0.05; done
        "$@" """

    def test_starts_without_a_port_are_counted(self):
        unshare = ["unshare", "--net"] if os.geteuid() == 0 else ["unshare", "--user", "--map-root-user", "--net"]
        if subprocess.run([*unshare, "true"], capture_output=True, check=False).returncode != 0:
            self.skipTest("no network namespaces here")
        result = subprocess.run([*unshare, "sh", "-c", self.SCRIPT, "sh", ARGUMENTS.tlstrata, "load",
                                 "https://127.0.0.1:8443/", "--verify", "off", "--rate", "100", "--count", "30",
                                 "--handshake-timeout", "3s", "--json", "-"],
                                capture_output=True, text=True, check=False, timeout=120, cwd=self.scratch)
        self.assertEqual(result.returncode, 1, result.stderr)
        document = json.loads(result.stdout)
        outcomes = {name: count for name, count in document["outcomes"].items() if count}
        self.assertEqual(outcomes, {"not_started": 20, "handshake_incomplete": 10})
        self.assertIn({"outcome": "not_started", "reason": "no free port", "count": 20}, document["failures"])
        self.assertEqual(document["started"], 10)


class ServeTest(Case):
    def serve(self, *arguments):
        process = subprocess.Popen([ARGUMENTS.tlstrata, "serve", "origin", *arguments], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        return process

    def test_serves_and_ends_cleanly(self):
        for sent in (signal.SIGTERM, signal.SIGINT):
            process = self.serve("--listen", "127.0.0.1:0")
            line = process.stdout.readline()
            self.assertRegex(line, r"^listening on 127\.0\.0\.1:\d+\n$")
            connection = http.client.HTTPConnection(line.split()[-1], timeout=tls_servers.PATIENCE_S)
            for path, size in (("/4KiB", 4096), ("/0", 0), ("/1MB", 1_000_000)):
                connection.request("GET", path)
                response = connection.getresponse()
                self.assertEqual((response.status, len(response.read())), (200, size))
            connection.close()
            process.send_signal(sent)
            self.assertEqual(process.wait(timeout=tls_servers.PATIENCE_S), 0)

    def test_a_port_that_is_taken(self):
        with socket.create_server(("127.0.0.1", 0)) as taken:
            process = self.serve("--listen", f"127.0.0.1:{taken.getsockname()[1]}")
            _, error = process.communicate(timeout=tls_servers.PATIENCE_S)
        self.assertEqual(process.returncode, 3)
        self.assertRegex(error, r"^tlstrata: cannot listen: Address already in use \(127\.0\.0\.1:\d+\): .*\n$")

    def test_usage(self):
        for address in ("127.0.0.1", "nonsense", "127.0.0.1:99999", ":80"):
            result = run("serve", "origin", "--listen", address)
            self.assertEqual(result.returncode, 2, result.stderr)
        self.assertEqual(run("serve").returncode, 2)


def main():
    global ARGUMENTS, OPENSSL, CERTIFICATES  # set once, before the tests
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tlstrata", required=True)
    parser.add_argument("--source", required=True)
    parser.add_argument("--scratch", required=True)
    ARGUMENTS, remaining = parser.parse_known_args()
    ARGUMENTS.tlstrata = os.path.abspath(ARGUMENTS.tlstrata)
    scratch = pathlib.Path(ARGUMENTS.scratch)
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir(parents=True)
    OPENSSL = tls_servers.OpenSsl(ARGUMENTS.source)
    CERTIFICATES = tls_servers.Certificates(OPENSSL, scratch)
    unittest.main(argv=[sys.argv[0], "-v", *remaining])


if __name__ == "__main__":
    main()
