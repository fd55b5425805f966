"""The six boundaries of each transaction, from TShark's reading of a connection (design: what each layer opens and closes
with). An encrypted message begins where its record begins, or at its own first ciphertext byte where it begins in
mid-record; it is complete with its record's last byte, once the stream has no hole before that.
"""
from dataclasses import dataclass
from itertools import accumulate

import http1
from streams import Record

CLIENT_HELLO, FINISHED = 1, 20
HANDSHAKE, APPLICATION_DATA = 22, 23
NAMES = ("SYN", "SYN-ACK", "ClientHello", "client Finished", "request", "response")


class CannotPlace(Exception):
    """TShark's output does not say where something is. Counts as a difference: silence would hide one."""


@dataclass
class Exchange:
    """One transaction's boundaries: Packets in the order of NAMES, None where the capture has no such packet."""
    number: int  # from 1 within the connection
    packets: list
    method: str = ""
    status: int | None = None


def records_of(side):
    """The side's records by walking record headers in the stream, each checked against TShark's list."""
    records, offset = [], 0
    for content_type, length in side.decoded_records:
        header = side.bytes.header_at(offset)
        if header is None or header[1] != length:
            raise CannotPlace(f"record {len(records) + 1}: TShark has length {length}, the stream {header}")
        records.append(Record(offset, 5 + length, header[0], content_type))
        offset += 5 + length
    return records


def handshake_records(side, records):
    """For each handshake message of the side: (type, its first record, its last record)."""
    carriers = [record for record in records if record.content_type == HANDSHAKE]
    ends = list(accumulate(record.capacity for record in carriers))
    message_ends = list(accumulate(size for _, size in side.messages))
    if ends[-1:] == message_ends[-1:]:
        def record_with(position):
            return next(record for record, end in zip(carriers, ends) if position < end)
        return [(kind, record_with(end - size), record_with(end - 1))
                for (kind, size), end in zip(side.messages, message_ends)]
    if len(carriers) == len(side.messages):  # padded records, one message each
        return [(kind, record, record) for (kind, _), record in zip(side.messages, carriers)]
    raise CannotPlace(f"{len(side.messages)} handshake messages in {len(carriers)} records, sizes do not add up")


def locate(side, records, position):
    """Stream offset at which plaintext byte `position` of the side's application data counts as carried."""
    carriers = [record for record in records if record.content_type == APPLICATION_DATA]
    if len(carriers) != len(side.plaintext):
        carriers = [record for record in carriers if record.capacity > 0]
    if len(carriers) != len(side.plaintext):
        raise CannotPlace(f"TShark shows plaintext of {len(side.plaintext)} records, the stream has {len(carriers)}")
    start = 0
    for record, text in zip(carriers, side.plaintext):
        if position < start + len(text):
            return record.offset if position == start else record.offset + 5 + position - start
        start += len(text)
    raise CannotPlace(f"plaintext byte {position} is in no record")


def handshake_boundaries(client, records):
    """(first packet of the ClientHello, packet that completes the client's Finished)."""
    hello = finished = None
    for kind, first, final in handshake_records(client, records):
        if kind == CLIENT_HELLO and hello is None:
            hello = client.bytes.first_carrier(first.offset)
        if kind == FINISHED and finished is None:
            finished = client.bytes.completer(final.end)
    return hello, finished


def exchanges(connection):
    """All transactions of the connection; one without a request where it has none."""
    if connection.complaint:
        raise CannotPlace(connection.complaint)
    client, server = connection.sides[connection.client], connection.sides[connection.server]
    client_records, server_records = records_of(client), records_of(server)
    opening = [connection.syn, connection.syn_ack, *handshake_boundaries(client, client_records)]
    asked = http1.requests(b"".join(client.plaintext))
    answered = http1.responses(b"".join(server.plaintext), [request.method for request in asked])
    if not asked:
        return [Exchange(1, opening + [None, None])]
    found = []
    for number, request in enumerate(asked, 1):
        packets = opening if number == 1 else [None] * 4
        packets = packets + [client.bytes.first_carrier(locate(client, client_records, request.position)), None]
        exchange = Exchange(number, packets, request.method)
        if number <= len(answered):
            answer = answered[number - 1]
            packets[5] = server.bytes.first_carrier(locate(server, server_records, answer.position))
            exchange.status = answer.status
        found.append(exchange)
    return found
