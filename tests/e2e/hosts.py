"""Several hosts on one machine: network namespaces with names and addresses of their own, joined by a bridge.

Nothing of it has a name outside: holder processes keep the namespaces, and all is gone with them.
"""

import os
import pathlib
import subprocess

NETWORK = "10.97.0"
SERVER = f"{NETWORK}.254"  # where the bridge is

# mpirun calls it as it would ssh: with a host and a command line for a shell there.
AGENT = """#!/bin/sh
host=$1
shift
pid=$(cat "{folder}/$host.pid") || exit 1
exec nsenter --target "$pid" --net --uts sh -c "$*"
"""


class Hosts:
    def __init__(self, count, folder):
        self.folder = pathlib.Path(folder).resolve()
        self.addresses = [f"{NETWORK}.{i + 1}" for i in range(count)]
        self.names = [f"node{i + 1}" for i in range(count)]
        self.agent = self.folder / "agent"
        self._holders = []

    def __enter__(self):
        self.folder.mkdir(parents=True, exist_ok=True)
        self.agent.write_text(AGENT.format(folder=self.folder), encoding="ascii")
        self.agent.chmod(0o755)
        server = self._hold("server", SERVER)
        self._run(SERVER, f"ip link add bridge type bridge && ip addr add {SERVER}/24 dev bridge && ip link set bridge up")
        for name, address in zip(self.names, self.addresses):
            host = self._hold(name, address)
            subprocess.run(["ip", "link", "add", "eth0", "netns", str(host), "type", "veth",
                            "peer", "name", name, "netns", str(server)], check=True)
            self._run(SERVER, f"ip link set {name} master bridge up")
            self._run(address, f"ip addr add {address}/24 dev eth0 && ip link set eth0 up")
        return self

    def __exit__(self, *_):
        for holder in self._holders:
            holder.kill()
            holder.wait()
            holder.stdout.close()

    def inside(self, address):
        """What a command line begins with to be run there."""
        pid = (self.folder / f"{address}.pid").read_text(encoding="ascii")
        return ["nsenter", "--target", pid, "--net", "--uts"]

    def mpirun(self, *options):
        """mpirun on the first host, a rank on each."""
        environment = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
        return ["env", *(f"{name}={value}" for name, value in environment.items()), *self.inside(self.addresses[0]),
                "mpirun", "--host", ",".join(f"{address}:1" for address in self.addresses), "--map-by", "node",
                "--mca", "plm_rsh_agent", str(self.agent), "--mca", "btl", "tcp,self",
                "--mca", "btl_tcp_if_include", "eth0", "--mca", "oob_tcp_if_include", "eth0", *options]

    def _hold(self, name, address):
        holder = subprocess.Popen(["unshare", "--net", "--uts", "sh", "-c",
                                   f"echo {name} >/proc/sys/kernel/hostname && ip link set lo up && echo ready && exec sleep infinity"],
                                  stdout=subprocess.PIPE, text=True, start_new_session=True)
        self._holders.append(holder)
        if holder.stdout.readline() != "ready\n":
            raise AssertionError(f"no namespace for {name}: are we root (uid {os.geteuid()}) with CAP_SYS_ADMIN?")
        (self.folder / f"{address}.pid").write_text(str(holder.pid), encoding="ascii")
        return holder.pid

    def _run(self, address, script):
        subprocess.run([*self.inside(address), "sh", "-c", script], check=True)
