#!/usr/bin/env python3
"""The man pages: every command has one, every option of --help is in it, and man and mandoc have nothing to say."""

import os
import pathlib
import re
import subprocess
import unittest

import arguments

ARGUMENTS = None
SCRATCH = None
WIDTH = 80
ORDER = ["NAME", "SYNOPSIS", "DESCRIPTION", "COMMANDS", "OPTIONS", "EXAMPLES", "EXIT STATUS", "ENVIRONMENT", "FILES",
         "SEE ALSO"]


def run(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False, timeout=60,
                          env={**os.environ, "MANWIDTH": str(WIDTH), "LC_ALL": "C.UTF-8", "MAN_KEEP_FORMATTING": ""})
    if done.returncode != 0:
        raise AssertionError(f"exit code {done.returncode}: {command}\n{done.stdout}\n{done.stderr}")
    return done


def programs():
    """Our programs in the build folder: tlstrata, and tlstrata-mpi where there is an MPI."""
    own = pathlib.Path(ARGUMENTS.tlstrata)
    return [own, *[path for path in [own.with_name("tlstrata-mpi")] if path.exists()]]


def help_of(words):
    program = pathlib.Path(ARGUMENTS.tlstrata).with_name(words[0])
    return run(program, *words[1:], "--help").stdout


def page_of(words):
    return SCRATCH / words[0] / "man" / ("-".join(words) + ".1")


def subcommands(words):
    """[["tlstrata", "lab"], ...]: all commands below `words`, as --help lists them."""
    found = []
    listed = help_of(words).partition("\nSubcommands:\n")[2].partition("\n\n")[0]
    for name in re.findall(r"^  (\w+) ", listed, re.MULTILINE):
        found += [[*words, name], *subcommands([*words, name])]
    return found


class Manual(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.commands = []
        for program in programs():
            run(program, "--write-manual", SCRATCH / program.name)
            cls.commands += [[program.name], *subcommands([program.name])]
        cls.pages = sorted(SCRATCH.glob("*/man/*.1"))

    def test_each_command_has_a_page(self):
        self.assertGreater(len(self.commands), 10)
        self.assertEqual(self.pages, sorted(page_of(words) for words in self.commands))

    def test_formatters_have_nothing_to_say(self):
        run("mandoc", "-T", "lint", "-W", "warning", *self.pages)
        for page in self.pages:
            self.assertEqual(run("man", "--warnings", "-l", page).stderr, "", page)

    def test_pages_say_what_help_says(self):
        for words in self.commands:
            page = run("man", "-l", page_of(words)).stdout
            sections = re.findall(r"^([A-Z][A-Z ]+)$", page, re.MULTILINE)
            self.assertEqual(sections, [name for name in ORDER if name in sections], words)
            for needed in ["NAME", "SYNOPSIS", "DESCRIPTION", "EXIT STATUS", "SEE ALSO"]:
                self.assertIn(needed, sections, words)
            text = help_of(words)
            options = set(re.findall(r"^  (?:-\w,)?(--[\w-]+)", text, re.MULTILINE)) - {"--help"}
            self.assertEqual({name for name in options if not re.search(rf"^ +{name}\b", page, re.MULTILINE)}, set(), words)
            if "Examples:" in text:
                self.assertIn("EXAMPLES", sections, words)
            for line in page.splitlines():
                self.assertLessEqual(len(line), WIDTH, f"{words}: {line}")

    def test_the_folder_must_be_writable(self):
        done = subprocess.run([ARGUMENTS.tlstrata, "--write-manual", "/proc/none"], capture_output=True, text=True, check=False,
                              timeout=60)
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn("/proc/none", done.stderr)


if __name__ == "__main__":
    ARGUMENTS, SCRATCH, REST = arguments.read()
    arguments.run_tests(REST)
