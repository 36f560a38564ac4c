# SPDX-License-Identifier: BSD-3-Clause
"""Runs a Slurm cluster of this machine in a directory: munged, slurmctld and slurmd with our configuration.

Only root can start it.
"""
import os
import re
import shutil
import socket
import subprocess
import time

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "scontrol", "sinfo")
SECONDS = 60  # to come up

CONF = """ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ctld_port}
SlurmdPort={slurmd_port}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={root}/munge/socket
CredType=cred/munge
StateSaveLocation={root}/state
SlurmdSpoolDir={root}/spool
SlurmctldPidFile={root}/slurmctld.pid
SlurmdPidFile={root}/slurmd.pid
SlurmctldLogFile={root}/slurmctld.log
SlurmdLogFile={root}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SchedulerType=sched/builtin
SchedulerParameters=batch_sched_delay=0,sched_interval=1,sched_min_interval=0
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
NodeName={host} NodeAddr=127.0.0.1 CPUs={cpus} State=UNKNOWN{gres}
PartitionName=all Nodes={host} Default=YES MaxTime=10 State=UP
"""


def find(program):
    return shutil.which(program, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")


def missing():
    """Returns the reason why no cluster can run here, or None."""
    lacking = [program for program in PROGRAMS if not find(program)]
    if lacking:
        return f"no {', '.join(lacking)} (Debian: slurm-wlm, munge)"
    return None if os.geteuid() == 0 else "only root can start slurmctld and slurmd"


def free_ports(count):
    probes = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [probe.getsockname()[1] for probe in probes]
    for probe in probes:
        probe.close()
    return ports


class Cluster:
    def __init__(self, root, gres=None):
        """Writes `gres` as gres.conf, and gives each node 8 resources of the type channel."""
        self.root, self.processes = root, []
        self.host = socket.gethostname().split(".")[0]
        for name in ("munge", "state", "spool"):
            (root / name).mkdir(mode=0o755)
        ctld_port, slurmd_port = free_ports(2)
        self.conf = root / "slurm.conf"
        self.conf.write_text(CONF.format(root=root, host=self.host, ctld_port=ctld_port,
                                         slurmd_port=slurmd_port, cpus=os.cpu_count(),
                                         gres=" Gres=channel:8\nGresTypes=channel" if gres else ""))
        if gres:
            shutil.copy(gres, root / "gres.conf")
        key = root / "munge.key"
        key.write_bytes(os.urandom(1024))
        key.chmod(0o600)
        self.environment = dict(os.environ, SLURM_CONF=str(self.conf))

    def begin(self, *command):
        with open(self.root / f"{os.path.basename(command[0])}.out", "wb") as out:
            self.processes.append(subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out,
                                                   stderr=out, env=self.environment))

    def start(self):
        """Starts the cluster. Returns None, or the reason why it does not start."""
        munge = self.root / "munge"
        self.begin(find("munged"), "--foreground", "--force", f"--socket={munge}/socket",
                   f"--key-file={self.root}/munge.key", f"--pid-file={munge}/pid",
                   f"--log-file={munge}/log", f"--seed-file={munge}/seed")
        if not self.wait(lambda: (munge / "socket").exists()):
            return self.logs("munged.out")
        self.begin(find("slurmctld"), "-D", "-f", str(self.conf))
        self.begin(find("slurmd"), "-D", "-f", str(self.conf), "-N", self.host)
        if not self.wait(lambda: "idle" in self.run("sinfo", "--noheader", "-o", "%T").stdout):
            return self.logs("slurmctld.out", "slurmctld.log", "slurmd.out", "slurmd.log")
        return None

    def wait(self, condition):
        end = time.monotonic() + SECONDS
        while not condition():
            if time.monotonic() > end or any(p.poll() is not None for p in self.processes):
                return False
            time.sleep(0.1)
        return True

    def logs(self, *names):
        texts = (self.root / name for name in names)
        return "it does not start: " + " ".join(
            text.read_text(errors="replace")[-500:] for text in texts if text.exists())

    def run(self, program, *arguments, timeout=120, **more):
        return subprocess.run([find(program), *map(str, arguments)], env=self.environment,
                              capture_output=True, text=True, timeout=timeout, check=False, **more)

    def batch(self, *arguments, **more):
        """Submits an array job and waits for its end, which sbatch reports late. Returns the job's number, the highest
        exit code of its tasks, and the final states of the tasks."""
        submitted = self.run("sbatch", "--parsable", *arguments, **more)
        if submitted.returncode:
            raise AssertionError(submitted.stderr)
        number = submitted.stdout.strip()

        def tasks():
            printed = self.run("scontrol", "--oneliner", "show", "job", number).stdout
            return re.findall(r"JobState=(\w+) .*?ExitCode=(\d+):\d+", printed)
        if not self.wait(lambda: tasks() and not any(
                state in ("PENDING", "CONFIGURING", "RUNNING", "COMPLETING")
                for state, _ in tasks())):
            raise AssertionError(f"job {number} does not end: {tasks()}")
        ended = tasks()
        return number, max(int(code) for _, code in ended), {state for state, _ in ended}

    def stop(self):
        for process in reversed(self.processes):
            process.terminate()
            try:
                process.wait(60)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
