"""Boxes between a client and a TLS server that stumble over ClientHellos in one chosen way, and pass on all the rest."""

import contextlib
import select
import socket
import threading
import time

import tls_servers

SEGMENT = 1448  # what a path's first segment carries
HYBRID = 0x11EC
GATHER_S = 0.05  # bytes that were sent at once are there at once; a client's pause is much longer


class Seen:
    """A connection's beginning: what was there at first, and the whole ClientHello when it is asked for."""

    def __init__(self, connection):
        self.connection = connection
        self.flight = b""
        self._receive()
        deadline = time.monotonic() + GATHER_S
        while not self.is_complete and (left := deadline - time.monotonic()) > 0:
            if select.select([connection], [], [], left)[0] and not self._receive():
                break
        self.first = self.flight

    def _receive(self):
        piece = self.connection.recv(65536)
        self.flight += piece
        return piece

    def _records(self):
        """The handshake bytes so far, and whether the stream ends where a record does."""
        message, rest = b"", self.flight
        while len(rest) >= 5 and len(rest) >= 5 + int.from_bytes(rest[3:5], "big"):
            length = int.from_bytes(rest[3:5], "big")
            message, rest = message + rest[5:5 + length], rest[5 + length:]
        return message, not rest

    @property
    def is_complete(self):
        message, is_whole = self._records()
        return is_whole and len(message) >= 4 and len(message) == 4 + int.from_bytes(message[1:4], "big")

    def whole(self):
        while not self.is_complete:
            if not self._receive():
                raise ConnectionError("the client left")
        return self

    @property
    def message(self):
        return self.whole()._records()[0]

    @property
    def hello(self):
        message = self.message
        return tls_servers.ClientHello(b"\x16\x03\x01" + len(message).to_bytes(2, "big") + message)

    @property
    def first_record(self):
        while len(self.flight) < 5:
            if not self._receive():
                raise ConnectionError("the client left")
        return int.from_bytes(self.flight[3:5], "big")

    @property
    def segment(self):
        return self.connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG)


def first_segment(seen):
    held = seen.first[:SEGMENT]
    return len(held) < 5 or len(held) < 5 + int.from_bytes(held[3:5], "big")


# What a box stumbles over: True for a ClientHello that it cannot take.
FAULTS = {
    "hello_split": lambda seen: not seen.is_complete,
    "hello_records": lambda seen: seen.first_record < len(seen.message),
    "hello_size": lambda seen: len(seen.message) > 3000,
    "odd_length": lambda seen: len(seen.message) % 256 in (10, 14),
    "first_segment": first_segment,
    "hybrid_share": lambda seen: 51 in seen.hello.extensions and HYBRID in seen.hello.key_shares,
    "hybrid_offer": lambda seen: 51 in seen.hello.extensions and HYBRID in seen.hello.groups,
    "small_mss": lambda seen: seen.segment < 600,
    "path_mtu": lambda seen: seen.segment > 1400 and len(seen.whole().flight) > SEGMENT,
}


def drain(connection):
    while connection.recv(65536):
        pass


def end(connection, ending):
    if ending == "reset":
        tls_servers.reset(connection)
        return
    if ending == "alert":
        connection.sendall(b"\x15\x03\x03\x00\x02\x02\x28")
    if ending in ("alert", "close"):
        connection.shutdown(socket.SHUT_WR)
    drain(connection)  # silence: until the client has enough


class Middlebox(tls_servers.ScriptedServer):
    """In front of the server at `backend`: with `fault` (a name of FAULTS, or "retry") it ends such connections by
    `ending`; with None it passes on everything. With `watches` it counts how many connections a client has
    open at once."""

    def __init__(self, backend, fault=None, ending="reset", watches=False):
        self._backend = backend
        self._fault = fault
        self._ending = ending
        self._watches = watches
        self._open = []  # second handles of connections that their client has not left
        self._lock = threading.Lock()
        self.connections = 0
        self.most_at_once = 0
        super().__init__(self._count)

    def _count(self, connection):
        with self._lock:
            self.connections += 1
            if self._watches:
                self._watch(connection)
        self._judge(connection)

    def _watch(self, connection):
        """Who connects after it closed is seen to have closed: over loopback the one comes before the other."""
        still_open = []
        for earlier in self._open:
            poll = select.poll()
            poll.register(earlier, select.POLLRDHUP)
            if poll.poll(0):
                earlier.close()
            else:
                still_open.append(earlier)
        self._open = still_open + [connection.dup()]
        self.most_at_once = max(self.most_at_once, len(self._open))

    def _judge(self, connection):
        seen = Seen(connection)
        if self._fault in FAULTS and FAULTS[self._fault](seen):
            end(connection, self._ending)
            return
        with socket.create_connection(("127.0.0.1", self._backend)) as server:
            server.sendall(seen.flight)
            self._relay(connection, server)

    def _relay(self, connection, server):
        while True:
            for source in select.select([connection, server], [], [], tls_servers.PATIENCE_S)[0]:
                data = source.recv(65536)
                if source is connection and self._fault == "retry" and is_second_hello(data):
                    end(connection, self._ending)
                    return
                if not data:
                    return
                with contextlib.suppress(OSError):
                    (server if source is connection else connection).sendall(data)


def is_second_hello(data):
    """A ClientHello in plaintext behind a ChangeCipherSpec."""
    return data[:1] == b"\x14" and data[6:7] == b"\x16"
