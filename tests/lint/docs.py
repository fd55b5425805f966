#!/usr/bin/env python3
"""The documentation keeps up: links lead somewhere, and HACKING.md's map has every layer of the table and no other."""
import re

import includes
import lint


def check_links(source, path):
    findings = []
    for number, line in enumerate(path.read_text().split("\n"), 1):
        for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", line):
            if not re.match(r"[a-z]+:", target) and not (path.parent / target).exists():
                findings.append(f"{path.relative_to(source)}:{number}: no such file: {target}")
    return findings


def check(source):
    findings = []
    for path in lint.files(source, suffixes={".md"}):
        findings += check_links(source, path)
    table = set(includes.read_table(source))
    mapped = set(re.findall(r"^\| `(\w+)` \|", (source / "HACKING.md").read_text(), re.MULTILINE))
    findings += [f"HACKING.md: the folder map lacks {layer}" for layer in sorted(table - mapped)]
    findings += [f"HACKING.md: the folder map has {layer}, the layer table not" for layer in sorted(mapped - table)]
    return findings


if __name__ == "__main__":
    lint.main(check)
