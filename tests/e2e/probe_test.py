#!/usr/bin/env python3
"""`tlstrata probe`: real servers of five kinds, and boxes that misbehave in one way each, with the fault on and off."""

import argparse
import concurrent.futures
import contextlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import threading
import time
import unittest

import middlebox
import nginx
import tls_servers

ARGUMENTS = None
OPENSSL = None
CERTIFICATES = None

# On loopback, against servers of one's own. Silence is judged long after the slowest answer of a busy machine.
BRISK = ["--rate", "100000", "--timeout", "2s", "--pause", "300ms"]
GROUPS = "X25519MLKEM768/X25519:secp256r1"  # two tuples: whoever offers the hybrid is asked for it


def command(*arguments):
    return [ARGUMENTS.tlstrata, "probe", *arguments]


def probe(port, *arguments, code=0, host="localhost", connections=16):
    finished = subprocess.run(command(f"{host}:{port}", "--json", "-", *BRISK, "--connections", str(connections), *arguments),
                              capture_output=True, text=True, check=False, timeout=120)
    if finished.returncode != code:
        raise AssertionError(f"exit code {finished.returncode}: {finished.stderr}{finished.stdout[-2000:]}")
    document = json.loads(finished.stdout)
    assert [document["tool"], document["command"]] == ["tlstrata", "probe"]
    return document["hosts"][0]


def faults(host):
    return [fault["name"] for fault in host["verdict"]["faults"]]


def supported(host, key="supported", value=True):
    return [group["group"] for group in host["groups"] if group[key] == value]


def versions(host):
    return [version["version"] for version in host["versions"] if version["supported"]]


@contextlib.contextmanager
def process(arguments, port, environment=None, folder=None):
    """A server that listens on `port` until the end of the block."""
    with subprocess.Popen(arguments, env=environment, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE) as server:
        try:
            deadline = time.monotonic() + tls_servers.PATIENCE_S
            while not tls_servers.can_connect(("127.0.0.1", port)):
                if server.poll() is not None or time.monotonic() > deadline:
                    raise AssertionError(f"{arguments[0]} does not listen: {server.stderr.read().decode(errors='replace')}")
                time.sleep(0.02)
            yield
        finally:
            server.kill()


class Case(unittest.TestCase):
    def setUp(self):
        self.scratch = (pathlib.Path(ARGUMENTS.scratch) / self.id().rsplit(".", maxsplit=1)[-1]).resolve()
        shutil.rmtree(self.scratch, ignore_errors=True)
        self.scratch.mkdir(parents=True)

    def nginx(self, groups=GROUPS, **options):
        return nginx.Nginx(ARGUMENTS.source, OPENSSL, CERTIFICATES, self.scratch / "nginx", groups=groups, **options)

    @contextlib.contextmanager
    def haproxy(self, frontend):
        program = subprocess.run([pathlib.Path(ARGUMENTS.source) / "tools/haproxy.sh"], check=True, stdout=subprocess.PIPE,
                                 text=True).stdout.strip()
        port = tls_servers.free_port()
        pem = self.scratch / "both.pem"
        pem.write_text(pathlib.Path(CERTIFICATES.certificate).read_text() + pathlib.Path(CERTIFICATES.key).read_text())
        text = frontend.format(port=port, pem=pem, groups=GROUPS)
        (self.scratch / "haproxy.cfg").write_text(
            "global\n  tune.bufsize 65536\ndefaults\n  timeout connect 10s\n  timeout client 60s\n  timeout server 60s\n" + text)
        environment = dict(OPENSSL.environment)
        libraries = pathlib.Path(program).parents[2] / "lib"
        if libraries.is_dir():
            environment["LD_LIBRARY_PATH"] = f"{environment.get('LD_LIBRARY_PATH', '')}:{libraries}"
        with process([program, "-db", "-f", str(self.scratch / "haproxy.cfg")], port, environment):
            yield port

    def check_ready(self, host):
        self.assertEqual((faults(host), host["verdict"]["level"]), ([], "ready"), host["verdict"])
        self.assertEqual((host["preference"]["decider"], host["preference"]["order"][0]), ("server", "X25519MLKEM768"))
        self.assertEqual(host["policy"]["better_not_shared"], "retry")
        self.assertEqual({trial["passed"] for trial in host["tolerance"]}, {True})


