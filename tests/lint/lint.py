"""What the lint scripts share: which files there are, C++ without its comments and strings, and how findings are told.

A lint is a module with check(source: Path) -> list of "path:line: what is wrong"; it prints nothing itself.
"""
import argparse
import os
import re
import sys
from pathlib import Path

NOT_OURS = {".git", ".deps", "build", "results", "node_modules", "__pycache__"}
CPP = {".cpp", ".h"}


def files(source, *folders, suffixes=None):
    """Every file below the folders (all of the checkout where none is named), in a fixed order."""
    found = []
    for top in [source / folder for folder in folders] or [source]:
        for folder, names, leaves in os.walk(top):
            names[:] = sorted(name for name in names if name not in NOT_OURS)
            for leaf in sorted(leaves):
                path = Path(folder) / leaf
                if suffixes is None or path.suffix in suffixes:
                    found.append(path)
    return found


CPP_TOKEN = re.compile(
    r"""(?P<raw>R"(?P<mark>[^\s()\\]{0,16})\(.*?\)(?P=mark)")
      | (?P<string>"(?:\\.|[^"\\\n])*")
      | (?P<digit_separator>(?<=[0-9a-fA-F])'(?=[0-9a-fA-F]))
      | (?P<character>'(?:\\.|[^'\\\n])+')
      | (?P<line>//[^\n]*)
      | (?P<block>/\*.*?\*/)""",
    re.VERBOSE | re.DOTALL,
)


def code_of(text):
    """C++ with comments and the content of literals blanked, line by line as before. #include lines stay whole."""

    def blank(match):
        if match.lastgroup == "digit_separator":
            return match.group()
        return re.sub(r"[^\n]", " ", match.group())

    kept = {}
    lines = text.split("\n")
    for number, line in enumerate(lines):
        if re.match(r"\s*#\s*include\b", line):
            kept[number] = line
    blanked = CPP_TOKEN.sub(blank, text).split("\n")
    for number, line in kept.items():
        blanked[number] = line
    return blanked


def main(check):
    parser = argparse.ArgumentParser()
    parser.add_argument("--source", type=Path, default=Path(__file__).resolve().parents[2])
    arguments, _ = parser.parse_known_args()  # ctest gives every script --tlstrata and --scratch too
    findings = check(arguments.source)
    for finding in findings:
        print(finding)
    print(f"{len(findings)} findings")
    sys.exit(1 if findings else 0)
