"""Servers for tests of clients: real ones by `openssl s_server`, and scripted ones that misbehave in a chosen way."""

import contextlib
import os
import pathlib
import socket
import ssl
import struct
import subprocess
import threading
import time

PATIENCE_S = 60  # for things that happen at once unless something hangs


class OpenSsl:
    """The openssl program with ML-KEM: the checkout's private one, or the system's."""

    def __init__(self, source):
        self.program = "openssl"
        self.environment = dict(os.environ)
        private = sorted(pathlib.Path(source).glob(".deps/openssl-*/bin/openssl"))
        if private:
            self.program = str(private[-1])
            self.environment["LD_LIBRARY_PATH"] = str(private[-1].parent.parent / "lib")

    def run(self, *arguments):
        subprocess.run([self.program, *arguments], env=self.environment, check=True, capture_output=True)

    def start(self, *arguments):
        return subprocess.Popen([self.program, *arguments], env=self.environment, stdin=subprocess.DEVNULL,
                                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


class Certificates:
    """An authority and a certificate that it issued for localhost and the loopback addresses, in `folder`."""

    def __init__(self, openssl, folder):
        self.authority = str(folder / "ca.pem")
        self.certificate = str(folder / "server.pem")
        self.key = str(folder / "server.key")
        key_type = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
        openssl.run("req", "-x509", *key_type, "-keyout", str(folder / "ca.key"), "-out", self.authority,
                    "-subj", "/CN=test authority", "-days", "2")
        openssl.run("req", *key_type, "-keyout", self.key, "-out", str(folder / "server.csr"), "-subj", "/CN=localhost")
        names = folder / "names.cnf"
        names.write_text("subjectAltName=DNS:localhost,IP:127.0.0.1,IP:::1\n", encoding="ascii")
        openssl.run("x509", "-req", "-in", str(folder / "server.csr"), "-CA", self.authority,
                    "-CAkey", str(folder / "ca.key"), "-out", self.certificate, "-days", "2", "-extfile", str(names))


def free_port(family=socket.AF_INET):
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.bind(("::1" if family == socket.AF_INET6 else "127.0.0.1", 0))
        return probe.getsockname()[1]


def can_connect(address):
    try:
        with socket.create_connection(address, timeout=1):
            return True
    except OSError:
        return False


@contextlib.contextmanager
def s_server(openssl, certificates, *options, host="127.0.0.1"):
    """`openssl s_server -www`, one connection after the other; yields its port."""
    port = free_port(socket.AF_INET6 if ":" in host else socket.AF_INET)
    listen = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    server = openssl.start("s_server", "-accept", listen, "-cert", certificates.certificate, "-key", certificates.key,
                           "-www", "-quiet", *options)
    try:
        deadline = time.monotonic() + PATIENCE_S
        while not can_connect((host, port)):
            if server.poll() is not None or time.monotonic() > deadline:
                raise AssertionError(f"s_server does not listen: {options}")
            time.sleep(0.02)
        yield port
    finally:
        server.kill()
        server.wait()


class ScriptedServer:
    """Calls `treat(connection)` for each connection, on a thread of its own; `port` is where it listens."""

    def __init__(self, treat):
        self._treat = treat
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=256)
        self.port = self._listener.getsockname()[1]
        self._thread = threading.Thread(target=self._accept, daemon=True)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join()

    def _accept(self):
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection):
        with connection:
            connection.settimeout(PATIENCE_S)
            with contextlib.suppress(OSError):
                self._treat(connection)


def reset(connection):
    """Ends a TCP connection with RST."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


class TlsServer(ScriptedServer):
    """A TLS server that reads a request and then calls `respond(tls_connection)`; the close is an orderly one where
    `respond` returns True."""

    def __init__(self, certificates, respond, maximum_version=ssl.TLSVersion.TLSv1_3):
        self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._context.load_cert_chain(certificates.certificate, certificates.key)
        self._context.maximum_version = maximum_version
        self._respond = respond
        super().__init__(self._handshake)

    def _handshake(self, connection):
        with self._context.wrap_socket(connection, server_side=True) as tls:
            request = b""
            while b"\r\n\r\n" not in request:
                piece = tls.recv(4096)
                if not piece:
                    return
                request += piece
            if self._respond(tls):
                with contextlib.suppress(OSError):
                    tls.unwrap()


class ClientHello:
    """What a ClientHello offers, from the bytes of its first flight."""

    def __init__(self, flight):
        handshake = b""
        while len(flight) >= 5 and flight[0] == 22:
            length = int.from_bytes(flight[3:5], "big")
            handshake += flight[5:5 + length]
            flight = flight[5 + length:]
        body = handshake[4:4 + int.from_bytes(handshake[1:4], "big")]
        at = 34
        at += 1 + body[at]
        at += 2 + int.from_bytes(body[at:at + 2], "big")
        at += 1 + body[at]
        self.extensions = {}
        end = at + 2 + int.from_bytes(body[at:at + 2], "big")
        at += 2
        while at < end:
            kind, length = struct.unpack("!HH", body[at:at + 4])
            self.extensions[kind] = body[at + 4:at + 4 + length]
            at += 4 + length

    @staticmethod
    def _codes(data):
        return [int.from_bytes(data[i:i + 2], "big") for i in range(0, len(data), 2)]

    @property
    def groups(self):
        return self._codes(self.extensions[10][2:])

    @property
    def versions(self):
        return self._codes(self.extensions[43][1:])

    @property
    def key_shares(self):
        shares, data = [], self.extensions[51][2:]
        while data:
            group, length = struct.unpack("!HH", data[:4])
            shares.append(group)
            data = data[4 + length:]
        return shares

    @property
    def server_name(self):
        return self.extensions[0][5:].decode() if 0 in self.extensions else None

    @property
    def alpn(self):
        return self.extensions.get(16, b"")[2:]


def receive_client_hello(connection):
    """Reads until the first record's whole ClientHello is there."""
    flight = b""
    while True:
        piece = connection.recv(65536)
        if not piece:
            return flight
        flight += piece
        if len(flight) >= 9 and len(flight) >= 5 + int.from_bytes(flight[3:5], "big"):
            return flight
