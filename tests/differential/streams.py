"""TCP streams as the capture point saw them: which packet first carried which byte of a direction's stream."""
from bisect import bisect_right
from dataclasses import dataclass


@dataclass(frozen=True)
class Packet:
    """What a boundary needs to know of a packet: its number in the file and its time, whole nanoseconds."""
    number: int
    time_ns: int


@dataclass(frozen=True)
class Record:
    """A TLS record of a direction: where it begins in the stream, its size with the header, and what TShark says of it."""
    offset: int
    size: int
    outer_type: int
    content_type: int  # after decryption

    @property
    def end(self):
        return self.offset + self.size

    @property
    def capacity(self):
        """Plaintext bytes where the sender does not pad; TLS 1.3 adds a type byte and a tag of 16."""
        return self.size - 5 - (17 if self.outer_type == 23 else 0)


class ByteMap:
    """One direction of a connection. The first copy of a byte that the capture point saw owns it."""

    def __init__(self):
        self.data = bytearray()
        self.starts = []  # of runs that one packet owns, ascending
        self.runs = []    # (start, end, Packet), the same order, never overlapping

    def add(self, start, payload, packet):
        end = start + len(payload)
        start = max(start, 0)
        payload = payload[len(payload) - max(end - start, 0):]
        if len(self.data) < end:
            self.data.extend(bytes(end - len(self.data)))
        for free_start, free_end in self.free(start, end):
            self.data[free_start:free_end] = payload[free_start - start:free_end - start]
            at = bisect_right(self.starts, free_start)
            self.starts.insert(at, free_start)
            self.runs.insert(at, (free_start, free_end, packet))

    def free(self, start, end):
        """The parts of [start, end) that nobody owns yet."""
        at = max(bisect_right(self.starts, start) - 1, 0)
        parts = []
        while start < end and at < len(self.runs):
            run_start, run_end, _ = self.runs[at]
            if start < run_start:
                parts.append((start, min(end, run_start)))
            start = max(start, run_end)
            at += 1
        if start < end:
            parts.append((start, end))
        return parts

    def first_carrier(self, offset):
        """The packet that first carried the byte at `offset`; None where no packet did."""
        at = bisect_right(self.starts, offset) - 1
        if at < 0 or offset >= self.runs[at][1]:
            return None
        return self.runs[at][2]

    def completer(self, end):
        """The packet after which all bytes before `end` have been seen; None where one is missing."""
        latest, reached = None, 0
        for start, run_end, packet in self.runs:
            if start > reached or reached >= end:
                break
            if latest is None or packet.number > latest.number:
                latest = packet
            reached = run_end
        return latest if reached >= end else None

    def header_at(self, offset):
        """(type, length) of the TLS record header at `offset`; None where its bytes are not all there."""
        if self.completer(offset + 5) is None:
            return None
        return self.data[offset], int.from_bytes(self.data[offset + 3:offset + 5], "big")


class Side:
    """One direction with what TShark decoded of it, in stream order."""

    def __init__(self):
        self.base = None           # sequence number of the stream's first byte
        self.bytes = ByteMap()
        self.decoded_records = []  # (content type, length), TShark's
        self.messages = []         # (handshake type, size with header), TShark's
        self.plaintext = []        # one bytes object per record of application data, TShark's

    def add(self, sequence, payload, packet):
        distance = (sequence - self.base) % 2**32
        self.bytes.add(distance - 2**32 if distance >= 2**31 else distance, payload, packet)


class Connection:
    def __init__(self, client, server):
        self.client = client
        self.server = server
        self.syn = None      # Packet of the first SYN
        self.syn_ack = None  # Packet of the first SYN-ACK
        self.sides = {client: Side(), server: Side()}
        self.http_requests = 0   # that TShark's HTTP dissector lists
        self.http_responses = 0
        self.complaint = None  # why TShark's output cannot be used; None: it can
