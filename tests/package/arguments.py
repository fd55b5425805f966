"""What every test of the packages is called with: the program, the checkout, and a scratch folder that is emptied first."""
import argparse
import pathlib
import shutil
import sys
import unittest


def read():
    """(arguments, scratch folder, unittest's own arguments)"""
    parser = argparse.ArgumentParser()
    parser.add_argument("--tlstrata", required=True)
    parser.add_argument("--source", required=True)
    parser.add_argument("--scratch", required=True)
    given, rest = parser.parse_known_args()
    scratch = pathlib.Path(given.scratch).resolve()
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir(parents=True)
    return given, scratch, rest


def run_tests(rest):
    unittest.main(module="__main__", argv=[sys.argv[0], *rest], verbosity=2)