class ServersTest(Case):
    def test_nginx(self):
        with self.nginx(extra="ssl_early_data on;") as server:
            host = probe(server.port)
        self.check_ready(host)
        self.assertEqual(versions(host), ["1.3"])
        self.assertEqual(supported(host), ["X25519MLKEM768", "X25519", "secp256r1"])
        self.assertEqual(supported(host, "with_share", "yes"), supported(host, "by_retry", "yes"))
        shaken = host["handshake"]
        self.assertEqual((shaken["alpn"], shaken["tickets"], shaken["resumption"], shaken["early_data"]),
                         (["h2", "http/1.1"], "yes", "yes", "yes"))
        full = shaken["full"]
        self.assertEqual((full["group"], full["round_trips"], full["fits_initial_window"]), ("X25519MLKEM768", 1, True))
        self.assertEqual([(entry["subject"], entry["key_bits"], entry["signature"]) for entry in full["chain"]],
                         [("CN=localhost", 256, "ecdsa-with-SHA256")])
        der = subprocess.run([OPENSSL.program, "x509", "-in", CERTIFICATES.certificate, "-outform", "DER"],
                             env=OPENSSL.environment, check=True, capture_output=True).stdout
        self.assertEqual((full["chain_bytes"], full["chain"][0]["bytes"]), (len(der), len(der)))
        # ServerHello with a share of 1,120 bytes, the certificate, a signature and Finished.
        self.assertLess(1120 + len(der), full["server_flight_bytes"])
        self.assertLess(full["server_flight_bytes"], 1120 + len(der) + 500)

    def test_haproxy(self):
        with self.haproxy("frontend f\n  mode http\n  bind 127.0.0.1:{port} ssl crt {pem} curves {groups} alpn http/1.1\n"
                          "  http-request return status 200\n") as port:
            host = probe(port)
        self.check_ready(host)
        self.assertEqual(versions(host), ["1.3", "1.2"])
        self.assertEqual(host["handshake"]["alpn"], ["http/1.1"])
        self.assertEqual(host["handshake"]["early_data"], "no")

    def test_s_server(self):
        with tls_servers.s_server(OPENSSL, CERTIFICATES, "-groups", GROUPS) as port:
            host = probe(port, connections=1)
        self.check_ready(host)
        self.assertEqual(host["handshake"]["alpn"], [])

    def test_gnutls_has_no_post_quantum_group_and_no_fault(self):
        port = tls_servers.free_port()
        with process(["gnutls-serv", "--http", "--quiet", "--port", str(port), "--x509certfile", CERTIFICATES.certificate,
                      "--x509keyfile", CERTIFICATES.key], port):
            host = probe(port, host="127.0.0.1")
        self.assertEqual((faults(host), host["verdict"]["level"]), ([], "not_ready"), host["verdict"])
        self.assertRegex(host["verdict"]["words"], "^not ready: TLS 1.3, but no post-quantum group; it has .*X25519")
        self.assertIn("1.2", versions(host))
        self.assertIsNone(host["policy"])
        self.assertEqual({trial["passed"] for trial in host["tolerance"]}, {True})

    def test_node(self):
        port = tls_servers.free_port()
        script = ("const fs=require('fs');require('https').createServer({cert:fs.readFileSync(process.argv[1]),"
                  "key:fs.readFileSync(process.argv[2])},(q,s)=>s.end()).listen(+process.argv[3],'127.0.0.1')")
        with process(["node", "-e", script, CERTIFICATES.certificate, CERTIFICATES.key, str(port)], port):
            host = probe(port)
        self.assertIn("1.3", versions(host))
        self.assertIn("X25519", supported(host))
        self.assertEqual({trial["passed"] for trial in host["tolerance"]}, {True})
        expected = "not_ready" if "X25519MLKEM768" not in supported(host) else "ready"
        self.assertEqual((set(faults(host)) - {"downgrade"}, host["verdict"]["level"]), (set(), expected), host["verdict"])

    def test_our_own_proxy(self):
        port = tls_servers.free_port()
        with process([ARGUMENTS.tlstrata, "serve", "proxy", "--listen", f"127.0.0.1:{port}", "--certificate",
                      CERTIFICATES.certificate, "--key", CERTIFICATES.key, "--groups", "MLKEM1024", "--upstream", "127.0.0.1:9"],
                     port):
            host = probe(port)
        self.assertEqual((versions(host), supported(host), faults(host)), (["1.3"], ["MLKEM1024"], []))
        self.assertRegex(host["verdict"]["words"], "^partly ready: it has MLKEM1024, and none of the groups that browsers offer")
        self.assertEqual(host["handshake"]["full"]["group"], "MLKEM1024")

    def test_tls_1_2_alone(self):
        with tls_servers.s_server(OPENSSL, CERTIFICATES, "-tls1_2") as port:
            host = probe(port, connections=1)
        self.assertEqual((versions(host), host["handshake"], faults(host)), (["1.2"], None, []))
        self.assertRegex(host["verdict"]["words"], "^not ready: no TLS 1.3")


