#!/usr/bin/env python3
"""Writes the seeds of the fuzzers from tcp to analyze: real packets and RFC 8448's records in the shape that each reads.

usage: fuzz/make_corpus.py

Seeds are named seed-*; what a fuzzer found stands beside them under names of its own and stays.
"""
import re
import struct
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FIELD = ROOT / "tests/golden/field"
TRACES = ROOT / "tests/unit/tls/rfc8448"
CORPUS = ROOT / "fuzz/corpus"
RANDOM = b"\x5a" * 32  # what session_fuzz.cpp has secrets for


def write(fuzzer, name, data):
    folder = CORPUS / fuzzer
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"seed-{name}").write_bytes(data)


def read_pcap(path):
    """(link type, [(nanoseconds, bytes, original length)]) of a classic pcap file."""
    data = path.read_bytes()
    magic = data[:4]
    order = "<" if magic in (b"\xd4\xc3\xb2\xa1", b"\x4d\x3c\xb2\xa1") else ">"
    nanos = magic in (b"\x4d\x3c\xb2\xa1", b"\xa1\xb2\x3c\x4d")
    link = struct.unpack(order + "I", data[20:24])[0]
    packets, at = [], 24
    while at + 16 <= len(data):
        seconds, fraction, captured, length = struct.unpack(order + "IIII", data[at : at + 16])
        stamp = seconds * 10**9 + fraction * (1 if nanos else 1000)
        packets.append((stamp, data[at + 16 : at + 16 + captured], length))
        at += 16 + captured
    return link, packets


def vector(length_bytes, body):
    return len(body).to_bytes(length_bytes, "big") + body


# --- frame: byte of kind, two of length, with 0x80 two of bytes beyond, then the bytes


LINKS = [1, 101, 113, 276, 0, 9, 51, 108]


def frame_seeds():
    names = "grp_X25519 ipv6 any_sll2 any_router_sll1 encap_gre encap_pppoe encap_vlan pmtud_icmp rtt50 tso_truncated"
    for name in names.split():
        link, packets = read_pcap(FIELD / f"{name}.pcap")
        link = 101 if link in (12, 14, 228, 229) else link
        seed = b""
        for _, data, length in packets[:12]:
            part = data[:150]
            seed += bytes([0x80 | LINKS.index(link)]) + struct.pack(">HH", len(part), min(65535, length - len(part))) + part
        write("frame", name, seed)
    syn = read_pcap(FIELD / "grp_X25519.pcap")[1][0][1]
    ip = syn[14:]
    frames = [
        (5, b"\xff\x03\x00\x21" + ip),
        (6, b"\x11\x00\x00\x07" + struct.pack(">H", len(ip) + 2) + b"\x00\x21" + ip),
        (4, b"\x02\x00\x00\x00" + ip),
        (0, syn[:12] + b"\x88\x47" + b"\x00\x06\x40\x40" + b"\x00\x01\x01\x40" + ip),
        (0, syn[:12] + b"\x88\xa8\x00\x05\x81\x00\x00\x06\x08\x00" + ip),
        (0, syn[:12] + b"\x00\x50\xaa\xaa\x03\x00\x00\x00\x08\x00" + ip),
    ]

    def udp(port, payload):
        body = struct.pack(">HHHH", 40000, port, 8 + len(payload), 0) + payload
        return ip[:2] + struct.pack(">H", 20 + len(body)) + ip[4:9] + b"\x11" + ip[10:20] + body

    frames += [
        (1, udp(4789, b"\x08\x00\x00\x00\x00\x00\x07\x00" + syn)),
        (1, udp(6081, b"\x01\x00\x65\x58\x00\x00\x00\x00\x00\x00\x00\x00" + syn)),
        (1, udp(443, b"\xc3\x00\x00\x00\x01" + bytes(20))),
        (1, udp(443, b"\x16\xfe\xfd" + bytes(20))),
        (1, ip[:2] + struct.pack(">H", 36) + ip[4:6] + b"\x20\x00" + ip[8:36]),  # two fragments
        (1, ip[:2] + struct.pack(">H", len(ip) - 16) + ip[4:6] + b"\x00\x02" + ip[8:20] + ip[36:]),
    ]
    total = b""
    for kind, data in frames:
        total += bytes([kind]) + struct.pack(">H", len(data)) + data
    write("frame", "tunnels", total)


