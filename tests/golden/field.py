#!/usr/bin/env python3
"""Field captures against their golden answers: real clients and servers, with loss, reordering, resumption, early data.

tests/golden/field holds the captures, their key logs and, per capture, what an oracle built on TShark says about every
TCP stream (docs in field/README.md). A flow agrees when every boundary time, group, key share, cipher, flag, method and
status is the same, to the nanosecond, for every request on it. Flows that the oracle is unsure about, and rows that no
golden request belongs to, are judged by field_expectations.tsv alone.

Exit: 0 agreement reached, 1 below it, an outcome that the table does not expect, or a breach of the contract, 2 usage.
"""
import argparse
import json
import sys
from collections import Counter
from pathlib import Path

from rows import analyze

GROUPS = {
    23: {"secp256r1", "p-256", "prime256v1"}, 24: {"secp384r1", "p-384"}, 25: {"secp521r1", "p-521"},
    29: {"x25519"}, 30: {"x448"}, 256: {"ffdhe2048"}, 257: {"ffdhe3072"}, 258: {"ffdhe4096"},
    21: {"secp224r1", "p-224"}, 0x6399: {"x25519kyber768draft00"}, 512: {"mlkem512"}, 513: {"mlkem768"}, 514: {"mlkem1024"},
    0x11EB: {"secp256r1mlkem768"}, 0x11EC: {"x25519mlkem768"}, 0x11ED: {"secp384r1mlkem1024"}}
CIPHERS = {
    0x0004: "TLS_RSA_WITH_RC4_128_MD5", 0x0005: "TLS_RSA_WITH_RC4_128_SHA", 0x002F: "TLS_RSA_WITH_AES_128_CBC_SHA",
    0x0035: "TLS_RSA_WITH_AES_256_CBC_SHA", 0x0039: "TLS_DHE_RSA_WITH_AES_256_CBC_SHA",
    0x009C: "TLS_RSA_WITH_AES_128_GCM_SHA256", 0xC011: "TLS_ECDHE_RSA_WITH_RC4_128_SHA",
    0xC028: "TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA384",
    0x1301: "TLS_AES_128_GCM_SHA256", 0x1302: "TLS_AES_256_GCM_SHA384", 0x1303: "TLS_CHACHA20_POLY1305_SHA256",
    0x1304: "TLS_AES_128_CCM_SHA256", 0x1305: "TLS_AES_128_CCM_8_SHA256",
    0xC02B: "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256", 0xC02C: "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384",
    0xC02F: "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", 0xC030: "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384"}


def nanoseconds(text):
    """"1796058363.023946000" as whole nanoseconds; no floating point on the way."""
    seconds, digits = text.split(".")
    return int(seconds) * 10**9 + int(digits.ljust(9, "0"))


def times(place, *names):
    """The times that `place` (first, first_exact, in_order, complete: packets) has under `names`, as a set."""
    return {nanoseconds(place[name]["t"]) for name in names if place and place.get(name)}


def is_grease(code):
    return code & 0x0F0F == 0x0A0A and code >> 8 == code & 0xFF


def same_group(text, code):
    if code is None:
        return text == ""
    return text.lower() in GROUPS.get(code, {f"0x{code:04x}"})


def completed(message):
    """When `message` is complete in stream order; the oracle has no in_order for every message."""
    return times(message, "in_order") or times(message, "complete")


def differences(ends, starts):
    return {end - start for end in ends for start in starts}


class Judge:
    """Compares one row with what the golden answer allows."""

    def __init__(self, row):
        self.row = row
        self.faults = []

    def one_of(self, column, allowed):
        """The column holds one of `allowed`; an empty set means that it must be absent."""
        got = self.row.get(column)
        if got not in (allowed or {None}):
            wanted = " or ".join(str(value) for value in sorted(allowed)) or "absent"
            self.faults.append(f"{column} is {got}, golden {wanted}")

    def interval(self, column, ends, starts):
        """The column holds end - start; absent where either is missing or the interval would be negative."""
        allowed = differences(ends, starts)
        positive = {value for value in allowed if value >= 0}
        self.one_of(column, positive)
        return bool(allowed) and not positive

    def text(self, column, wanted):
        if self.row[column] != wanted:
            self.faults.append(f"{column} is {self.row[column]!r}, golden {wanted!r}")