class PolicyTest(Case):
    """A server that has the hybrid and gives X25519 to whoever shares that alone, against the same with two tuples."""

    def test_downgrade_on_and_off(self):
        for groups, found in (("X25519MLKEM768:X25519", ["downgrade"]), ("X25519MLKEM768/X25519", [])):
            with tls_servers.s_server(OPENSSL, CERTIFICATES, "-groups", groups) as port:
                host = probe(port, "--tolerance", "off", connections=1)
            self.assertEqual(faults(host), found)
            self.assertEqual(host["policy"]["better_not_shared"], "accept" if found else "retry")
            self.assertEqual(host["policy"]["two_shares"]["group"], "X25519MLKEM768")
            self.assertEqual(host["verdict"]["level"], "partly" if found else "ready")


class FaultsTest(Case):
    """Each fault, by several endings; the same box without it; and what HAProxy really does."""

    CASES = [("hello_split", "reset"), ("hello_split", "close"), ("hello_records", "alert"), ("hello_size", "reset"),
             ("odd_length", "silence"), ("first_segment", "reset"), ("first_segment", "silence"), ("hybrid_share", "alert"),
             ("hybrid_offer", "reset"), ("small_mss", "close"), ("path_mtu", "silence"), ("retry", "reset")]

    def run_box(self, backend, fault, ending):
        with middlebox.Middlebox(backend, fault, ending) as box:
            return probe(box.port)

    def test_each_is_named_and_nothing_else(self):
        with self.nginx() as server, concurrent.futures.ThreadPoolExecutor(6) as pool:
            cases = self.CASES + [(None, "reset")]
            for (fault, ending), host in zip(cases, pool.map(lambda case: self.run_box(server.port, *case), cases)):
                with self.subTest(fault=fault, ending=ending):
                    self.assertEqual(faults(host), [fault] if fault else [], host["verdict"])
                    failed = {trial["outcome"]["ending"] for trial in host["tolerance"] if not trial["passed"]}
                    if fault == "retry":
                        failed = {group["retry_outcome"]["ending"] for group in host["groups"] if group["retry_outcome"]}
                    self.assertEqual(failed, {ending} if fault else set())
                    if fault == "hello_size":
                        words = host["verdict"]["faults"][0]["words"]
                        fails, passes = (int(word) for word in words.split() if word.isdigit())
                        self.assertLessEqual(passes, 3000)
                        self.assertLess(3000, fails)
                        self.assertLessEqual(fails - passes, 16)

    def test_haproxy_that_does_not_wait_for_the_server_name(self):
        passing = "  tcp-request inspect-delay 20s\n  tcp-request content accept if {{ req.ssl_sni -m found }}\n"
        with self.nginx() as server:
            backend = f"backend b\n  mode tcp\n  server s 127.0.0.1:{server.port}\n"
            for wait, found in (("", ["hello_split", "hello_records"]), (passing, [])):
                frontend = ("frontend f\n  mode tcp\n  bind 127.0.0.1:{port} defer-accept\n" + wait +
                            "  use_backend b if {{ req.ssl_sni -i localhost }}\n" + backend)
                with self.haproxy(frontend) as port:
                    host = probe(port)
                if found:
                    self.assertEqual(faults(host), found, host["verdict"])
                else:
                    self.assertNotIn("hello_split", faults(host), host["verdict"])