# --- tcp: who, flags, sequence, acknowledgment (2 each), length, cut


def segment(who, flags, sequence, acknowledgment=0, length=0, cut=0):
    return bytes([who, flags]) + struct.pack(">hHBB", sequence, acknowledgment & 0xFFFF, length, cut)


def tcp_seeds():
    client, server, fin, syn, rst, ack = 1, 0, 1, 2, 4, 16
    opening = [segment(client, syn, 0), segment(server, syn | ack, 0, 1), segment(client, ack, 1, 1)]
    talk = [segment(client, ack, 1, 1, 100), segment(server, ack, 1, 101, 200), segment(server, ack, 201, 101, 50)]
    closing = [segment(client, fin | ack, 101, 251), segment(server, fin | ack, 251, 102), segment(client, ack, 102, 252)]
    whole = opening + talk + closing
    write("tcp", "whole", b"".join(whole))
    write("tcp", "twice", b"".join(packet * 2 for packet in whole))
    write("tcp", "backwards", b"".join(reversed(whole)))
    write("tcp", "reordered", b"".join(opening + [talk[2], talk[1], talk[0]] + closing))
    write("tcp", "lost", b"".join(opening + [talk[0], talk[2]] + closing))
    write("tcp", "cut", b"".join(opening + [segment(client, ack, 1, 1, 100, 0x80 | 30)] + talk[1:] + closing))
    write("tcp", "fast-open", segment(client, syn, 0, 0, 90) + b"".join(opening[1:] + talk + closing))
    write("tcp", "reset", b"".join(opening + talk + [segment(server, rst | ack, 251, 101)] + talk))
    write("tcp", "refused", segment(client, syn, 0) + segment(server, rst | ack, 0, 1))
    again = [segment(client | 8, syn, 0), segment(server | 8, syn | ack, 0, 1), segment(client | 8, ack, 1, 1, 60)]
    write("tcp", "reused", b"".join(opening + talk + again + [talk[0]]))
    write("tcp", "wrapped", b"".join(bytes([packet[0] | 24]) + packet[1:] for packet in whole))
    write("tcp", "idle", b"".join(opening) + segment(client | 0xE2, syn, 0) * 5 + b"".join(talk))


# --- key_log: a byte that seeds the pieces, then text


def key_log_seeds():
    names = ["keys_junk", "tls12_curl", "resume_tickets"]
    for name in names:
        write("key_log", name, b"\x07" + (FIELD / f"{name}.keys").read_bytes()[:3000])
    line = b"CLIENT_TRAFFIC_SECRET_0 " + b"5a" * 32 + b" " + b"01" * 32
    write("key_log", "shapes", b"\x03# comment\r\n\r\n" + line + b"\r\n" + line.upper() + b"\n" + line[:-2] + b"02\n" + line)
    write("key_log", "long-line", b"\x0b" + line + b"\n" + b"x" * 1500 + b"\n" + line.replace(b"5a", b"5b", 1))


# --- RFC 8448's traces


def trace(name):
    values, key = {}, None
    for line in (TRACES / f"{name}.txt").read_text().splitlines():
        if not line or line.startswith("#"):
            continue
        match = re.match(r"(\S+) =(.*)", line)
        if match:
            key = match[1]
            values[key] = match[2].strip()
        else:
            values[key] += line.strip()
    return values


def flow(values):
    """(server, type, protection, wire, content) in the order of the wire."""
    for step in values["flow"].split():
        side = "client" if step[0] == "c" else "server"
        record = bytes.fromhex(values[f"{side}_record_{step[1:]}"])
        content = bytes.fromhex(values.get(f"{side}_content_{step[1:]}", ""))
        kind = int(values[f"{side}_type_{step[1:]}"], 16)
        yield side == "server", kind, values[f"{side}_protection_{step[1:]}"], record, content


NAMES = ["simple_1rtt", "resumed_0rtt", "hello_retry_request", "client_authentication", "compatibility_mode"]


