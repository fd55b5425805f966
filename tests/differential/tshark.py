"""Runs TShark once on a capture and turns its output into Connections: bytes, records, messages, plaintext.

TShark decides what is a stream, what a record holds and what it decrypts to. Its frame.time of a message is the packet that
completes the message, so times are not taken from there: payload bytes are mapped to packets in streams.ByteMap.
"""
import shutil
import subprocess
import sys

from streams import Connection, Packet

FIELDS = (
    "frame.number frame.time_epoch tcp.stream ip.src ipv6.src tcp.srcport ip.dst ipv6.dst tcp.dstport tcp.flags.syn "
    "tcp.flags.ack tcp.seq_raw tcp.payload tls.record.content_type tls.record.length tls.handshake.type "
    "tls.handshake.length http.request.method http.response.code").split()
PREFERENCES = (
    "tcp.reassemble_out_of_order:TRUE", "tcp.desegment_tcp_streams:TRUE", "tls.desegment_ssl_records:TRUE",
    "tls.desegment_ssl_application_data:TRUE")


def require():
    """TShark's version line. Ends the program with 1 where it is missing: a comparison that is left out proves nothing."""
    if not shutil.which("tshark"):
        print("tshark is missing: install it (apt-get install tshark), this comparison needs it", file=sys.stderr)
        sys.exit(1)
    run = subprocess.run(["tshark", "--version"], capture_output=True, text=True, check=True)
    return run.stdout.splitlines()[0]


def nanoseconds(text):
    """"1796058363.023946000" as whole nanoseconds; no floating point on the way."""
    seconds, digits = text.split(".")
    return int(seconds) * 10**9 + int(digits.ljust(9, "0"))


def run_tshark(capture, key_log, followed):
    command = ["tshark", "-n", "-r", str(capture), "-Y", "tcp && !icmp && !icmpv6", "-T", "fields",
               "-E", "occurrence=a", "-E", "aggregator=,", "-E", "separator=/t"]
    for preference in PREFERENCES + ((f"tls.keylog_file:{key_log}",) if key_log else ()):
        command += ["-o", preference]
    for name in FIELDS:
        command += ["-e", name]
    for stream in range(followed):
        command += ["-z", f"follow,tls,raw,{stream}"]
    run = subprocess.run(command, capture_output=True)
    if run.returncode != 0:
        raise RuntimeError(f"tshark on {capture}: exit {run.returncode}: {run.stderr.decode('utf-8', 'replace')[-300:]}")
    return run.stdout.decode("utf-8", "replace")


def read(capture, key_log=None, expected_streams=0):
    """All TCP connections of `capture` by TShark's stream number. `expected_streams` spares a second run."""
    output = run_tshark(capture, key_log, expected_streams)
    connections = connections_of(output)
    missing = max(connections, default=-1) + 1
    if missing > expected_streams:
        output = run_tshark(capture, key_log, missing)
        connections = connections_of(output)
    add_plaintext(output, connections)
    return connections


def connections_of(output):
    connections = {}
    for line in output.split("\n"):
        cells = line.split("\t")
        if len(cells) != len(FIELDS):
            continue  # from the follow reports behind the packets
        add_packet(connections, dict(zip(FIELDS, cells)))
    return connections


def last(cell):
    """The innermost of several values: a tunnel's inner header comes last."""
    return cell.rpartition(",")[2]


def address(cells, which):
    """"addr:port" as transactions.csv writes it."""
    port = last(cells["tcp.srcport" if which == "src" else "tcp.dstport"])
    v6 = last(cells[f"ipv6.{which}"])
    return f"[{v6}]:{port}" if v6 else f"{last(cells[f'ip.{which}'])}:{port}"


def add_packet(connections, cells):
    packet = Packet(int(cells["frame.number"]), nanoseconds(cells["frame.time_epoch"]))
    source, destination = address(cells, "src"), address(cells, "dst")
    number = int(last(cells["tcp.stream"]))
    syn, ack = (last(cells[f"tcp.flags.{flag}"]) in ("1", "True") for flag in ("syn", "ack"))
    if number not in connections:
        client, server = (destination, source) if syn and ack else (source, destination)
        connections[number] = Connection(client, server)
    connection = connections[number]
    if source not in connection.sides or destination not in connection.sides:
        connection.complaint = connection.complaint or f"packet {packet.number} is from neither end"
        return
    side = connection.sides[source]
    sequence = int(last(cells["tcp.seq_raw"]))
    if syn and not ack and connection.syn is None:
        connection.syn = packet
    if syn and ack and connection.syn_ack is None:
        connection.syn_ack = packet
    if side.base is None:
        side.base = (sequence + syn) % 2**32
    payload = bytes.fromhex(last(cells["tcp.payload"]).replace(":", ""))
    if payload:
        side.add(sequence + syn, payload, packet)
    add_decoded(connection, side, packet, cells)


def add_decoded(connection, side, packet, cells):
    """What TShark decoded in this frame; a reassembled message stands in the frame that completes it."""
    contents, lengths, types, sizes = (
        [int(value) for value in cells[name].split(",") if value]
        for name in ("tls.record.content_type", "tls.record.length", "tls.handshake.type", "tls.handshake.length"))
    if len(contents) != len(lengths):
        connection.complaint = connection.complaint or f"packet {packet.number}: TShark did not decrypt every record"
    if len(types) != len(sizes):
        connection.complaint = connection.complaint or f"packet {packet.number}: a handshake message without a length"
    connection.http_requests += sum(1 for method in cells["http.request.method"].split(",") if method)
    connection.http_responses += sum(1 for status in cells["http.response.code"].split(",") if status)
    side.decoded_records += zip(contents, lengths)
    side.messages += [(kind, size + 4) for kind, size in zip(types, sizes)]


def add_plaintext(output, connections):
    """TShark's follow reports: one line of hexadecimal per record of application data, a tab before the second node's."""
    connection, nodes = None, []
    for line in output.split("\n"):
        if line.startswith("Filter: tcp.stream eq "):
            connection, nodes = connections.get(int(line.rpartition(" ")[2])), []
        elif line.startswith("Node "):
            nodes.append(line.partition(": ")[2])
        elif line.startswith("==="):
            nodes = nodes if len(nodes) < 2 else []
        elif connection and len(nodes) == 2 and line:
            ends = [connection.client, connection.server]
            if nodes[0] not in ends:
                connection.complaint = connection.complaint or f"TShark names the end {nodes[0]}, which nobody has"
                continue
            sender = ends[1 - ends.index(nodes[0])] if line.startswith("\t") else nodes[0]
            connection.sides[sender].plaintext.append(bytes.fromhex(line.strip()))
