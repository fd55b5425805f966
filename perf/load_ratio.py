#!/usr/bin/env python3
"""Client CPU per complete transaction of `tlstrata load` against ApacheBench's, in one run.

Both make full TLS 1.3 handshakes (X25519MLKEM768 and X25519 offered and shared, nothing verified), GET 4 KiB and close, by 20
users without a pause, against the same nginx, in turn and several times over. Both link the same OpenSSL. Each program's
CPU is user plus system of the whole process, start-up included; the median of the rounds' ratios is the result.
"""
import argparse
import json
import os
import pathlib
import re
import resource
import statistics
import subprocess
import sys
import time

SOURCE = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(SOURCE / "tests/e2e"))

import nginx  # noqa: E402
import tls_servers  # noqa: E402


def unpacked(name, *packages):
    return pathlib.Path(subprocess.run([SOURCE / "tools/unpack.sh", name, *packages], check=True, stdout=subprocess.PIPE,
                                       text=True).stdout.strip())


def cpu_of(command, environment):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    finished = subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if finished.returncode != 0:
        sys.exit(f"{command[0]} failed: {finished.stderr[-500:]}")
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, finished.stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tlstrata", type=pathlib.Path, required=True)
    parser.add_argument("--scratch", type=pathlib.Path, required=True)
    parser.add_argument("--count", type=int, default=4000, help="transactions a round (default: 4000)")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--maximum", type=float, default=1.0, metavar="RATIO")
    options = parser.parse_args()
    options.scratch = options.scratch.resolve()  # nginx reads a relative path from a folder of its own
    options.scratch.mkdir(parents=True, exist_ok=True)
    openssl = tls_servers.OpenSsl(SOURCE)
    certificates = tls_servers.Certificates(openssl, options.scratch)
    ab = unpacked("ab", "apache2-utils", "libapr1", "libaprutil1")
    libraries = [str(path) for path in ab.glob("usr/lib/*") if path.is_dir()]
    environment = dict(os.environ)
    own = openssl.environment.get("LD_LIBRARY_PATH")
    environment["LD_LIBRARY_PATH"] = ":".join(([own] if own else []) + libraries)
    groups = "X25519MLKEM768:X25519"
    tell_group = "add_header X-Group $ssl_curve always;"
    with nginx.Nginx(SOURCE, openssl, certificates, options.scratch / "nginx", extra=tell_group) as server:
        url = f"https://127.0.0.1:{server.port}/4KiB"
        load = [options.tlstrata, "load", url, "--users", "20", "--count", str(options.count), "--verify", "off", "--groups",
                groups, "--key-shares", groups, "--json", "-"]
        commands = {"ab": ([ab / "usr/bin/ab", "-q", "-n", str(options.count), "-c", "20", "-f", "TLS1.3", url], environment),
                    "tlstrata": (load, dict(os.environ)),
                    "tlstrata --split off": ([*load, "--split", "off"], dict(os.environ))}
        costs = {name: [] for name in commands}
        seen = re.search(r"X-Group: (\S+)", cpu_of([*commands["ab"][0][:-1], "-n", "1", "-c", "1", "-v", "4", url], environment)[1])
        assert seen and seen[1].lower() in ("x25519mlkem768", "0x11ec"), f"ab negotiated {seen and seen[1]}"
        for _ in range(options.rounds):
            for name, (command, variables) in commands.items():
                time.sleep(0.3)
                seconds, out = cpu_of(command, variables)
                costs[name].append(seconds / options.count)
                if name == "ab":
                    complete = int(re.search(r"Complete requests:\s+(\d+)", out)[1])
                    failed = int(re.search(r"Failed requests:\s+(\d+)", out)[1])
                    assert (complete, failed) == (options.count, 0), out
                else:
                    document = json.loads(out)
                    assert document["outcomes"]["complete"] == options.count, document["outcomes"]
                    assert document["groups"] == {"X25519MLKEM768": options.count}, document["groups"]
    print(f"{options.rounds} rounds of {options.count} transactions\n{'':24}{'CPU us':>8}{'(min-max)':>18}{'ratio to ab':>14}")
    ratios = {}
    for name, values in costs.items():
        ratios[name] = statistics.median(one / base for one, base in zip(values, costs["ab"]))
        span = f"({min(values) * 1e6:.0f}-{max(values) * 1e6:.0f})"
        print(f"{name:24}{statistics.median(values) * 1e6:8.0f}{span:>18}{ratios[name]:14.3f}")
    split = statistics.median(on / off - 1 for on, off in zip(costs["tlstrata"], costs["tlstrata --split off"]))
    print(f"measuring the split costs {split * 100:+.1f} % (median of paired rounds)")
    if ratios["tlstrata"] > options.maximum:
        sys.exit(f"above the gate of {options.maximum}")


if __name__ == "__main__":
    main()
