#!/usr/bin/env python3
"""House rules that a machine can see and that neither the compiler nor clang-tidy checks."""
import re

import includes
import lint

# From a capture's bytes to rows: hostile input, so no exceptions and no casts of it.
PIPELINE = ["capture", "tcp", "tls", "http", "strata", "analyze"]
# The command line alone speaks to people and looks at the environment.
NOT_LIBRARIES = {"cli", "mpi"}
MOST_LINES = 600

PIPELINE_RULES = {
    r"\breinterpret_cast\b": "reinterpret_cast where input is read; use ByteReader",
    r"\bthrow\b": "throw in the pipeline; return an Error",
    r"\bcatch\s*\(": "catch in the pipeline; nothing there throws",
}
# Its callers are C, its input is a peer's. One header casts functions, as the interface to OpenSSL's core wants them.
FUNCTION_CASTS = "dispatch.h"
PROVIDER_RULES = {
    r"\breinterpret_cast\b": "reinterpret_cast outside of dispatch.h; use spans",
    r"\bthrow\b|\bcatch\s*\(|\btry\b": "exceptions in the provider; it is compiled without them",
}
LIBRARY_RULES = {
    r"(?<![\w:>.])(?:std::)?(?:printf|puts|putchar|perror|vprintf|fprintf|fputs)\s*\(": "a library that prints",
    r"\bfmt::print(?:ln)?\b|\bstd::(?:cout|cerr|clog)\b": "a library that prints",
    # _exit stays allowed: a forked child must leave by it.
    r"(?<![\w:>.])(?:std::)?(?:exit|quick_exit|abort|terminate)\s*\(": "a library that ends the process",
    r"\b(?:secure_)?getenv\b": "a library that reads the environment",
}
# Written apart, so that this file passes its own rules.
PROMISES = re.compile("GTEST_" "SKIP|DISABLED" "_|TO" "DO|FIX" "ME|\\bXX" "X\\b")
HOSTS = re.compile(
    r"\b(?:deb|security|snapshot|ftp)\.debian\.org|\b(?:archive|security|ports)\.ubuntu\.com|registry\.npmjs\.org|\bpypi\.org"
)
ONE_MACHINE = re.compile(r"/w[o]rk/|/ho[m]e/[a-z]|(?<![\w.])/ro[o]t/")


def check_header(where, text):
    findings = []
    lines = text.split("\n")
    if not lines[0].startswith("// ") or not re.match(r"//\s+\S.{9}", lines[0]):
        findings.append(f"{where}:1: a header opens with what it is for, in a comment")
    if "#pragma once" not in lines:
        findings.append(f"{where}:1: no #pragma once")
    elif any(line and not line.startswith("//") for line in lines[: lines.index("#pragma once")]):
        findings.append(f"{where}:1: only the opening comment stands before #pragma once")
    return findings


def check_code(where, layer, lines):
    rules = {}
    if layer in PIPELINE:
        rules |= PIPELINE_RULES
    if layer == includes.PROVIDER and where.name != FUNCTION_CASTS:
        rules |= PROVIDER_RULES
    if layer not in NOT_LIBRARIES:
        rules |= LIBRARY_RULES
    return [
        f"{where}:{number}: {wrong}"
        for number, line in enumerate(lines, 1)
        for pattern, wrong in rules.items()
        if re.search(pattern, line)
    ]


def check_any_file(where, text):
    findings = []
    for number, line in enumerate(text.split("\n"), 1):
        if PROMISES.search(line) and where.parts[0] in ("src", "provider", "tests", "fuzz", "perf", "tools"):
            findings.append(f"{where}:{number}: a promise or a skipped test; do it, or file it")
        if HOSTS.search(line):
            findings.append(f"{where}:{number}: the host name of a package registry; take it from the machine's set-up")
        if ONE_MACHINE.search(line):
            findings.append(f"{where}:{number}: a path of one machine")
    return findings


def check(source):
    findings = []
    folders = {layer: f"src/{layer}" for layer in includes.read_table(source)} | {includes.PROVIDER: includes.PROVIDER}
    for layer, folder in folders.items():
        for path in lint.files(source, folder, suffixes=lint.CPP):
            where = path.relative_to(source)
            text = path.read_text()
            if path.suffix == ".h":
                findings += check_header(where, text)
            findings += check_code(where, layer, lint.code_of(text))
            if path.stem != path.stem.lower() or "-" in path.stem:
                findings.append(f"{where}:1: file names are snake_case")
    for path in lint.files(source, "src", "provider", "fuzz", "tests", "tools", suffixes=lint.CPP | {".py", ".sh"}):
        length = path.read_text().count("\n")
        if length > MOST_LINES:
            findings.append(f"{path.relative_to(source)}:{length}: more than {MOST_LINES} lines; which concept is missing?")
    for path in lint.files(source):
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue  # a capture
        findings += check_any_file(path.relative_to(source), text)
    return findings


if __name__ == "__main__":
    lint.main(check)
