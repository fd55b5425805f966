#!/usr/bin/env python3
"""Completion in real shells: bash and zsh on a pseudoterminal, into which somebody types and presses Tab."""

import os
import pty
import re
import select
import signal
import subprocess
import time
import unittest

import arguments

ARGUMENTS = None
SCRATCH = None
DEADLINE_S = 30
READY = "ready:"


class Shell:
    """An interactive shell. What is typed after a prompt is completed, read, and thrown away by Ctrl-U."""

    def __init__(self, command, set_up):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.chdir(SCRATCH / "folder")
            # A wide dumb terminal: nothing is wrapped, nothing is drawn over. A home of its own: no start-up files.
            environment = {"PATH": os.environ["PATH"], "TERM": "dumb", "COLUMNS": "1000", "LC_ALL": "C", "HOME": str(SCRATCH)}
            os.execvpe(command[0], command, environment)
        for line in set_up:
            self.send(line + "\n")
        # Split, so that the echo of the line is not taken for the prompt.
        self.send(f"PS1={READY[:3]}'{READY[3:]}'\n")
        self.wait(lambda text: text.endswith(READY), "the prompt")

    def send(self, text):
        os.write(self.fd, text.encode())

    def wait(self, enough, what):
        """What was said until `enough` of it is true."""
        text = ""
        end = time.monotonic() + DEADLINE_S
        while not enough(text):
            left = end - time.monotonic()
            if left <= 0:
                raise AssertionError(f"{what} did not come; there was {text!r}")
            if select.select([self.fd], [], [], left)[0]:
                text += re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]|\x1b[=>]|[\r\x07\x00]", "", os.read(self.fd, 65536).decode(errors="replace"))
        return text

    def complete(self, line, expected):
        """Types the line and Tab, and waits until `expected` is seen."""
        self.send(line + "\t")
        self.wait(lambda text: expected in text, f"{expected!r} after {line!r}")
        # Not Ctrl-C: whoever runs this may have it ignored.
        self.send("\x15\n")
        self.wait(lambda text: text.endswith(READY), "the prompt")

    def close(self):
        os.close(self.fd)
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)


# What is typed, and what is to stand there then.
CASES = [
    ("tlstrata han", "tlstrata handshake "),
    ("tlstrata serve or", "tlstrata serve origin "),
    ("tlstrata lab --keep", "tlstrata lab --keep-work "),
    ("tlstrata load --arr", "tlstrata load --arrivals"),
    ("tlstrata load --arrivals po", "tlstrata load --arrivals poisson "),
    ("tlstrata load --groups SecP384r1ML", "tlstrata load --groups SecP384r1MLKEM1024"),
    ("tlstrata load --groups X25519MLKEM768:SecP384r1ML", "tlstrata load --groups X25519MLKEM768:SecP384r1MLKEM1024"),
    ("tlstrata load --groups X25519,SecP384r1ML", "tlstrata load --groups X25519,SecP384r1MLKEM1024"),
    ("tlstrata load --groups=X25519:SecP384r1ML", "tlstrata load --groups=X25519:SecP384r1MLKEM1024"),
    ("tlstrata handshake --certs ecdsa-p256,ml-dsa-4", "tlstrata handshake --certs ecdsa-p256,ml-dsa-44"),
    ("tlstrata lab layered", "tlstrata lab layered-study "),
    ("tlstrata lab my-sp", "tlstrata lab my-spec.toml "),
    ("tlstrata lab --show-spec layered", "tlstrata lab --show-spec layered-study "),
    ("tlstrata analyze --keylog keys.log one", "tlstrata analyze --keylog keys.log one.pcapng "),
    ("tlstrata analyze --json out.json --thre", "tlstrata analyze --json out.json --threads"),
    ("tlstrata analyze --keylog=ke", "tlstrata analyze --keylog=keys.log "),
    ("tlstrata analyze --follow one", "tlstrata analyze --follow one.pcapng "),
    ("tlstrata report some", "tlstrata report some-results/"),
]


class Completion(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        subprocess.run([ARGUMENTS.tlstrata, "--write-manual", SCRATCH], check=True, timeout=60)
        folder = SCRATCH / "folder"
        folder.mkdir()
        (folder / "some-results").mkdir()
        for name in ["my-spec.toml", "keys.log", "one.pcapng"]:
            (folder / name).touch()

    def check(self, shell):
        try:
            for line, expected in CASES:
                shell.complete(line, expected)
        finally:
            shell.close()

    def test_bash(self):
        self.check(Shell(["bash", "--norc", "--noprofile", "-i"],
                         [f". '{SCRATCH}/bash/tlstrata'", "bind 'set enable-bracketed-paste off'"]))

    def test_zsh(self):
        self.check(Shell(["zsh", "-f", "-i", "+o", "prompt_sp", "+o", "prompt_cr"],
                         [f"fpath=('{SCRATCH}/zsh' $fpath)", "autoload -Uz compinit && compinit -u -D"]))

    def test_zsh_sourced(self):
        shell = Shell(["zsh", "-f", "-i", "+o", "prompt_sp", "+o", "prompt_cr"],
                      ["autoload -Uz compinit && compinit -u -D", f". '{SCRATCH}/zsh/_tlstrata'"])
        try:
            shell.complete(*CASES[0])
        finally:
            shell.close()

    def test_all_commands_are_offered(self):
        shown = subprocess.run([ARGUMENTS.tlstrata, "--help"], capture_output=True, text=True, check=True, timeout=60).stdout
        commands = re.findall(r"^  (\w+) ", shown.partition("\nSubcommands:\n")[2].partition("\n\n")[0], re.MULTILINE)
        self.assertGreater(len(commands), 5)
        said = subprocess.run(
            ["bash", "--norc", "-c", '. "$1"; COMP_LINE="tlstrata " COMP_POINT=9; _tlstrata; printf "%s\\n" "${COMPREPLY[@]}"',
             "bash", str(SCRATCH / "bash" / "tlstrata")], capture_output=True, text=True, check=True, timeout=60).stdout
        self.assertEqual(sorted(said.split()), sorted(commands))


if __name__ == "__main__":
    ARGUMENTS, SCRATCH, REST = arguments.read()
    arguments.run_tests(REST)
