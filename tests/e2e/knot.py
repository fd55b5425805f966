"""A real authoritative DNS server, Knot, for one zone on loopback."""

import pathlib
import shutil
import socket
import struct
import subprocess
import tempfile
import time

import tls_servers

PACKAGES = ["knot", "libknot13", "libzscanner4", "libdnssec9", "liblmdb0", "liburcu8", "libxdp1", "libbpf1"]


class Knot:
    """Serves `zone`, lines of a zone file below localhost., until the end of the block; `resolver` is its address."""

    def __init__(self, source, zone):
        unpacked = subprocess.run([pathlib.Path(source) / "tools/unpack.sh", "knot", *PACKAGES], check=True,
                                  stdout=subprocess.PIPE, text=True)
        root = pathlib.Path(unpacked.stdout.strip())
        self._program = root / "usr/sbin/knotd"
        libraries = sorted({str(path.parent) for path in (root / "usr/lib").rglob("*.so*")})
        self._environment = {"LD_LIBRARY_PATH": ":".join(libraries)}
        # A folder of its own, with a short path: its control socket's may have 108 bytes (unix(7)), or it ends.
        self._folder = pathlib.Path(tempfile.mkdtemp(prefix="tlstrata-knot-"))
        self._port = tls_servers.free_port()
        self.resolver = f"127.0.0.1:{self._port}"
        (self._folder / "zone").write_text("$ORIGIN localhost.\n$TTL 60\n@ SOA ns hostmaster 1 3600 600 86400 60\n@ NS ns\n"
                                           "ns A 127.0.0.1\n" + "\n".join(zone) + "\n", encoding="ascii")
        (self._folder / "knot.conf").write_text(
            f"server:\n    rundir: {self._folder}\n    listen: 127.0.0.1@{self._port}\n    udp-workers: 1\ndatabase:\n"
            f"    storage: {self._folder}\nzone:\n  - domain: localhost.\n    file: {self._folder}/zone\n"
            "    semantic-checks: off\n", encoding="ascii")
        self._process = None

    def __enter__(self):
        with open(self._folder / "log", "wb") as log:
            self._process = subprocess.Popen([self._program, "-c", str(self._folder / "knot.conf")],
                                             env=self._environment, stdout=log, stderr=subprocess.STDOUT)
        deadline = time.monotonic() + tls_servers.PATIENCE_S
        while not self._answers():
            if self._process.poll() is not None or time.monotonic() > deadline:
                raise AssertionError(f"knotd does not answer: {(self._folder / 'log').read_text(errors='replace')}")
            time.sleep(0.02)
        return self

    def __exit__(self, *_):
        self._process.kill()
        self._process.wait()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _answers(self):
        question = struct.pack(">HHHHHH", 7, 0, 1, 0, 0, 0) + b"\x09localhost\x00" + struct.pack(">HH", 6, 1)
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
            client.settimeout(0.5)
            client.connect(("127.0.0.1", self._port))
            try:
                client.send(question)
                reply = client.recv(4096)
            except OSError:
                return False
        return reply[:2] == question[:2] and reply[3] & 15 == 0 and reply[7] == 1
