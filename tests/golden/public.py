#!/usr/bin/env python3
"""The public captures of other tools' tests: malformed, drafts, other protocols. Nothing may crash or be invented.

For each file of the folder's INDEX.tsv: exit 0 or 3, no signal, no sanitizer report, under 5 s, rows that keep the
contract, nothing `decrypted` where no keys were given, and the outcomes of public_expectations.tsv. Where the folder has a
golden answer, the flows that its oracle is sure about are compared too; --minimum-agreement makes that a gate.

Exit: 0 all of it, 1 not, 2 usage, 77 the folder is not on this machine (the captures are not ours to ship).
"""
import argparse
import json
import re
import sys
from collections import Counter
from pathlib import Path

from field import compare_stream, rows_of
from rows import analyze

SKIPPED = 77


def read_expectations(path):
    """file -> [(set of outcomes, least, most)]."""
    table = {}
    for line in path.read_text().splitlines()[1:]:
        name, outcomes, _reason = line.split("\t")
        table[name] = []
        for part in [] if outcomes == "-" else outcomes.split():
            words, least, _, most = re.fullmatch(r"([a-z_|]+):(\d+)(\.\.(\d+))?", part).groups()
            table[name].append((set(words.split("|")), int(least), int(most or least)))
    return table


def unexpected(wanted, rows):
    left = Counter(row["outcome"] for row in rows)
    for outcomes, least, most in wanted:
        count = sum(left.pop(outcome, 0) for outcome in outcomes)
        if not least <= count <= most:
            yield f"{count} rows with outcome {'|'.join(sorted(outcomes))}, expected {least} to {most}"
    for outcome, count in sorted(left.items()):
        yield f"{count} rows with outcome {outcome} that nothing expects"


def faults_of(analysis, has_keys, limit_seconds):
    yield from analysis.faults
    if analysis.exit_code not in (0, 3):
        yield f"exit {analysis.exit_code}: {analysis.stderr.strip()[:160]}"
    if analysis.exit_code == 3 and not re.match(r"tlstrata: .+", analysis.stderr):
        yield f"exit 3 without an error line: {analysis.stderr[:80]!r}"
    if analysis.seconds > limit_seconds:
        yield f"took {analysis.seconds:.1f} s"
    for row in analysis.rows:
        if row["boundary"] == "decrypted" and not has_keys:
            yield f"row {row['row']}: decrypted without keys"


def disagreements_of(golden_path, rows):
    """(flows compared, [(stream, faults)]); none where the folder has no golden answer."""
    if not golden_path.exists():
        return 0, []
    sure = [stream for stream in json.loads(golden_path.read_text())["streams"] if stream["oracle"] == "sure"]
    judged = ((stream["stream"], compare_stream(stream, rows_of(stream, rows))) for stream in sure)
    return len(sure), [(number, faults) for number, faults in judged if faults]


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tlstrata", required=True, help="the program")
    parser.add_argument("--source", type=Path, required=True, help="the checkout")
    parser.add_argument("--scratch", type=Path, required=True, help="folder for what the program writes")
    parser.add_argument("--corpus", type=Path, help="folder with INDEX.tsv and the captures")
    parser.add_argument("--limit-seconds", type=float, default=5)
    parser.add_argument("--minimum-agreement", type=float, default=0, metavar="PERCENT")
    parser.add_argument("--list", action="store_true", help="say every disagreement with the golden answers")
    parser.add_argument("--only", metavar="TEXT", default="", help="captures whose name contains TEXT")
    return parser.parse_args()


def main():
    options = parse_arguments()
    corpus = options.corpus or options.source.parent / "shared" / "corpus" / "dev" / "public"
    if not (corpus / "INDEX.tsv").exists():
        print(f"not run: no captures in {corpus}; give their folder with --corpus")
        return 2 if options.corpus else SKIPPED
    options.scratch.mkdir(parents=True, exist_ok=True)
    expectations = read_expectations(options.source / "tests" / "golden" / "public_expectations.tsv")
    lines = [line.split("\t") for line in (corpus / "INDEX.tsv").read_text().splitlines()]
    index = [(line[0], line[1]) for line in lines[1:] if options.only in line[0]]
    broken = flows = disagreed = judged = 0
    slowest = (0.0, "")
    for name, keys in index:
        key_log = corpus / keys if keys not in ("-", "embedded") else None
        analysis = analyze(options.tlstrata, corpus / name, key_log, options.scratch / f"{name}.csv",
                           limit_seconds=2 * options.limit_seconds)
        slowest = max(slowest, (analysis.seconds, name))
        faults = list(faults_of(analysis, keys != "-", options.limit_seconds))
        if name in expectations:
            judged += 1
            faults += unexpected(expectations[name], analysis.rows)
        compared, wrong = disagreements_of(corpus / f"{name}.golden.json", analysis.rows)
        flows += compared
        disagreed += len(wrong)
        broken += bool(faults)
        for fault in faults[:None if options.list else 4]:
            print(f"{name}: {fault}")
        if options.list:
            for stream, reasons in wrong:
                print(f"{name}: stream {stream} differs from its golden answer: {'; '.join(reasons)}")
    percent = 100 * (flows - disagreed) / flows if flows else 100.0
    print(f"{len(index)} captures, {broken} with faults, {judged} of them with expected outcomes; slowest "
          f"{slowest[0]:.2f} s ({slowest[1]}); {flows - disagreed} of {flows} sure flows agree with golden answers "
          f"({percent:.1f} %, at least {options.minimum_agreement:g} % asked)")
    return 0 if index and not broken and percent >= options.minimum_agreement else 1


if __name__ == "__main__":
    sys.exit(main())