class MannersTest(Case):
    def test_one_connection_at_a_time_and_no_more_than_it_says(self):
        with self.nginx() as server, middlebox.Middlebox(server.port, watches=True) as box:
            finished = subprocess.run(command(f"127.0.0.1:{box.port}", "--rate", "1000", "--json", "-", "--pause", "60ms"),
                                      capture_output=True, text=True, check=True, timeout=120)
            document = json.loads(finished.stdout)
            self.assertEqual(document["connections"], box.connections)
            self.assertLessEqual(document["connections"], 60)
            self.assertEqual(box.most_at_once, 1)
        self.assertEqual(document["hosts"][0]["verdict"]["level"], "ready")

    def test_rate(self):
        with self.nginx() as server:
            began = time.monotonic()
            finished = subprocess.run(command(f"127.0.0.1:{server.port}", "--rate", "20", "--tolerance", "off", "--json", "-"),
                                      capture_output=True, text=True, check=True, timeout=120)
        connections = json.loads(finished.stdout)["connections"]
        self.assertGreater(connections, 10)
        self.assertGreaterEqual(time.monotonic() - began, (connections - 1) / 20)

    def test_hosts_from_a_file_and_their_verdicts(self):
        closed = tls_servers.free_port()
        hosts = self.scratch / "hosts"

        def speak_http(connection):
            connection.recv(100)
            connection.sendall(b"HTTP/1.1 400 \x1b[31mBad\r\n\r\n")

        with self.nginx() as server, tls_servers.ScriptedServer(speak_http) as plain:
            hosts.write_text(f"# ours\n127.0.0.1:{server.port}\n127.0.0.1:{closed} # gone\n\n127.0.0.1:{plain.port}\n")
            finished = subprocess.run(command("--hosts", str(hosts), "--json", str(self.scratch / "out.json"), *BRISK),
                                      capture_output=True, text=True, check=False, timeout=120)
        self.assertEqual(finished.returncode, 1, finished.stderr)
        self.assertRegex(finished.stderr, "^tlstrata: 2 of 3 hosts speak no TLS or cannot be reached .*\n$")
        document = json.loads((self.scratch / "out.json").read_text())
        self.assertEqual([host["verdict"]["level"] for host in document["hosts"]], ["ready", "unreachable", "unreachable"])
        self.assertEqual([host["port"] for host in document["hosts"]], [server.port, closed, plain.port])
        for words in ("ready: it has X25519MLKEM768", "connection refused", "an answer that is no TLS",
                      "in the server's own order", "fits the initial window of 14480 bytes"):
            self.assertIn(words, finished.stdout)

    def test_what_a_server_writes_is_shown_and_does_nothing(self):
        evil = tls_servers.Certificates.__new__(tls_servers.Certificates)
        evil.certificate, evil.key = str(self.scratch / "evil.pem"), str(self.scratch / "evil.key")
        OPENSSL.run("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", evil.key,
                    "-out", evil.certificate, "-utf8", "-subj", "/CN=\x1b[31mred\u202e", "-days", "2")
        with tls_servers.s_server(OPENSSL, evil) as port:
            finished = subprocess.run(command(f"127.0.0.1:{port}", "--tolerance", "off", "--rate", "1000"), capture_output=True,
                                      text=True, check=True, timeout=120)
        self.assertIn("red", finished.stdout)
        self.assertNotIn("\x1b", finished.stdout)
        self.assertNotIn("\u202e", finished.stdout)

    def test_interrupt_ends_it_at_once(self):
        asked = threading.Event()

        def hear(connection):
            connection.recv(1)
            asked.set()
            middlebox.drain(connection)

        with tls_servers.ScriptedServer(hear) as silent:
            with subprocess.Popen(command(f"127.0.0.1:{silent.port}", "127.0.0.1:9", "--hosts-at-once", "1", "--timeout", "5m"),
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
                self.assertTrue(asked.wait(tls_servers.PATIENCE_S))
                running.send_signal(signal.SIGINT)
                output, error = running.communicate(timeout=30)
        self.assertEqual(running.returncode, 1)
        self.assertRegex(error, "^tlstrata: stopped: 2 of 2 hosts are not probed to the end .*\n$")
        self.assertIn("stopped", output)

    def test_usage(self):
        for arguments in ([], ["host:http"], ["--rate", "0", "host"], ["--timeout", "5", "host"], ["--hosts", "/nonexistent"]):
            finished = subprocess.run(command(*arguments), capture_output=True, text=True, check=False, timeout=60)
            self.assertEqual(finished.returncode, 3 if "--hosts" in arguments else 2, arguments)
            self.assertRegex(finished.stderr, "^tlstrata: ")
        text = subprocess.run(command("--help"), capture_output=True, text=True, check=True, timeout=60).stdout
        self.assertIn("about 60 short connections a host, one at a time", text)

    def test_required_level(self):
        with self.nginx(groups="X25519MLKEM768:X25519") as server:
            probe(server.port, "--tolerance", "off", "--require", "partly")
            probe(server.port, "--tolerance", "off", "--require", "ready", code=1)


def main():
    global ARGUMENTS, OPENSSL, CERTIFICATES  # set once, before the tests
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tlstrata", required=True)
    parser.add_argument("--source", required=True)
    parser.add_argument("--scratch", required=True)
    ARGUMENTS, remaining = parser.parse_known_args()
    ARGUMENTS.tlstrata = os.path.abspath(ARGUMENTS.tlstrata)
    scratch = pathlib.Path(ARGUMENTS.scratch).resolve()
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir(parents=True)
    OPENSSL = tls_servers.OpenSsl(ARGUMENTS.source)
    CERTIFICATES = tls_servers.Certificates(OPENSSL, scratch)
    unittest.main(argv=[sys.argv[0], "-v", *remaining])


if __name__ == "__main__":
    main()
