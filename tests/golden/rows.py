"""What the golden tests share: run `tlstrata analyze` on a capture and read the transactions it writes.

Knows the contract of transactions.csv alone, nothing of the program's inside.
"""
import csv
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path

COLUMNS = (
    "cell,block,connection,request,client,server,start_ns,tcp_handshake_ns,tcp_to_tls_ns,tls_handshake_ns,"
    "tls_to_app_ns,app_response_ns,total_ns,last_byte_ns,outcome,boundary,tls_version,cipher,group,key_shares,hrr,"
    "resumed,early_data,alpn,client_hello_bytes,server_flight_bytes,client_handshake_bytes,server_handshake_bytes,"
    "method,status").split(",")
MORE_COLUMNS = "hello_send_ns,retry_ns,server_wait_ns,server_flight_ns,client_finish_ns,request_ns".split(",")
LAYERS = ["tcp_handshake_ns", "tcp_to_tls_ns", "tls_handshake_ns", "tls_to_app_ns", "app_response_ns"]
PARTS = ["hello_send_ns", "retry_ns", "server_wait_ns", "server_flight_ns", "client_finish_ns"]
OUTCOMES = {
    "not_started", "unsupported", "gap", "truncated", "refused", "tcp_timeout", "no_tls", "tls_alert", "reset",
    "handshake_incomplete", "no_request", "no_response", "undecryptable", "no_syn", "cancelled", "complete"}
BOUNDARIES = {"", "decrypted", "inferred", "plaintext"}
NUMBERS = {name for name in COLUMNS + MORE_COLUMNS if name.endswith(("_ns", "_bytes"))} | {
    "block", "connection", "request", "status", "hrr", "resumed", "early_data", "inverted", "client_hello_complete_ns"}


@dataclass
class Analysis:
    """One run of the analyzer: its exit, and its rows with numbers as int and empty cells as None."""
    exit_code: int
    seconds: float
    stderr: str
    rows: list = field(default_factory=list)
    faults: list = field(default_factory=list)  # breaches of the contract that need no oracle


def analyze(program, capture, keys, out, limit_seconds=60):
    """Runs the analyzer on `capture` with the key log `keys` (None: none) and reads what it wrote to `out`."""
    out = Path(out)
    out.unlink(missing_ok=True)
    command = [program, "analyze", str(capture), "--transactions", str(out)]
    if keys:
        command += ["--keylog", str(keys)]
    begun = time.monotonic()
    try:
        run = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=limit_seconds)
    except subprocess.TimeoutExpired:
        return Analysis(-1, limit_seconds, "", faults=[f"still running after {limit_seconds} s"])
    result = Analysis(run.returncode, time.monotonic() - begun, run.stderr.decode("utf-8", "replace"))
    if run.returncode < 0:
        result.faults.append(f"ended by signal {-run.returncode}")
    for mark in ("Sanitizer", "runtime error:"):
        if mark in result.stderr:
            at = result.stderr.index(mark)
            result.faults.append("sanitizer report: " + result.stderr[max(0, at - 80):at + 160].replace("\n", " "))
            break
    if out.exists():
        read_rows(out, result)
    elif run.returncode == 0:
        result.faults.append("exit 0, but no transactions file")
    return result


def read_rows(path, result):
    with open(path, newline="", encoding="utf-8") as file:
        reader = csv.reader(file, strict=True)
        try:
            lines = list(reader)
        except csv.Error as error:
            result.faults.append(f"no CSV: {error}")
            return
    if not lines:
        result.faults.append("transactions file without a header")
        return
    header = lines[0]
    if header[:len(COLUMNS)] != COLUMNS:
        result.faults.append(f"columns differ from the contract: {','.join(header[:len(COLUMNS)])}")
        return
    for number, cells in enumerate(lines[1:], 1):
        if len(cells) != len(header):
            result.faults.append(f"row {number} has {len(cells)} cells, the header {len(header)}")
            continue
        row = dict(zip(header, cells))
        for name in NUMBERS & row.keys():
            try:
                row[name] = int(row[name]) if row[name] else None
            except ValueError:
                result.faults.append(f"row {number}: {name} is no whole number: {row[name]}")
                row[name] = None
        row["row"] = number
        result.rows.append(row)
        result.faults += [f"row {number}: {fault}" for fault in faults_of(row)]
    result.faults += faults_of_connections(result.rows)


def faults_of(row):
    """What must hold in every row, whatever the capture."""
    if row["outcome"] not in OUTCOMES:
        yield f"outcome {row['outcome']!r}"
    if row["boundary"] not in BOUNDARIES:
        yield f"boundary {row['boundary']!r}"
    for name in LAYERS + PARTS + ["total_ns", "last_byte_ns"]:
        if row.get(name) is not None and row[name] < 0:
            yield f"{name} is negative: {row[name]}"
    layers = [row[name] for name in LAYERS]
    if None not in layers and sum(layers) != row["total_ns"]:
        yield f"layers sum to {sum(layers)}, total_ns is {row['total_ns']}"
    parts = [row.get(name) for name in PARTS]
    if row["hrr"] != 1:
        parts[1] = parts[1] or 0
    if row["tls_handshake_ns"] is not None and None not in parts and sum(parts) != row["tls_handshake_ns"]:
        yield f"the handshake's parts sum to {sum(parts)}, tls_handshake_ns is {row['tls_handshake_ns']}"
    if (row["request"] or 0) > 1:
        if layers[:4] != [None] * 4:
            yield "a later request has layers before app_response"
        if row["total_ns"] != row["app_response_ns"]:
            yield "a later request's total_ns is not its app_response_ns"
    if row["outcome"] == "complete":
        if row["app_response_ns"] is None:
            yield "complete without app_response_ns"
        if row["boundary"] == "":
            yield "complete, but no boundary says how it was found"


def faults_of_connections(rows):
    """All rows of a connection agree on what the connection is; connections are numbered as they come."""
    first = {}
    faults = []
    for row in rows:
        known = first.setdefault(row["connection"], row)
        for name in ("client", "server", "start_ns", "group", "key_shares", "cipher", "hrr", "resumed"):
            if known[name] != row[name]:
                faults.append(f"row {row['row']}: {name} differs within connection {row['connection']}")
    if any(row["start_ns"] is None for row in rows):
        faults.append("a row without start_ns")
    places = [(row["connection"], row["request"] or 0) for row in rows]
    if places != sorted(places) or list(first) != list(range(1, len(first) + 1)):
        faults.append("rows are not in order of connection and request")
    return faults
