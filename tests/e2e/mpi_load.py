#!/usr/bin/env python3
"""`tlstrata-mpi load`: four ranks on four hosts (network namespaces with names and addresses of their own) against nginx,
started by mpirun through a launch agent, or with --slurm by srun of a real Slurm on these hosts.

What is asserted no busy machine can break: sums, the schedule itself, clocks to within what is stated of them, who is missing.
Actual starts are looked at by the test that a single process has, at a rate whose gaps are far longer than a stall.
"""

import argparse
import collections
import contextlib
import csv
import json
import os
import pathlib
import re
import shutil
import signal
import statistics
import subprocess
import sys
import time

import arrivals
import hosts
import nginx
import slurm
import tls_servers

RATE, SECONDS, SEED = 250, 5, 7
OFFSETS_NS = [0, 2_000_000_000, -900_000_000, 40_000]  # of the ranks' clocks, injected
SLEWED_NS = 100_000  # one kernel's clock against itself, between two readings
PATIENCE_S = 60


class Bench:
    def __init__(self, arguments):
        self.tlstrata = arguments.tlstrata
        self.program = str(pathlib.Path(arguments.tlstrata).parent / "tlstrata-mpi")
        self.scratch = pathlib.Path(arguments.scratch).resolve()
        shutil.rmtree(self.scratch, ignore_errors=True)
        self.scratch.mkdir(parents=True)
        openssl = tls_servers.OpenSsl(arguments.source)
        self.certificates = tls_servers.Certificates(openssl, self.scratch)
        self.source, self.openssl = arguments.source, openssl
        self.judge = arrivals.Judge()
        self.expect = self.judge.expect
        self.url = ""
        self.launcher, self.environment = [], None  # of the four hosts

    def options(self, folder, *more):
        return ["load", self.url, "--ca", self.certificates.authority, "--sni", "localhost", "--groups", "X25519",
                "--out", str(self.scratch / folder), *more]

    def result(self, folder):
        with open(self.scratch / folder / "client.csv", newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        return json.loads((self.scratch / folder / "summary.json").read_text(encoding="utf-8")), rows

    def sums(self, summary, rows):
        ranks = summary["mpi"]["ranks"]
        by_rank = collections.Counter(int(row["rank"]) for row in rows)
        self.expect(all(by_rank[rank["rank"]] == rank["scheduled"] for rank in ranks) and len(rows) == summary["scheduled"],
                    f"{len(rows)} rows, of each rank as many as it was to make: {dict(sorted(by_rank.items()))}")
        outcomes = collections.Counter(row["outcome"] for row in rows)
        self.expect(all(outcomes[name] == count == sum(rank["outcomes"][name] for rank in ranks)
                        for name, count in summary["outcomes"].items()), f"outcomes are the ranks' sums: {dict(outcomes)}")

    def four_hosts(self, four):
        print(f"four ranks on four hosts, Poisson arrivals at {RATE}/s for {SECONDS} s")
        traffic = ["--rate", str(RATE), "--duration", f"{SECONDS}s", "--arrivals", "poisson", "--seed", str(SEED)]
        offsets = [option for rank, offset in enumerate(OFFSETS_NS) for option in ("--clock-offset", f"{rank}={offset}ns")]
        table = self.scratch / "alone.csv"
        # One process beside them, where nobody listens: its schedule is all that it is asked for.
        alone = subprocess.Popen([self.tlstrata, "load", f"https://127.0.0.1:{tls_servers.free_port()}/", "--transactions", table,
                                  "--verify", "off", "--max-failures", "1000000", *traffic], stdout=subprocess.DEVNULL)
        done = subprocess.run([*self.launcher, self.program, *self.options("four", *traffic, *offsets, "--capture", "run.pcapng")],
                              env=self.environment, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
        self.expect(alone.wait(timeout=PATIENCE_S) == 0, "so does one process alone")
        self.expect(done.returncode == 0, f"it ends with 0 {done.stderr.strip()[-2000:]}")
        summary, rows = self.result("four")
        ranks = summary["mpi"]["ranks"]
        self.sums(summary, rows)
        addresses = [{row["client"].rsplit(":", 1)[0] for row in rows if int(row["rank"]) == rank} for rank in range(4)]
        self.expect(addresses == [{address} for address in four.addresses] and [rank["host"] for rank in ranks] == four.names,
                    f"each from its own host: {addresses}")
        self.expect(all(abs(rank["clock_offset_ns"] - offset) <= rank["clock_uncertainty_ns"] + SLEWED_NS
                        for rank, offset in zip(ranks, OFFSETS_NS)),
                    "clocks as injected, to within what is stated: "
                    f"{[(rank['clock_offset_ns'], rank['clock_uncertainty_ns']) for rank in ranks]}")
        self.schedule(rows, table)
        self.times(four, ranks, rows)

    def schedule(self, rows, table):
        """The union is what one process would have sent, and it was sent."""
        with open(table, newline="", encoding="utf-8") as file:
            alone = sorted(int(row["scheduled_ns"]) for row in csv.DictReader(file))
        due = sorted(int(row["scheduled_ns"]) for row in rows)
        apart = max(abs((a - due[0]) - (b - alone[0])) for a, b in zip(due, alone, strict=True))
        self.expect(apart <= 2 * SLEWED_NS, f"{len(due)} starts are due when one process would have started them, to {apart} ns")
        started = sorted(int(row["start_ns"]) for row in rows if row["start_ns"])
        self.expect(len(started) >= 0.999 * len(due), f"{len(started)} of {len(due)} started: the schedule is kept to 0.1 %")
        self.judge.check_gaps("scheduled starts of all ranks", due, RATE)
        self.judge.check_gaps("scheduled starts of one process", alone, RATE)
        self.judge.check_gaps("actual starts of all ranks", started, RATE)

    def times(self, four, ranks, rows):
        """Captures are stamped by the one real clock: what the merged rows say is off by the error of the offset alone."""
        for rank, address in enumerate(four.addresses):
            table = self.scratch / f"rank-{rank}.csv"
            subprocess.run([self.tlstrata, "analyze", self.scratch / "four" / f"run.rank-{rank}.pcapng", "--transactions", table],
                           check=True, capture_output=True)
            with open(table, newline="", encoding="utf-8") as file:
                syns = {row["client"]: int(row["start_ns"]) for row in csv.DictReader(file)}
            late = [syns[row["client"]] - int(row["start_ns"]) for row in rows if row["client"] in syns]
            bound = ranks[rank]["clock_uncertainty_ns"] + SLEWED_NS
            self.expect(len(late) >= 0.999 * ranks[rank]["scheduled"] and -bound <= statistics.median(late) <= bound + 1_000_000,
                        f"{address}: {len(late)} SYNs captured, {statistics.median(late):.0f} ns after the merged start (median)")

    def launch(self, command, folder):
        """Started, and under way: the pids of its ranks."""
        process = subprocess.Popen(command, env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        deadline = time.monotonic() + PATIENCE_S
        job = self.scratch / folder / "job.json"
        while not job.exists():
            if process.poll() is not None or time.monotonic() > deadline:
                process.kill()
                raise AssertionError(f"no start: {process.communicate()}")
            time.sleep(0.02)
        return process, [rank["pid"] for rank in json.loads(job.read_text(encoding="utf-8"))["ranks"]]

    def killed(self, _):
        print("kill -9 of one rank in mid-run")
        traffic = ["--rate", "200", "--duration", "4s", "--rank-timeout", "2s"]
        process, pids = self.launch([*self.launcher, self.program, *self.options("killed", *traffic)], "killed")
        time.sleep(1.5)
        os.kill(pids[2], signal.SIGKILL)
        output, errors = process.communicate(timeout=PATIENCE_S)
        self.expect(process.returncode != 0, f"the launcher ends with {process.returncode}")
        self.expect("rank 2 on node3" in output and "did not end: rank 2 on node3" in errors, "the report names rank 2 on node3")
        summary, rows = self.result("killed")
        self.sums(summary, rows)
        ranks = summary["mpi"]["ranks"]
        self.expect([rank["ended"] for rank in ranks] == [True, True, False, True] and not summary["mpi"]["complete"],
                    "summary.json says who ended")
        self.expect(summary["scheduled"] == 800 and all(ranks[i]["not_started"] == 0 and ranks[i]["recorded"] == 200 for i in (0, 1, 3)),
                    "the others' 600 are all there")
        self.expect(0 < ranks[2]["recorded"] < 200 and ranks[2]["not_started"] == 200 - ranks[2]["recorded"] == summary["outcomes"]["not_started"],
                    f"of rank 2 {ranks[2]['recorded']} are kept, and {ranks[2]['not_started']} are not_started")

    def mpirun(self, *arguments, folder=None, more=(), timeout=PATIENCE_S):
        """On this machine alone."""
        command = ["mpirun", "--allow-run-as-root", "--oversubscribe", *arguments]
        if folder is not None:
            command += [self.program, *self.options(folder, *more)]
        return subprocess.run(command, capture_output=True, text=True, timeout=timeout, check=False)

    def frozen(self):
        print("a rank that stands still")
        command = ["mpirun", "--allow-run-as-root", "--oversubscribe", "--enable-recovery", "-np", "3", self.program,
                   *self.options("frozen", "--rate", "100", "--duration", "2s", "--rank-timeout", "1s")]
        process, pids = self.launch(command, "frozen")
        os.kill(pids[1], signal.SIGSTOP)
        try:
            _, errors = process.communicate(timeout=PATIENCE_S)
        finally:
            if pathlib.Path(f"/proc/{pids[1]}/comm").exists():
                os.kill(pids[1], signal.SIGKILL)
        summary, rows = self.result("frozen")
        self.sums(summary, rows)
        self.expect(process.returncode == 1 and "rank 1 on" in errors and "said nothing for" in summary["mpi"]["ranks"][1]["lost"],
                    f"it is named, and nobody waits for it: {summary['mpi']['ranks'][1]['lost']}")

    def leader_killed(self):
        print("kill -9 of rank 0, and --merge-only")
        traffic = ["--rate", "100", "--duration", "2s", "--rank-timeout", "1s"]
        process, pids = self.launch(["mpirun", "--allow-run-as-root", "--oversubscribe", "--enable-recovery", "-np", "3", self.program,
                                     *self.options("headless", *traffic)], "headless")
        time.sleep(0.7)
        os.kill(pids[0], signal.SIGKILL)
        process.communicate(timeout=PATIENCE_S)
        self.expect(not (self.scratch / "headless/summary.json").exists(), "the others end, nobody merges")
        done = subprocess.run([self.program, *self.options("headless", *traffic), "--merge-only"], capture_output=True, text=True,
                              check=False)
        self.expect(done.returncode == 1 and "rank 0 on" in done.stderr, f"merged later, without a job: {done.stderr.strip()}")
        self.sums(*self.result("headless"))
        done = subprocess.run([self.program, *self.options("headless", *traffic), "--seed", "3", "--merge-only"], capture_output=True,
                              text=True, check=False)
        self.expect(done.returncode == 2, f"with other options it is refused: {done.stderr.strip()[:80]}")

    def alone(self):
        print("one rank")
        for command in (["mpirun", "--allow-run-as-root", "-np", "1"], []):
            folder = f"one{len(command)}"
            done = subprocess.run([*command, self.program, *self.options(folder, "--rate", "100", "--count", "20")],
                                  capture_output=True, text=True, timeout=PATIENCE_S, check=False)
            self.expect(done.returncode == 0 and "1 rank alone" in done.stdout, f"{command[:1] or 'no launcher'}: works and says so"
                        f" {done.stderr.strip()}")
            self.sums(*self.result(folder))

    def closed(self):
        print("a closed loop of 5 users, 101 transactions of 2 a connection, 3 ranks, HTTP/2, with a warm-up")
        done = self.mpirun("-np", "3", folder="closed", more=["--users", "5", "--count", "101", "--requests", "2", "--think", "20ms",
                                                               "--alpn", "h2", "--warmup", "2", "--live", "50ms", "--keylog", "keys.txt"])
        self.expect(done.returncode == 0, f"it ends with 0 {done.stderr.strip()}")
        summary, rows = self.result("closed")
        self.sums(summary, rows)
        totals = re.findall(r"^ +[0-9]+ s, 3 of 3 ranks: ([0-9]+) of 101 ended", done.stderr, re.MULTILINE)
        self.expect(len(totals) > 2 and totals[-1] == "101" and totals == sorted(totals, key=int), f"live totals of all ranks: {' '.join(totals)}")
        self.expect(len(rows) == 101 and summary["outcomes"]["complete"] == 101 and summary["users"] == 5, "101 complete, of 5 users")
        modes = [(self.scratch / "closed" / f"keys.rank-{rank}.txt").stat().st_mode & 0o777 for rank in range(3)]
        self.expect(modes == [0o600] * 3, "a key log of each rank, for its owner alone")
        done = self.mpirun("-np", "3", folder="few", more=["--users", "2"])
        self.expect(done.returncode == 2 and "2 users for 3 processes" in done.stderr, "fewer users than ranks are refused")

    def refused(self):
        """Nothing of these begins: a clear error that names who and where, and an end."""
        print("what cannot begin")
        own = [self.program, *self.options("refused", "--count", "10")]
        old = self.scratch / "older"
        program = pathlib.Path(self.program).read_bytes()
        version = subprocess.run([self.program, "--version"], capture_output=True, text=True, check=True).stdout.split()[1].encode()
        old.write_bytes(program.replace(version, b"0" * len(version)))
        old.chmod(0o755)
        blocked = self.scratch / "refused"
        hidden = ["unshare", "--mount", "sh", "-c", f'mount -t tmpfs none "{blocked.parent}/shared" && shift && exec "$@"', "sh", "-"]
        (self.scratch / "shared").mkdir()
        shared = [self.program, *self.options("shared/run", "--count", "10")]
        plain_file = self.scratch / "file"
        plain_file.write_text("", encoding="ascii")
        full = ["unshare", "--mount", "sh", "-c",
                f'mount --bind "{blocked.parent}/bound" "{blocked.parent}/bound" && mount -o remount,ro,bind "{blocked.parent}/bound" && shift && exec "$@"',
                "sh", "-"]
        (self.scratch / "bound").mkdir()
        bound = [self.program, *self.options("bound/run", "--count", "10")]
        host = os.uname().nodename
        for what, arguments, words in (
                ("ranks of different versions", ["-np", "1", *own, ":", "-np", "1", old, *own[1:]], ["different versions", f"rank 1 on {host}"]),
                ("ranks with different options", ["-np", "1", *own, ":", "-np", "1", *own, "--seed", "5"], ["different plans", f"rank 1 on {host}"]),
                ("a folder that rank 1 does not see", ["-np", "1", *shared, ":", "-np", "1", *hidden, *shared], ["not to be seen here", f"rank 1 on {host}"]),
                ("a folder that rank 1 cannot write", ["-np", "1", *bound, ":", "-np", "1", *full, *bound], ["Read-only file system", f"rank 1 on {host}"])):
            shutil.rmtree(blocked, ignore_errors=True)
            done = self.mpirun(*map(str, arguments))
            said = [line for line in done.stderr.splitlines() if line.startswith("tlstrata")]
            self.expect(done.returncode in (2, 3) and len(said) == 1 and all(word in said[0] for word in words),
                        f"{what}: {done.returncode}, {' / '.join(said) or done.stderr}")
        for what, folder, words in (("a folder that cannot be made", "file/run", "Not a directory"), ("a folder that is not empty", "hosts", "not empty")):
            done = subprocess.run([self.program, *self.options(folder)], capture_output=True, text=True, timeout=PATIENCE_S, check=False)
            self.expect(done.returncode == 3 and words in done.stderr and f"rank 0 on {host}" in done.stderr, f"{what}: {done.stderr.strip()}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tlstrata", required=True)
    parser.add_argument("--source", required=True)
    parser.add_argument("--scratch", required=True)
    parser.add_argument("--slurm", action="store_true", help="by srun; only what needs several hosts")
    parser.add_argument("--only", help="one part, by the name of its method")
    arguments = parser.parse_args()
    begin = time.monotonic()
    bench = Bench(arguments)

    def run(part, *what):
        if arguments.only in (None, part.__name__):
            part(*what)
            print(f"  [{time.monotonic() - begin:.1f} s]", flush=True)

    with hosts.Hosts(4, bench.scratch / "hosts") as four, contextlib.ExitStack() as more:
        server = more.enter_context(nginx.Nginx(bench.source, bench.openssl, bench.certificates, bench.scratch / "far", host=hosts.SERVER,
                                                inside=four.inside(hosts.SERVER)))
        bench.url = f"https://{hosts.SERVER}:{server.port}/4KiB"
        if arguments.slurm:
            cluster = more.enter_context(slurm.Slurm(arguments.source, four, bench.scratch / "slurm"))
            bench.launcher = cluster.srun("--mpi=pmix", "--no-kill", "--kill-on-bad-exit=0", "-N", "4", "-n", "4")
            bench.environment = {**cluster.environment, "OMPI_MCA_btl": "tcp,self", "OMPI_MCA_btl_tcp_if_include": "eth0"}
        else:
            bench.launcher = four.mpirun("--enable-recovery", "-np", "4")
        run(bench.four_hosts, four)
        run(bench.killed, four)
    bench.environment = None
    if not arguments.slurm:
        with nginx.Nginx(bench.source, bench.openssl, bench.certificates, bench.scratch / "near") as server:
            bench.url = f"https://127.0.0.1:{server.port}/4KiB"
            for part in (bench.frozen, bench.leader_killed, bench.alone, bench.closed, bench.refused):
                run(part)
    sys.exit(1 if bench.judge.wrong else 0)


if __name__ == "__main__":
    main()