def hello_seeds():
    for name in NAMES:
        values = trace(name)
        for key, kind in (("client_hello", 0), ("server_hello", 1), ("hello_retry_request", 1), ("encrypted_extensions", 2)):
            if f"message_{key}" in values:
                write("hello", f"{name}-{key}", bytes([kind]) + bytes.fromhex(values[f"message_{key}"])[4:])
    for name in ("chromium_h2", "firefox_h2", "tls12_curl"):
        for _, data, _ in read_pcap(FIELD / f"{name}.pcap")[1]:
            at = data.find(b"\x16\x03\x01")
            if at > 40 and data[at + 5] == 1:
                write("hello", name, b"\x00" + data[at + 9 : at + 5 + int.from_bytes(data[at + 3 : at + 5], "big")])
                break


def step(kind, data):
    return bytes([kind]) + struct.pack(">H", len(data)) + data


def record_seeds():
    for name in NAMES:
        for server in (False, True):
            wire = b"".join(record for is_server, _, _, record, _ in flow(trace(name)) if is_server == server)
            mode = 0 if server else 1
            cut = len(wire) // 3
            write("record", f"{name}-{'server' if server else 'client'}", bytes([mode]) + step(0, wire[:cut]) + step(2, wire[cut:]))
    long = b"\x17\x03\x03" + vector(2, bytes(300))
    alert = b"\x15\x03\x03" + vector(2, b"\x01\x00")
    hole = b"\xf0" + struct.pack(">H", 100)
    write("record", "damaged", b"\x00" + step(0, long[:100]) + hole + step(0, long[200:] + alert))
    write("record", "damaged-skipping", b"\x02" + step(0, long[:100]) + hole + step(0, long[200:] + alert))
    write("record", "lost", b"\x00" + step(0, long + alert[:3]) + hole + step(0, long))
    write("record", "proxy-1", b"\x01" + step(0, b"PROXY TCP4 192.0.2.1 192.0.2.2 50000 443\r\n" + alert))
    proxy2 = b"\r\n\r\n\x00\r\nQUIT\n\x21\x11" + vector(2, bytes(12))
    write("record", "proxy-2", b"\x01" + step(0, proxy2 + alert))
    write("record", "proxy-twice", b"\x01" + step(0, b"PROXY UNKNOWN\r\n") + step(0, b"PROXY UNKNOWN\r\n" + alert))
    write("record", "http", b"\x01" + step(0, b"GET / HTTP/1.1\r\n\r\n"))


# --- session: mode, then steps of kind, length, detail, bytes


RAW, PLAIN, SEALED, UPDATE, GAP = 0, 2, 4, 6, 8
EARLY, APPLICATION = 0x40, 0x80


def act(kind, server, detail, data):
    return bytes([kind | server]) + struct.pack(">H", len(data)) + bytes([detail]) + data


def extension(kind, body):
    return struct.pack(">H", kind) + vector(2, body)


def client_hello(share=b"\x00\x1d", extra=b"", random=RANDOM):
    extensions = extension(0, vector(2, b"\x00" + vector(2, b"a.example"))) + extension(10, vector(2, b"\x00\x1d\x00\x17"))
    extensions += extension(43, b"\x02\x03\x04") + extension(51, vector(2, share + vector(2, bytes(32)))) + extra
    suites = b"\x13\x01\x13\x02\x13\x03\x13\x04\x13\x05\xc0\x2f"
    body = b"\x03\x03" + random + vector(1, bytes(8)) + vector(2, suites) + b"\x01\x00" + vector(2, extensions)
    return b"\x01" + vector(3, body)


def server_hello(suite, retry=False, version=b"\x03\x04", extra=b""):
    random = bytes.fromhex("cf21ad74e59a6111be1d8c021e65b891c2a211167abb8c5e079e09e2c8a8339c") if retry else bytes(32)
    extensions = extension(51, b"\x00\x17" if retry else b"\x00\x1d" + vector(2, bytes(32))) + extra
    if version == b"\x03\x04":
        extensions += extension(43, version)
    body = b"\x03\x03" + random + vector(1, bytes(8)) + suite + b"\x00" + vector(2, extensions)
    return b"\x02" + vector(3, body)


def message(kind, size):
    return bytes([kind]) + vector(3, bytes(size))