def judge_connection(judge, stream):
    """What holds for the connection and stands on each of its rows."""
    row = judge.row
    if stream["t_syn"]:
        judge.one_of("start_ns", {nanoseconds(stream["t_syn"])})
    shares = [code for code, _ in stream["key_shares"] if not is_grease(code)]
    named = row["key_shares"].split("+") if row["key_shares"] else []
    if len(named) != len(shares) or not all(map(same_group, named, shares)):
        judge.faults.append(f"key_shares is {row['key_shares']!r}, golden {shares}")
    if not same_group(row["group"], stream["group"]):
        judge.faults.append(f"group is {row['group']!r}, golden {stream['group']}")
    if stream["cipher_suite"] is not None:
        judge.text("cipher", CIPHERS.get(stream["cipher_suite"], f"0x{stream['cipher_suite']:04x}"))
    judge.one_of("hrr", {int(stream["hrr"])} if stream["is_tls"] else {0, None})
    if stream["resumed"] is not None:
        judge.one_of("resumed", {int(stream["resumed"])})
    if stream["early_data_accepted"] is not None:
        judge.one_of("early_data", {int(stream["early_data_accepted"])})


def judge_first_layers(judge, stream, entry):
    """The four layers before the answer, on the row of the connection's first request (`entry`, None: it has none)."""
    syn = {nanoseconds(stream["t_syn"])} if stream["t_syn"] else set()
    syn_ack = {nanoseconds(stream["t_synack"])} if stream["t_synack"] else set()
    hello = stream.get("client_hello")
    hello_first = times(hello, "first")
    finished = completed(stream.get("client_finished"))
    request = times(entry["request"], "first", "first_exact") if entry else set()
    inverted = [
        judge.interval("tcp_handshake_ns", syn_ack, syn),
        judge.interval("tcp_to_tls_ns", hello_first, syn_ack)]
    if stream["is_tls"] and not stream["decrypted"]:
        return  # what follows is encrypted, so the oracle knows no more; sizes and order may tell us (`inferred`)
    inverted += [
        judge.interval("tls_handshake_ns", finished, hello_first),
        judge.interval("tls_to_app_ns", request, finished)]
    # Fast Open and early data have flags of their own; any other interval that runs backwards must say so.
    expected = any(inverted)
    if not (inverted[1] or (entry and entry.get("early"))) and judge.row.get("inverted") is not None:
        judge.one_of("inverted", {int(expected)})
    if entry:
        judge.interval("total_ns", times(entry["response"], "first", "first_exact"), syn)
    if finished and stream["decrypted"]:
        hello_complete = completed(hello)
        second = completed(stream.get("client_hello2"))
        judge.interval("hello_send_ns", hello_complete, hello_first)
        judge.interval("retry_ns", second, hello_complete)
        judge.interval("server_wait_ns", times(stream["server_hello"], "first"), second or hello_complete)


def judge_request(judge, entry, number):
    judge.one_of("request", {number})
    request = times(entry["request"], "first", "first_exact")
    response = times(entry["response"], "first", "first_exact")
    judge.interval("app_response_ns", response, request)
    judge.one_of("request_ns", request)
    judge.text("method", entry["method"] or "")
    judge.one_of("status", {entry["status"]} if entry["status"] is not None else set())
    if response:
        judge.text("outcome", "complete")
        judge.text("boundary", "decrypted")
    elif judge.row["outcome"] == "complete":
        judge.faults.append("complete, but the golden answer has no response")


def compare_stream(stream, rows):
    """Faults of one sure stream whose rows are `rows`, in order of request."""
    requests = [entry for entry in stream["http"] if entry["request"]]
    if not rows:
        return ["no row for this connection"]
    if stream["tls_version"] == "0x0303" and all(row["boundary"] != "decrypted" for row in rows):
        requests = []  # TLS 1.2 is here as a negative case: it need not be decrypted, but what is said must be true
    faults = []
    if len(rows) != max(1, len(requests)) and (stream["decrypted"] or not stream["is_tls"]):
        faults.append(f"{len(rows)} rows, golden {len(requests)} requests")
    for number, row in enumerate(rows, 1):
        judge = Judge(row)
        judge_connection(judge, stream)
        entry = requests[number - 1] if number <= len(requests) else None
        if number == 1 and stream["tls_version"] != "0x0303":
            judge_first_layers(judge, stream, entry)
        if entry:
            judge_request(judge, entry, number)
        elif stream["is_tls"] and not stream["decrypted"] and row["boundary"] == "decrypted":
            judge.faults.append("decrypted, but the keys are not there")
        faults += [f"request {number}: {fault}" for fault in judge.faults]
    return faults


def rows_of(stream, rows):
    """The rows of the connection that is `stream`: same ends, and the same start where the stream has a SYN."""
    same = [row for row in rows if row["client"] == stream["client"] and row["server"] == stream["server"]]
    if stream["t_syn"]:
        exact = [row for row in same if row["start_ns"] == nanoseconds(stream["t_syn"])]
        if exact or len({row["connection"] for row in same}) != 1:
            same = exact
    return sorted(same, key=lambda row: row["request"] or 0)


