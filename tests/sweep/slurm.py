#!/usr/bin/env python3
"""A real one-node Slurm runs a sweep as a job array of four tasks, whose stores become one.

slurm.py FLOPWATT — exits 77 (skipped) with a message where Slurm and munge are not installed or this is not root.
"""
import json
import os
import pathlib
import random
import shutil
import socket
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
EXAMPLES = HERE.parent.parent / "examples"
TASKS, CONFIGURATIONS, REPEATS = 4, 2 * 2 * 3 * 2, 1

PLAN = f"""
models = ["tiny-gpt2.json", "tiny-llama.json"]
dtypes = ["float32", "bfloat16"]
batch = [1, 2, 4]
sequence = [16, 32]
[protocol]
cooldown_seconds = 0
sample_seconds = 0.01
min_samples = 3
max_samples = 10
repeats = {REPEATS}
idle_seconds = 0
[power]
source = "synthetic"
base_watts = 20
joules_per_flop = 1e-9
[peak]
source = "stated"
flops_per_second = {{ float32 = 1e11, bfloat16 = 1e11 }}
"""


def skip(why):
    print(f"skipped: {why}")
    sys.exit(77)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Slurm:
    """A private cluster of this machine: its own key, sockets, ports and folders; nothing of it is left behind."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.processes = []
        # munge and the daemons of other users must be able to reach the socket.
        self.folder.chmod(0o711)
        key = self.folder / "munge.key"
        key.write_bytes(random.randbytes(128))
        key.chmod(0o600)
        for name in ("state", "spool"):
            (self.folder / name).mkdir()
        host = socket.gethostname().split(".")[0]
        settings = {
            "ClusterName": "test", "SlurmctldHost": f"{host}(127.0.0.1)", "SlurmUser": "root", "SlurmdUser": "root",
            "AuthType": "auth/munge", "AuthInfo": f"socket={self.folder}/munge.sock",
            "CredType": "cred/munge", "ProctrackType": "proctrack/linuxproc", "TaskPlugin": "task/none",
            "SwitchType": "switch/none", "SelectType": "select/cons_tres", "SelectTypeParameters": "CR_Core",
            "ReturnToService": "2", "AccountingStorageType": "accounting_storage/none", "MpiDefault": "none",
            "SlurmctldPort": free_port(), "SlurmdPort": free_port(),
            "SlurmctldPidFile": f"{self.folder}/slurmctld.pid", "SlurmdPidFile": f"{self.folder}/slurmd.pid",
            "SlurmctldLogFile": f"{self.folder}/slurmctld.log", "SlurmdLogFile": f"{self.folder}/slurmd.log",
            "StateSaveLocation": f"{self.folder}/state", "SlurmdSpoolDir": f"{self.folder}/spool",
            "SchedulerParameters": "sched_interval=1,bf_interval=1,batch_sched_delay=0,sched_min_interval=1000",
        }
        lines = [f"{key}={value}" for key, value in settings.items()]
        lines.append(f"NodeName={host} NodeAddr=127.0.0.1 CPUs={os.cpu_count()} State=UNKNOWN")
        lines.append(f"PartitionName=test Nodes={host} Default=YES MaxTime=INFINITE State=UP")
        (self.folder / "slurm.conf").write_text("\n".join(lines) + "\n", encoding="utf-8")
        self.environment = {**os.environ, "SLURM_CONF": str(self.folder / "slurm.conf")}

    def start(self):
        f = self.folder
        self.spawn("munged", "--foreground", f"--socket={f}/munge.sock", f"--key-file={f}/munge.key",
                   f"--pid-file={f}/munged.pid", f"--log-file={f}/munged.log", f"--seed-file={f}/munge.seed", "--force")
        self.wait_for(lambda: (f / "munge.sock").exists(), "munge")
        self.spawn("slurmctld", "-D", "-i")
        self.spawn("slurmd", "-D")
        self.wait_for(lambda: "idle" in self.run("sinfo", "-h", "-o", "%T", check=False), "an idle node")

    def spawn(self, *command):
        log = open(self.folder / f"{command[0]}.out", "wb")  # pylint: disable=consider-using-with
        self.processes.append(subprocess.Popen(command, env=self.environment, stdout=log, stderr=log))

    def run(self, *command, check=True, timeout=300):
        done = subprocess.run(command, env=self.environment, capture_output=True, text=True, check=False,
                              timeout=timeout)
        if check and done.returncode != 0:
            raise SystemExit(f"{command}: exit {done.returncode}\n{done.stdout}{done.stderr}\n{self.logs()}")
        return done.stdout

    def wait_for(self, ready, what):
        deadline = time.monotonic() + 60
        while not ready():
            if time.monotonic() > deadline:
                raise SystemExit(f"{what} did not come up\n{self.logs()}")
            time.sleep(0.05)

    def logs(self):
        files = sorted(self.folder.glob("*.log")) + sorted(self.folder.glob("*.out"))
        return "\n".join(f"--- {file.name}\n{file.read_text(errors='replace')[-2000:]}" for file in files)

    def stop(self):
        for process in reversed(self.processes):
            process.terminate()
        for process in self.processes:
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def main(flopwatt):
    os.environ["PATH"] += ":/usr/sbin:/sbin"
    missing = [name for name in ("munged", "slurmctld", "slurmd", "sbatch", "sinfo") if shutil.which(name) is None]
    if missing:
        skip(f"{', '.join(missing)} not installed (Debian: slurm-wlm munge)")
    if os.geteuid() != 0:
        skip("Slurm's daemons need root")
    os.environ["FLOPWATT"] = flopwatt
    os.environ["FLOPWATT_TORCH"] = str(HERE / "workload.py")
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder) / "work"
        work.mkdir()
        (work / "plan.toml").write_text(PLAN, encoding="utf-8")
        for name in ("tiny-gpt2.json", "tiny-llama.json"):
            shutil.copy(EXAMPLES / "models" / name, work)
        (pathlib.Path(folder) / "slurm").mkdir()
        slurm = Slurm(pathlib.Path(folder) / "slurm")
        try:
            slurm.start()
            common = ("--wait", f"--chdir={work}", f"--output={folder}/slurm/job-%j.log")
            slurm.run("sbatch", *common, f"--array=1-{TASKS}", str(EXAMPLES / "slurm" / "sweep.sbatch"), "plan.toml",
                      str(work / "results"))
            stores = sorted((work / "results").glob("shard-*.sqlite"))
            assert len(stores) == TASKS, stores
            slurm.run("sbatch", *common, str(EXAMPLES / "slurm" / "merge.sbatch"), str(work / "results"))
            answer = json.loads(slurm.run(flopwatt, "sweep", "report", str(work / "results" / "all.sqlite"), "--json"))
            measured = [one for one in answer["configurations"] if one["runs_finished"] == REPEATS and one["mfu"]]
            assert len(measured) == CONFIGURATIONS, (len(measured), slurm.logs())
            assert "tiny-llama" in (work / "results" / "report.md").read_text(encoding="utf-8")
            assert (work / "results" / "samples.csv").stat().st_size > 0
            # The same array again has nothing left to do, and takes its stores as they are.
            slurm.run("sbatch", *common, f"--array=1-{TASKS}", str(EXAMPLES / "slurm" / "sweep.sbatch"), "plan.toml",
                      str(work / "results"))
            again = json.loads(slurm.run(flopwatt, "sweep", "report", str(stores[0]), "--json"))
            assert all(one["runs_finished"] == REPEATS for one in again["configurations"])
        finally:
            slurm.stop()
    print(f"{TASKS} tasks measured {CONFIGURATIONS} configurations into one store")


if __name__ == "__main__":
    main(str(pathlib.Path(sys.argv[1]).resolve()))