def session_seeds():
    ccs = b"\x01"
    flight = b"\x08" + vector(3, vector(2, extension(16, vector(2, vector(1, b"http/1.1"))))) + message(11, 300) + message(15, 70)
    finished = message(20, 32)
    get, ok = b"GET / HTTP/1.1\r\n\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
    for number in range(5):
        suite = bytes([0x13, number + 1])
        steps = act(PLAIN, 0, 22, client_hello()) + act(PLAIN, 1, 22, server_hello(suite)) + act(PLAIN, 1, 20, ccs)
        steps += act(SEALED, 1, 22, flight + finished) + act(PLAIN, 0, 20, ccs) + act(SEALED, 0, 22, finished)
        steps += act(SEALED, 0, 23 | APPLICATION, get) + act(SEALED, 1, 22 | APPLICATION, message(4, 100))
        steps += act(SEALED | 0x30, 1, 23 | APPLICATION, ok)
        update = act(SEALED, 0, 22 | APPLICATION, b"\x18\x00\x00\x01\x01") + act(UPDATE, 0, 0, b"")
        update += act(SEALED, 0, 23 | APPLICATION, get)
        write("session", f"suite-{number}", bytes([number]) + steps + update)
        write("session", f"suite-{number}-no-keys", bytes([0x80 | (number + 2) % 5]) + steps)
    hellos = act(PLAIN, 0, 22, client_hello()) + act(PLAIN, 1, 22, server_hello(b"\x13\x01", retry=True))
    hellos += act(PLAIN, 1, 20, ccs) + act(PLAIN, 0, 20, ccs) + act(PLAIN, 0, 22, client_hello(b"\x00\x17"))
    rest = act(PLAIN, 1, 22, server_hello(b"\x13\x01")) + act(SEALED, 1, 22, flight + finished)
    rest += act(SEALED, 0, 22, finished) + act(SEALED, 0, 23 | APPLICATION, get)
    write("session", "retry", b"\x00" + hellos + rest)
    early_hello = client_hello(extra=extension(42, b"") + extension(41, bytes(40)))
    early = act(PLAIN, 0, 22, early_hello) + act(SEALED, 0, 23 | EARLY, get)
    accepted = b"\x08" + vector(3, vector(2, extension(42, b"")))
    psk_hello = act(PLAIN, 1, 22, server_hello(b"\x13\x01", extra=extension(41, b"\x00\x00")))
    answer = psk_hello + act(SEALED, 1, 22, accepted + finished)
    ending = act(SEALED, 0, 22 | EARLY, message(5, 0)) + act(SEALED, 0, 22, finished) + act(SEALED, 1, 23 | APPLICATION, ok)
    write("session", "early-accepted", b"\x00" + early + answer + ending)
    write("session", "early-without-secret", b"\x40" + early + answer + ending)
    write("session", "early-rejected", b"\x00" + early + psk_hello + act(SEALED, 1, 22, flight + finished) + ending)
    gap = bytes([GAP | 1]) + struct.pack(">H", 50) + b"\x00"
    write("session", "gap", b"\x00" + hellos + act(RAW, 1, 0, b"\x17\x03\x03\x00\x64" + bytes(30)) + gap + act(RAW, 1, 0, bytes(20)))
    old = act(PLAIN, 0, 22, client_hello()) + act(PLAIN, 1, 22, server_hello(b"\xc0\x2f", version=b"") + message(11, 200) + message(14, 0))
    old += act(PLAIN, 0, 22, message(16, 33)) + act(PLAIN, 0, 20, ccs) + act(PLAIN, 0, 22, bytes(40))
    old += act(PLAIN, 1, 20, ccs) + act(PLAIN, 1, 22, bytes(40)) + act(PLAIN, 0, 23, bytes(60))
    write("session", "tls12", b"\x00" + old)
    write("session", "server-first", b"\x00" + act(PLAIN, 1, 22, server_hello(b"\x13\x01")) + act(PLAIN, 0, 22, client_hello()))
    write("session", "alert", b"\x00" + act(PLAIN, 0, 22, client_hello()) + act(PLAIN, 1, 21, b"\x02\x28"))
    for name in NAMES:
        steps = b"".join(act(RAW, int(server), 0, record) for server, _, _, record, _ in flow(trace(name)))
        write("session", name, b"\x00" + steps)


# --- http: mode, then records of kind, length, bytes


