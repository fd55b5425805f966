#!/usr/bin/env python3
"""Shell scripts pass shellcheck, and those for /bin/sh are understood by dash."""
import shutil
import subprocess

import lint


def scripts(source):
    """(path, interpreter) of every file that begins like a shell script or is sourced by one."""
    found = []
    for path in lint.files(source):
        with path.open("rb") as file:
            first = file.readline(80)
        if first.startswith(b"#!") and first.rstrip().endswith((b"/sh", b"bash")):
            found.append((path, first.rstrip().rsplit(b"/", 1)[-1].decode().removeprefix("env ")))
        elif path.suffix == ".sh":
            found.append((path, "sh"))
    return found


def check(source):
    if shutil.which("shellcheck") is None:
        return ["shellcheck is missing: ./run setup installs it"]
    findings = []
    for path, interpreter in scripts(source):
        ran = subprocess.run(
            ["shellcheck", "--format=gcc", "--external-sources", str(path.relative_to(source))],
            cwd=source, capture_output=True, text=True, check=False,
        )
        findings += (ran.stdout + ran.stderr).splitlines()
        if interpreter == "sh":
            ran = subprocess.run(["sh", "-n", str(path)], capture_output=True, text=True, check=False)
            findings += ran.stderr.splitlines()
        if path.suffix == "" and not path.stat().st_mode & 0o111:
            findings.append(f"{path.relative_to(source)}:1: not executable")
    return findings


if __name__ == "__main__":
    lint.main(check)
