"""A real Slurm on the hosts of hosts.py, one node each, the controller on the first.

Its packages are unpacked privately: installed, they would start services.
"""

import os
import pathlib
import subprocess
import time

PATIENCE_S = 60
PACKAGES = ["slurmctld", "slurmd", "slurm-client", "slurm-wlm-basic-plugins", "munge", "libmunge2", "libjson-c5", "libyaml-0-2",
            "liblua5.1-0"]
CONFIGURATION = """ClusterName=test
SlurmctldHost={controller}({address})
SlurmUser=root
SlurmdUser=root
PluginDir={plugins}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
SlurmctldPort={port}
SlurmdPort={slurmd_port}
MpiDefault=none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
ReturnToService=2
SwitchType=switch/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SchedulerType=sched/backfill
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.%n.pid
SlurmdSpoolDir={folder}/spool.%n
StateSaveLocation={folder}/state
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.%n.log
TmpFS={folder}/tmp.%n
KillWait=5
{nodes}
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


class Slurm:
    def __init__(self, source, four, folder):
        self.hosts = four
        self.folder = pathlib.Path(folder).resolve()
        unpacked = subprocess.run([pathlib.Path(source) / "tools/unpack.sh", "slurm", *PACKAGES], check=True, stdout=subprocess.PIPE,
                                  text=True)
        self._root = pathlib.Path(unpacked.stdout.strip())
        libraries = sorted({str(path.parent) for path in (self._root / "usr/lib").rglob("*.so*")})
        self.environment = {**os.environ, "SLURM_CONF": str(self.folder / "slurm.conf"), "LD_LIBRARY_PATH": ":".join(libraries)}
        self._daemons = []

    def __enter__(self):
        (self.folder / "state").mkdir(parents=True)
        key = self.folder / "munge.key"
        key.write_bytes(os.urandom(64))
        key.chmod(0o400)
        nodes = "\n".join(f"NodeName={name} NodeAddr={address} CPUs=1 State=UNKNOWN"
                          for name, address in zip(self.hosts.names, self.hosts.addresses))
        (self.folder / "slurm.conf").write_text(CONFIGURATION.format(
            controller=self.hosts.names[0], address=self.hosts.addresses[0], folder=self.folder, port=6817, slurmd_port=6818,
            plugins=next((self._root / "usr/lib").rglob("auth_munge.so")).parent, nodes=nodes), encoding="ascii")
        # Its own folder lies where anybody may write (/tmp): munged would refuse that.
        self._start([], "usr/sbin/munged", "--foreground", "--force", "--key-file", key, "--socket", self.folder / "munge.socket",
                    "--pid-file", self.folder / "munged.pid", "--log-file", self.folder / "munged.log",
                    "--seed-file", self.folder / "munged.seed")
        self._wait(lambda: (self.folder / "munge.socket").exists(), "munged")
        self._start(self.hosts.inside(self.hosts.addresses[0]), "usr/sbin/slurmctld-wlm", "-D", "-i")
        for name, address in zip(self.hosts.names, self.hosts.addresses):
            for kind in ("spool", "tmp"):
                (self.folder / f"{kind}.{name}").mkdir()
            self._start(self.hosts.inside(address), "usr/sbin/slurmd-wlm", "-D", "-N", name,
                        "-d", self._root / "usr/sbin/slurmstepd-wlm")
        self._wait(lambda: self._client("usr/bin/sinfo", "-h", "-N", "-o", "%t").stdout.split() == ["idle"] * len(self.hosts.names),
                   "all nodes idle")
        return self

    def __exit__(self, *_):
        for daemon in reversed(self._daemons):
            daemon.terminate()
        for daemon in self._daemons:
            try:
                daemon.wait(timeout=10)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()

    def srun(self, *arguments):
        """Its command line, on the first node; to be run in `environment`."""
        return [*self.hosts.inside(self.hosts.addresses[0]), str(self._root / "usr/bin/srun"), *arguments]

    def _client(self, program, *arguments):
        return subprocess.run([*self.hosts.inside(self.hosts.addresses[0]), self._root / program, *arguments], env=self.environment, capture_output=True,
                              text=True, timeout=PATIENCE_S, check=False)

    def _start(self, inside, program, *arguments):
        with open(self.folder / f"{pathlib.Path(program).name}.out", "ab") as log:
            self._daemons.append(subprocess.Popen([*inside, str(self._root / program), *map(str, arguments)], env=self.environment, stdin=subprocess.DEVNULL,
                                                  stdout=log, stderr=log))

    def _wait(self, reached, what):
        deadline = time.monotonic() + PATIENCE_S
        while not reached():
            if time.monotonic() > deadline:
                raise AssertionError(f"no {what}; see the logs in {self.folder}")
            time.sleep(0.1)