def http_seeds():
    get = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"
    sized = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"
    chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;a=b\r\nhello\r\n0\r\nT: v\r\n\r\n"
    seeds = {
        "plain": [(0, get), (1, sized), (0, get), (1, chunked)],
        "pipelined": [(0, get + b"HEAD /h HTTP/1.1\r\n\r\n" + get), (1, sized), (1, b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n" + chunked)],
        "upload": [(0, b"POST / HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n"), (1, b"HTTP/1.1 100 Continue\r\n\r\n"), (0, b"abc"), (1, sized)],
        "old": [(0, b"GET / HTTP/1.0\r\n\r\n"), (1, b"HTTP/1.0 200 OK\r\n\r\nuntil the end")],
        "bodiless": [(0, get * 2), (1, b"HTTP/1.1 304 Not Modified\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n")],
        "tunnel": [(0, b"CONNECT x:443 HTTP/1.1\r\n\r\n"), (1, b"HTTP/1.1 200 OK\r\n\r\n\x16\x03\x03"), (0, b"\x16\x03\x01")],
        "hole": [(0, get), (1, sized[:40]), (0xF9, b""), (1, sized)],
        "blank-lines": [(0, b"\r\n\n  \r\n" + get), (1, b"\n" + sized)],
    }
    for name, steps in seeds.items():
        body = b"".join(step(kind, data) for kind, data in steps)
        write("http1", name, b"\x01" + body)
        if name in ("plain", "tunnel", "hole"):
            write("http", f"1-{name}", b"\x02" + body)

    def frame(kind, flags, stream, payload):
        return vector(3, payload)[:3] + bytes([kind, flags]) + struct.pack(">I", stream) + payload

    preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
    request, response = b"\x82\x84\x87\x41\x01x", b"\x88"
    settings = frame(4, 0, 0, struct.pack(">HI", 1, 4096))
    two = {
        "plain": [(0, settings + frame(1, 5, 1, request)), (1, settings + frame(1, 4, 1, response) + frame(0, 1, 1, b"hello"))],
        "streams": [(0, frame(1, 5, 1, request) + frame(1, 4, 3, b"\x83\x84\x87") + frame(0, 1, 3, b"up")), (1, frame(1, 4, 3, b"\x8d") + frame(1, 4, 1, response)), (1, frame(0, 1, 1, b"x") + frame(0, 1, 3, b""))],
        "continuation": [(0, frame(1, 1, 1, request[:2]) + frame(9, 0, 1, request[2:3]) + frame(9, 4, 1, request[3:]))],
        "padded": [(0, frame(1, 0x2D, 1, b"\x03" + b"\x00\x00\x00\x00\x10" + request + bytes(3)))],
        "reset": [(0, frame(1, 5, 1, request) + frame(3, 0, 1, b"\x00\x00\x00\x08") + frame(7, 0, 0, bytes(8)))],
        "trailers": [(0, frame(1, 5, 1, request)), (1, frame(1, 4, 1, b"\x08\x03103") + frame(1, 4, 1, response) + frame(0, 0, 1, b"x") + frame(1, 5, 1, b"\x40\x01a\x01b"))],
        "push": [(0, frame(1, 5, 1, request)), (1, frame(5, 4, 1, b"\x00\x00\x00\x02" + request) + frame(1, 5, 2, response))],
    }
    for name, steps in two.items():
        body = b"".join(step(kind, data) for kind, data in steps)
        write("http2", name, b"\x01" + body)
        if name in ("plain", "reset"):
            write("http", f"2-{name}", b"\x02" + step(0, preface) + body)
    write("http", "2-server-first", b"\x06" + step(1, settings) + step(0, preface + settings + frame(1, 5, 1, request)))
    write("http", "undecided", b"\x06" + step(0, b"PRI * HT") + step(1, b"220 mail\r\n"))


# --- pipeline: captures with their keys inside


def pcapng(link, packets, keys=b""):
    def block(kind, body):
        body += bytes(-len(body) % 4)
        return struct.pack("<II", kind, len(body) + 12) + body + struct.pack("<I", len(body) + 12)

    data = block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1))
    data += block(1, struct.pack("<HHIHHB3xI", link, 0, 0, 9, 1, 9, 0))
    if keys:
        data += block(10, struct.pack("<II", 0x544C534B, len(keys)) + keys)
    for stamp, packet, length in packets:
        data += block(6, struct.pack("<IIIII", 0, stamp >> 32, stamp & 0xFFFFFFFF, len(packet), length) + packet)
    return data