def read_expectations(path):
    """file -> [(set of outcomes, count)] for the rows that no golden request judges."""
    table = {}
    for line in path.read_text().splitlines()[1:]:
        name, outcomes, _reason = line.split("\t")
        table[name] = [(set(part.rpartition(":")[0].split("|")), int(part.rpartition(":")[2]))
                       for part in outcomes.split()]
    return table


def check_expectations(wanted, rows):
    """Rows left over for the table must have exactly the outcomes it lists."""
    left = Counter(row["outcome"] for row in rows)
    for outcomes, count in wanted:
        for outcome in sorted(outcomes):
            used = min(count, left[outcome])
            left[outcome] -= used
            count -= used
        if count:
            yield f"{count} rows fewer than expected with outcome {'|'.join(sorted(outcomes))}"
    for outcome, count in sorted((+left).items()):
        yield f"{count} rows with outcome {outcome} that nothing expects"


class Capture:
    """One capture: the analyzer's answer beside the golden one."""

    def __init__(self, folder, name, keys, program, scratch, expectations):
        self.name = name
        golden = json.loads((folder / f"{name}.golden.json").read_text())
        key_log = folder / keys if keys not in ("-", "embedded") else None
        self.analysis = analyze(program, folder / name, key_log, scratch / f"{name}.csv")
        self.flows = 0
        self.disagreements = []  # (stream number, faults)
        unexplained = list(self.analysis.rows)
        for stream in golden["streams"]:
            rows = rows_of(stream, self.analysis.rows)
            requests = [entry for entry in stream["http"] if entry["request"]]
            if stream["oracle"] == "sure":
                self.flows += 1
                faults = compare_stream(stream, rows)
                if faults:
                    self.disagreements.append((stream["stream"], faults))
            if any(entry["response"] for entry in requests):
                unexplained = [row for row in unexplained
                               if (row["client"], row["server"]) != (stream["client"], stream["server"])]
        self.unexpected = list(check_expectations(expectations.get(name, []), unexplained))
        if self.analysis.exit_code != 0:
            self.analysis.faults.append(f"exit {self.analysis.exit_code}: {self.analysis.stderr.strip()[:200]}")

    @property
    def agreed(self):
        return self.flows - len(self.disagreements)


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tlstrata", required=True, help="the program")
    parser.add_argument("--source", type=Path, required=True, help="the checkout")
    parser.add_argument("--scratch", type=Path, required=True, help="folder for what the program writes")
    parser.add_argument("--minimum-agreement", type=float, default=100, metavar="PERCENT")
    parser.add_argument("--list", action="store_true", help="say every disagreement, not the first of each flow alone")
    parser.add_argument("--only", metavar="TEXT", default="", help="captures whose name contains TEXT")
    return parser.parse_args()


def main():
    options = parse_arguments()
    options.scratch.mkdir(parents=True, exist_ok=True)
    here = options.source / "tests" / "golden"
    expectations = read_expectations(here / "field_expectations.tsv")
    index = [line.split("\t") for line in (here / "field" / "INDEX.tsv").read_text().splitlines()[1:]]
    captures = [Capture(here / "field", name, keys, options.tlstrata, options.scratch, expectations)
                for name, keys, *_ in index if options.only in name]
    if not captures:
        print("no capture of that name", file=sys.stderr)
        return 2
    for capture in captures:
        broken = capture.analysis.faults or capture.unexpected
        print(f"{capture.name:32} {capture.agreed:3} of {capture.flows:3} flows agree"
              f"{'' if not broken else ', outcomes or contract broken'}")
        shown = None if options.list else 1
        for stream, faults in capture.disagreements:
            for fault in faults[:shown]:
                print(f"    stream {stream}: {fault}")
            if shown and len(faults) > shown:
                print(f"    stream {stream}: and {len(faults) - shown} more")
        for fault in (capture.analysis.faults + capture.unexpected)[:None if options.list else 5]:
            print(f"    {fault}")
    flows = sum(capture.flows for capture in captures)
    agreed = sum(capture.agreed for capture in captures)
    percent = 100 * agreed / flows if flows else 0
    contract = sum(len(capture.analysis.faults) for capture in captures)
    outcomes = sum(bool(capture.unexpected) for capture in captures)
    print(f"{agreed} of {flows} flows agree ({percent:.1f} %, at least {options.minimum_agreement:g} % asked), "
          f"{len(captures)} captures; {contract} breaches of the contract, {outcomes} captures with other outcomes "
          f"than expected")
    return 0 if flows and percent >= options.minimum_agreement and not contract and not outcomes else 1


if __name__ == "__main__":
    sys.exit(main())
