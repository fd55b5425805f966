#!/usr/bin/env python3
"""`tlstrata-mpi analyze`: the same rows as one process, whatever the ranks, the files and what becomes of them.

Captures are copies of recorded connections (tests/golden/field), each with a client address and a time of its own: as 64
captures by themselves, and as one stream of overlapping connections cut into 64.
"""
import argparse
import csv
import json
import os
import shutil
import signal
import struct
import subprocess
import sys
import threading
import time
import unittest
from pathlib import Path

ARGUMENTS = None
ENVIRONMENT = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
HEADER = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 262144, 1)  # microseconds: many stamps are equal
FILES = 64
LARGE = 6000  # connections


class Recording:
    """Packets of a capture, ready to be written again with another client and another time."""

    def __init__(self, name):
        data = (ARGUMENTS.source / "tests/golden/field" / (name + ".pcap")).read_bytes()
        self.packets = []  # microseconds since the first, bytes, where the client's address stands
        client, begin, at = None, None, 24
        while at < len(data):
            seconds, micros, size, _ = struct.unpack_from("<IIII", data, at)
            frame = data[at + 16:at + 16 + size]
            client = client or frame[26:30]
            begin = begin or seconds * 1000000 + micros
            place = 26 if frame[26:30] == client else 30
            self.packets.append((seconds * 1000000 + micros - begin, frame, place))
            at += 16 + size
        self.micros = self.packets[-1][0] + 1

    def copy(self, number, start):
        """[(microseconds, record)] of one more copy."""
        address = struct.pack(">I", 0x0B000000 + number)
        records = []
        for offset, frame, place in self.packets:
            stamp = start + offset
            head = struct.pack("<IIII", stamp // 1000000, stamp % 1000000, len(frame), len(frame))
            records.append((stamp, head + frame[:place] + address + frame[place + 4:]))
        return records


def write(path, records):
    path.write_bytes(HEADER + b"".join(record for _, record in records))


class Captures:
    """Made once for all tests."""

    def __init__(self, folder):
        recordings = [Recording(name) for name in ("grp_X25519MLKEM768", "resume_tickets", "h1_keepalive")]
        self.keys = folder / "keys.txt"
        self.keys.write_text("".join(
            (ARGUMENTS.source / "tests/golden/field" / (name + ".keys")).read_text(encoding="ascii")
            for name in ("grp_X25519MLKEM768", "resume_tickets", "h1_keepalive")), encoding="ascii")
        self.whole, self.cut, self.large = folder / "whole", folder / "cut", folder / "large"
        for each in (self.whole, self.cut, self.large):
            each.mkdir()
        start, number = 1796058371000000, 0
        for file in range(FILES):
            records = []
            for _ in range(ARGUMENTS.connections // 2 + (file * 37 % FILES) * ARGUMENTS.connections // FILES):
                copy = recordings[number % len(recordings)]
                records += copy.copy(number, start)
                start += copy.micros
                number += 1
            write(self.whole / f"{file:02}.pcap", records)
        self.copies = number
        records, start = [], 1796058371000000
        for number in range(1000):
            # A few last long: their packets lie seconds apart, in many of the files.
            copy = recordings[number % len(recordings)].copy(number, start)
            if number % 100 == 50:
                copy = [(stamp, record) for stamp, record in
                        stretch(recordings[0], number, start, 400000 * (1 + number // 100 % 4))]
            records += copy
            start += 1500
        records.sort(key=lambda record: record[0])
        for file in range(FILES):
            part = records[len(records) * file // FILES:len(records) * (file + 1) // FILES]
            write(self.cut / f"{file:02}.pcap", part)
        large, start = [], 1796058371000000
        for number in range(LARGE):
            large += recordings[0].copy(number, start)
            start += recordings[0].micros
        write(self.large / "00.pcap", large)
        for file in range(1, 6):
            os.link(self.large / "00.pcap", self.large / f"{file:02}.pcap")


def stretch(recording, number, start, gap):
    """A copy whose packets come `gap` microseconds apart."""
    for index, (_, record) in enumerate(recording.copy(number, start)):
        stamp = start + index * gap
        yield stamp, struct.pack("<II", stamp // 1000000, stamp % 1000000) + record[8:]


def rows_of(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def without(row, column):
    return {name: value for name, value in row.items() if name != column}


class MpiAnalyze(unittest.TestCase):
    captures = None

    @classmethod
    def setUpClass(cls):
        folder = ARGUMENTS.scratch / "captures"
        shutil.rmtree(ARGUMENTS.scratch, ignore_errors=True)
        folder.mkdir(parents=True)
        cls.captures = Captures(folder)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(ARGUMENTS.scratch / "captures")

    def setUp(self):
        self.scratch = ARGUMENTS.scratch / self.id().rsplit(".", maxsplit=1)[-1]
        self.scratch.mkdir(parents=True)

    def one_process(self, folder, *options):
        table = subprocess.run(
            [ARGUMENTS.tlstrata, "analyze", *sorted(folder.iterdir()), "--keylog", self.captures.keys, "--transactions",
             self.scratch / "one.csv", "--json", self.scratch / "one.json", *options],
            check=True, capture_output=True, text=True)
        with open(self.scratch / "one.json", encoding="utf-8") as file:
            return rows_of(self.scratch / "one.csv"), json.load(file), table.stdout

    def command(self, ranks, *arguments):
        program = [ARGUMENTS.mpi, "analyze", "--transactions", self.scratch / "many.csv", "--json",
                   self.scratch / "many.json", *arguments]
        return program if ranks == 0 else ["mpirun", "--oversubscribe", "--enable-recovery", "-np", str(ranks), *program]

    def run_ranks(self, ranks, *arguments):
        """0 ranks: without mpirun."""
        return subprocess.run(self.command(ranks, *arguments), capture_output=True, text=True, timeout=120, check=False,
                              env=ENVIRONMENT)

    def results(self):
        with open(self.scratch / "many.json", encoding="utf-8") as file:
            return rows_of(self.scratch / "many.csv"), json.load(file)

    def check_same(self, folder, one, ranks, *options):
        done = self.run_ranks(ranks, folder, "--keylog", self.captures.keys, *options)
        self.assertEqual(done.returncode, 0, done.stderr)
        rows, document = self.results()
        self.assertEqual([without(row, "file") for row in rows], one[0])
        for member in ("outcomes", "counts", "warnings", "summary"):
            self.assertEqual(document[member], one[1][member], member)
        self.assertEqual([without(row, "file") for row in document["transactions"]], one[1]["transactions"])
        self.assertTrue(done.stdout.startswith(one[2]), done.stdout)
        return rows, document

    def test_captures_by_themselves_on_1_2_and_4_ranks(self):
        one = self.one_process(self.captures.whole)
        seconds = {}
        for ranks in (1, 2, 4):
            rows, document = self.check_same(self.captures.whole, one, ranks)
            self.assertEqual(len({row["file"] for row in rows}), FILES)
            mpi = document["mpi"]
            self.assertEqual(sum(rank["captures"] for rank in mpi["ranks"]), FILES)
            if ranks != 1:
                self.assertTrue(all(rank["captures"] for rank in mpi["ranks"]), mpi["ranks"])
            seconds[ranks] = mpi["analysis_ns"] / 1e9
        print(f"{len(one[0])} transactions of {FILES} captures: " + ", ".join(
            f"{ranks} ranks {time:.3f} s (ratio {seconds[1] / time:.2f})" for ranks, time in seconds.items()))

    def test_one_stream_cut_into_files(self):
        one = self.one_process(self.captures.cut)
        for ranks in (1, 3):
            _, document = self.check_same(self.captures.cut, one, ranks, "--join")
            mpi = document["mpi"]
            self.assertGreater(mpi["crossing_flows"], FILES)
            self.assertGreater(mpi["windows"], FILES // 2)
        print(f"{mpi['crossing_flows']} of {document['counts']['connections']} connections cross; "
              f"{mpi['windows']} windows read {mpi['window_bytes'] / mpi['bytes']:.1f} times the captures; "
              f"scan {mpi['scan_ns'] / 1e9:.3f} s, analysis {mpi['analysis_ns'] / 1e9:.3f} s")
        # Without --join what crosses is lost.
        self.run_ranks(0, self.captures.cut, "--keylog", self.captures.keys)
        rows, _ = self.results()
        self.assertLess(sum(row["outcome"] == "complete" for row in rows),
                        sum(row["outcome"] == "complete" for row in one[0]))

    def test_options_select_as_in_one_process(self):
        options = ("--since", "1796058373", "--filter", "not host 11.0.0.17", "--by", "group,resumed")
        one = self.one_process(self.captures.cut, *options)
        self.assertGreater(one[1]["counts"]["not_selected"], 0)
        self.check_same(self.captures.cut, one, 2, "--join", *options)

    def test_a_key_log_is_read_once_a_machine(self):
        fifo = self.scratch / "keys.fifo"  # gives its bytes once
        os.mkfifo(fifo)
        writer = threading.Thread(target=lambda: fifo.write_bytes(self.captures.keys.read_bytes()), daemon=True)
        writer.start()
        done = self.run_ranks(4, self.captures.whole, "--keylog", fifo)
        writer.join(timeout=20)
        self.assertEqual(done.returncode, 0, done.stderr)
        rows, document = self.results()
        self.assertTrue(all(row["boundary"] == "decrypted" for row in rows))
        self.assertEqual([rank["read_key_logs"] for rank in document["mpi"]["ranks"]], [True, False, False, False])

    def test_captures_that_are_gone_or_none_are_named(self):
        names = self.scratch / "list"
        broken = self.scratch / "broken.pcap"
        broken.write_text("no capture at all, but long enough to look like one", encoding="ascii")
        gone = self.scratch / "gone.pcap"
        names.write_text("".join(f"{path}\n" for path in [gone, *sorted(self.captures.whole.iterdir())[:5], broken]),
                         encoding="utf-8")
        for join in ([], ["--join"]):
            done = self.run_ranks(0, "--list", names, "--keylog", self.captures.keys, *join)
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertIn(f"not analysed: {gone}", done.stderr)
            self.assertIn(f"not analysed: {broken}", done.stderr)
            self.assertIn("2 of 7 captures were not analysed", done.stderr)
            rows, document = self.results()
            self.assertEqual(len({row["file"] for row in rows}), 5)
            self.assertEqual([lost["file"] for lost in document["mpi"]["not_analysed"]], [str(gone), str(broken)])

    def test_bad_places_and_key_logs_are_told_at_once(self):
        cases = ((["--transactions", self.scratch / "no/where.csv"], "no/where.csv"),
                 (["--keylog", self.scratch / "none.txt"], "none.txt"))
        for arguments, named in cases:
            command = self.command(2, self.captures.whole, *arguments)
            if "--transactions" in arguments:  # the last one counts
                del command[command.index("--transactions"):command.index("--transactions") + 2]
            begin = time.monotonic()
            done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, env=ENVIRONMENT)
            self.assertLess(time.monotonic() - begin, 25, "it waited for the time-out")
            self.assertIn(named, done.stderr)
            self.assertEqual(done.stderr.count(named), 1, "one rank speaks for all: " + done.stderr)
            self.assertNotEqual(done.returncode, 0)

    def test_a_rank_that_is_killed_loses_its_capture_only(self):
        process = subprocess.Popen(
            self.command(3, self.captures.large, "--keylog", self.captures.keys, "--rank-timeout", "4s"),
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=ENVIRONMENT)
        victim, capture = self.stop_rank_at_work(process)
        os.kill(victim, signal.SIGKILL)
        begin = time.monotonic()
        _, errors = process.communicate(timeout=60)
        self.assertNotEqual(process.returncode, 0, "mpirun forgets what rank 0 said")
        self.assertIn("1 of 6 captures were not analysed", errors)
        self.assertIn(f"not analysed: {capture}", errors)
        rows, document = self.results()
        kept = {row["file"] for row in rows}
        self.assertEqual(len(kept), 5)
        self.assertNotIn(str(capture), kept)
        self.assertEqual(len(rows), 5 * LARGE)
        self.assertEqual([rank["lost"] for rank in document["mpi"]["ranks"]].count(True), 1)
        print(f"killed at {capture.name}: the others' 5 captures kept, ended {time.monotonic() - begin:.1f} s later")

    def stop_rank_at_work(self, process):
        """Stops a rank other than 0 while it has a capture open; its process and the capture."""
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            for entry in Path("/proc").iterdir():
                try:
                    environment = (entry / "environ").read_bytes().split(b"\0") if entry.name.isdigit() else []
                    if (not any(each in environment for each in (b"OMPI_COMM_WORLD_RANK=1", b"OMPI_COMM_WORLD_RANK=2"))
                            or str(self.scratch).encode() not in (entry / "cmdline").read_bytes()):
                        continue
                    if not self.open_capture(entry):
                        continue
                    os.kill(int(entry.name), signal.SIGSTOP)
                    if (capture := self.open_capture(entry)) is not None:
                        return int(entry.name), capture
                    os.kill(int(entry.name), signal.SIGCONT)
                except (FileNotFoundError, ProcessLookupError, PermissionError):
                    continue
            self.assertIsNone(process.poll(), "it ended before a rank was seen at work")
        raise AssertionError("no rank was seen at work")

    def open_capture(self, entry):
        for line in (entry / "maps").read_text(encoding="utf-8").splitlines():
            path = Path(line.split(maxsplit=5)[-1])
            if path.parent == self.captures.large:
                return path
        return None


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tlstrata", type=Path, required=True, help="the program")
    parser.add_argument("--mpi", type=Path, help="tlstrata-mpi; as a rule it stands beside the program")
    parser.add_argument("--source", type=Path, required=True, help="the checkout")
    parser.add_argument("--scratch", type=Path, required=True, help="folder for what the test writes")
    parser.add_argument("--connections", type=int, default=50, help="in a capture, about")
    ARGUMENTS, rest = parser.parse_known_args()
    ARGUMENTS.mpi = ARGUMENTS.mpi or ARGUMENTS.tlstrata.parent / "tlstrata-mpi"
    ARGUMENTS.source, ARGUMENTS.scratch = ARGUMENTS.source.resolve(), ARGUMENTS.scratch.resolve()
    unittest.main(argv=[sys.argv[0], *rest])