# --- answer: a byte that chooses the pieces, then what a server sends first


def answer_seeds():
    retry = bytes.fromhex("cf21ad74e59a6111be1d8c021e65b891c2a211167abb8c5e079e09e2c8a8339c")

    def extension(code, body):
        return struct.pack(">H", code) + vector(2, body)

    def server_hello(random, *extensions, version=0x0303):
        body = struct.pack(">H", version) + random + vector(1, bytes(32)) + b"\x13\x01\x00"
        return b"\x02" + vector(3, body + (vector(2, b"".join(extensions)) if extensions else b""))

    def record(kind, body):
        return bytes([kind]) + b"\x03\x03" + vector(2, body)

    tls13 = extension(43, b"\x03\x04")
    share = extension(51, b"\x00\x1d" + vector(2, bytes(range(32))))
    hello = server_hello(RANDOM, tls13, share)
    asking = server_hello(retry, tls13, extension(51, b"\x11\xec"), extension(44, vector(2, b"cookie")))
    seeds = {
        "hello": record(22, hello),
        "hello-in-records": b"".join(record(22, hello[i : i + 9]) for i in range(0, len(hello), 9)),
        "retry-then-hello": record(22, asking) + record(20, b"\x01") + record(22, hello),
        "tls12": record(22, server_hello(RANDOM)),
        "alert": record(21, b"\x02\x28"),
        "warning-then-hello": record(21, b"\x01\x70") + record(22, hello),
        "http": b"HTTP/1.1 400 Bad Request\r\n\r\n",
        "bare": hello[4:],
        "long": record(22, b"\x02\xff\xff\xff"),
    }
    for name, data in seeds.items():
        write("answer", name, b"\x06" + data)


# --- https_record: a DNS response


def https_record_seeds():
    def response(*records, code=0):
        seed = struct.pack(">HHHHHH", 7, 0x8180 | code, 1, len(records), 0, 0) + b"\x01a\x00" + struct.pack(">HH", 65, 1)
        for data in records:
            seed += b"\xc0\x0c" + struct.pack(">HHIH", 65, 1, 60, len(data)) + data
        return seed

    hint = b"\x00\x01\x00" + b"\x00\x09" + vector(2, b"\x11\xec\x00\x1d")
    seeds = {
        "hint": response(hint),
        "two": response(b"\x00\x02\x00" + b"\x00\x09" + vector(2, b"\x02\x02"), hint),
        "alias": response(b"\x00\x00\x01b\x00"),
        "mandatory": response(b"\x00\x01\x00" + b"\x00\x00" + vector(2, b"\x80\x01") + b"\x80\x01" + vector(2, b"")),
        "empty-list": response(b"\x00\x01\x00" + b"\x00\x09" + vector(2, b"")),
        "long-list": response(b"\x00\x01\x00" + b"\x00\x09" + vector(2, bytes(range(1, 201)))),
        "failure": response(code=2),
    }
    for name, data in seeds.items():
        write("https_record", name, data)


def pipeline_seeds():
    names = "abort_after_ch alert_no_common_group alert_unknown_ca grp_X25519 hrr_x25519_to_mlkem1024 early_data_sserver"
    names += " plain_http_on_tls_port refused syn_unanswered tfo tls12_curl h1_pipeline h2_node ipv6 any_sll2 proxy_protocol"
    for name in names.split():
        link, packets = read_pcap(FIELD / f"{name}.pcap")
        keys = FIELD / f"{name}.keys"
        kept, size = [], 0
        for packet in packets:
            size += len(packet[1])
            if size > 14000:
                break
            kept.append(packet)
        hellos = b"".join(packet for _, packet, _ in kept)
        lines = [line for line in keys.read_bytes().splitlines()] if keys.exists() else []
        known = [line for line in lines if line.count(b" ") == 2 and bytes.fromhex(line.split()[1].decode()) in hellos]
        write("pipeline", name, pcapng(link, kept, b"\n".join(known) + b"\n" if known else b""))


if __name__ == "__main__":
    frame_seeds()
    tcp_seeds()
    key_log_seeds()
    hello_seeds()
    record_seeds()
    session_seeds()
    http_seeds()
    answer_seeds()
    https_record_seeds()
    pipeline_seeds()
