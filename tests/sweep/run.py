#!/usr/bin/env python3
"""A sweep from the command line, with a workload that computes nothing (workload.py).

run.py FLOPWATT CASE — cases: round_trip, outlook, recorded, examples, killed, interrupted, full, shards, refused, report;
`example` runs the real workload and exits 77 (skipped) where there is none.
"""
import csv
import json
import os
import pathlib
import random
import resource
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
MODELS = HERE.parent.parent / "examples" / "models"
BATCHES, SEQUENCES, DTYPES, REPEATS, SAMPLES = (1, 2, 4), (16, 32), ("float32", "bfloat16"), 2, 4

PLAN = f"""
models = ["tiny-gpt2.json", "tiny-llama.json"]
dtypes = ["float32", "bfloat16"]
batch = [1, 2, 4]
sequence = [16, 32]
seed = 3
[protocol]
cooldown_seconds = 0
sample_seconds = 0.01
min_samples = {SAMPLES}
max_samples = 20
repeats = {REPEATS}
idle_seconds = 0.03
[power]
source = "synthetic"
base_watts = 20
joules_per_flop = 1e-9
noise_percent = 1
[peak]
source = "measured"
"""
RUNS = 2 * len(DTYPES) * len(BATCHES) * len(SEQUENCES) * REPEATS

LIMIT_BYTES = 800 << 10  # of the store's log: its tables and the plan take less than half of it, the runs more

flopwatt = ""
environment = {**os.environ, "FLOPWATT_TORCH": str(HERE / "workload.py")}


def script(**what):
    environment["FLOPWATT_SCRIPT"] = json.dumps(what)


def run(*words, code=0):
    done = subprocess.run([flopwatt, *map(str, words)], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == code, f"{words}: exit {done.returncode}, not {code}\n{done.stdout}\n{done.stderr}"
    return done


def make_plan(text=PLAN):
    pathlib.Path("plan.toml").write_text(text, encoding="utf-8")
    for name in ("tiny-gpt2.json", "tiny-llama.json"):
        pathlib.Path(name).write_text((MODELS / name).read_text(encoding="utf-8"), encoding="utf-8")


def rows_of(store):
    """Every stored sample under the identity of its run; {} while there is no store."""
    try:
        with sqlite3.connect(f"file:{store}?mode=ro", uri=True, timeout=5) as database:
            rows = database.execute("SELECT uid, number, life, steps, tokens, device_seconds, mfu, power_watts "
                                    "FROM sample JOIN run ON run.id = sample.run").fetchall()
    except sqlite3.OperationalError:
        return {}
    return {row[:2]: row[2:] for row in rows}


def near(a, b, relative=1e-9):
    return abs(a - b) <= relative * max(abs(a), abs(b))


def checked_rows(path):
    """Samples and idle readings of an export; every MFU is tokens/s · counted FLOPs / peak."""
    with open(path, encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    idle = [row for row in rows if row["model_name"] == "baseline"]
    rows = [row for row in rows if row["model_name"] != "baseline"]
    for row in rows:
        tokens = int(row["batch_size"]) * int(row["sequence_length"])
        flops_per_token = float(row["calflops_total"]) / tokens
        mfu = float(row["tokens_per_second"]) * flops_per_token / float(row["peak_flops_per_second"])
        assert near(float(row["mfu_percentage_calflops"]), 100 * mfu), row
        assert near(tokens / float(row["tokens_per_second"]), float(row["step_seconds"])), row
        assert row["sequence_length"] == row["context_window"]  # padded: the tensors hold what the plan says
        assert row["power_source"] == "synthetic" and row["peak_source"].startswith("measured")
    return rows, idle


def example():
    """examples/sweep-cpu.toml with the real workload, to a calibration."""
    if not pathlib.Path(flopwatt).with_name("flopwatt-torch").exists():
        print("skipped: flopwatt-torch is not built (LibTorch)")
        sys.exit(77)
    del environment["FLOPWATT_TORCH"]
    begin = time.monotonic()
    answer = json.loads(run("sweep", HERE.parent.parent / "examples" / "sweep-cpu.toml", "--json").stdout)
    print(f"{answer['runs_finished']} runs in {time.monotonic() - begin:.0f} s")
    assert answer["runs_finished"] == 2 * 2 * 3 * 2 * 2 and answer["runs_left"] == 0, answer
    run("sweep", "export", "sweep-cpu.sqlite", "-o", "sweep-cpu.csv", "--models", "models.json")
    rows, idle = checked_rows("sweep-cpu.csv")
    assert rows and idle
    pathlib.Path("data/models").mkdir(parents=True)
    pathlib.Path("models.json").rename("data/models/models.json")
    fit = json.loads(run("fit", "sweep-cpu.csv", "--data", "data", "--json", "-o", "calibration.json").stdout)
    assert fit["devices"][0]["rows"] == answer["runs_finished"]
    with sqlite3.connect("sweep-cpu.sqlite") as database:
        # What the library's observer saw is what the ledger counts, wherever it sees attention as products.
        counted = database.execute("SELECT DISTINCT executed_flops = CAST(hardware_flops AS INTEGER) FROM run "
                                   "WHERE fused_attention = 0").fetchall()
    assert counted in ([(1,)], []), counted


def round_trip():
    make_plan()
    plan = json.loads(run("sweep", "plan.toml", "--dry-run", "--json").stdout)
    assert plan["runs_to_measure"] == RUNS and len(plan["configurations"]) * REPEATS == RUNS
    # 48 runs of 4 to 20 samples of 10 ms, and the idle baseline
    assert near(plan["time_estimate_seconds"][0], RUNS * SAMPLES * 0.01 + 0.03)
    assert not pathlib.Path("plan.sqlite").exists()

    done = run("sweep", "plan.toml", "--json")
    answer = json.loads(done.stdout)
    assert answer["runs_finished"] == RUNS and answer["runs_failed"] == 0 and answer["runs_left"] == 0
    assert f"{RUNS} runs of" in done.stderr  # the estimate comes before the start
    run("sweep", "export", "plan.sqlite", "-o", "plan.csv", "--models", "models.json")

    rows, idle = checked_rows("plan.csv")
    assert len(rows) == RUNS * SAMPLES and idle
    assert all(near(float(row["power_draw_watts"]), 20, 0.011) for row in idle)  # the base, ± 1 %
    assert all(row["device"] == "Scripted CPU" for row in rows)
    # The report is those rows weighted by their time; all samples of a configuration have as many steps.
    for one in answer["configurations"]:
        mine = [row for row in rows if row["configuration_id"] == one["id"]]
        seconds = [float(row["step_seconds"]) for row in mine]
        rates = [float(row["mfu_percentage_calflops"]) / 100 for row in mine]
        assert one["samples"] == len(mine) == REPEATS * SAMPLES
        assert near(one["mfu"], sum(map(lambda rate, time: rate * time, rates, seconds)) / sum(seconds)), one
        assert near(one["step_time_seconds"], sum(seconds) / len(seconds)), one

    pathlib.Path("data/models").mkdir(parents=True)
    pathlib.Path("models.json").rename("data/models/models.json")
    fit = json.loads(run("fit", "plan.csv", "--data", "data", "--json", "-o", "calibration.json").stdout)
    device = fit["devices"][0]
    assert device["rows_read"] == len(rows) + len(idle)
    assert device["rows"] == RUNS  # one row a run, repeats apart
    averaged, dropped = device["averaged"], sum(one["rows"] for one in device["dropped"])
    assert averaged["samples"] == device["rows_read"], averaged
    assert device["rows"] + dropped == averaged["runs"], device  # nothing is lost without a word
    text = run("fit", "plan.csv", "--data", "data", "--bootstrap", "0").stdout
    assert f"{averaged['samples']} samples averaged over {averaged['runs']} runs" in text, text
    # P = 20 W + 1 nJ/FLOP · MFU · peak, a straight line: the slope is peak · 1e-9 / 100 = 1 W per %, noise ± 1 %.
    assert near(device["predictors"]["mfu"]["slope_watts_per_pct"], 1e11 * 1e-9 / 100, 0.05), device
    assert near(device["predictors"]["mfu"]["intercept_watts"], 20, 0.05), device
    audit = json.loads(run("audit", "plan.csv", "--json").stdout)
    assert not [f for f in audit["findings"] if f["severity"] == "error"], audit["findings"]


def outlook():
    """A dry run says what would fail, and a sweep says it before it starts."""
    make_plan(PLAN.replace("[16, 32]", "[16, 100000]"))
    script(rules=[{"when": {"sequence": 100000}, "do": "unsupported", "at": 0}])
    notes = json.loads(run("sweep", "plan.toml", "--dry-run", "--json").stdout)["notes"]
    # Of 2 dtypes · 3 batches a model, one of the two lengths is beyond its positions; a table ends, rotation does not.
    assert len(notes) == 2 and "tiny-gpt2 has " in notes[0] and "6 of the configurations" in notes[0], notes
    assert notes[0].endswith("will fail.") and notes[1].endswith("beyond what the model was built for."), notes
    assert notes[0] in run("sweep", "plan.toml", "--shard", "1/1").stderr
    assert "will fail" not in run("sweep", "plan.toml", "--dry-run", "--pad", "none").stdout
    if not any(map(os.path.exists, ("/dev/kfd", "/dev/dxg"))):
        make_plan("device = \"hip\"\n" + PLAN)
        notes = json.loads(run("sweep", "plan.toml", "--dry-run", "--store", "new.sqlite", "--json").stdout)["notes"]
        assert any("no device of hip:0" in note for note in notes), notes
    make_plan(PLAN.replace('source = "synthetic"\nbase_watts = 20\njoules_per_flop = 1e-9\nnoise_percent = 1',
                           'source = "recorded"\nfile = "missing.csv"'))
    environment["FLOPWATT_TORCH"] = "/nowhere/flopwatt-torch"
    notes = json.loads(run("sweep", "plan.toml", "--dry-run", "--store", "new.sqlite", "--json").stdout)["notes"]
    refused = [note for note in notes if note.startswith("A sweep would be refused here: ")]
    assert len(refused) == 2 and "FLOPWATT_TORCH" in refused[0] and "missing.csv" in refused[1], notes
    assert not pathlib.Path("new.sqlite").exists()


def examples():
    """What stands in examples/ is read, and the scripted workload agrees with the census on its models."""
    script(sample_seconds=0.001)
    for plan in sorted((HERE.parent.parent / "examples").glob("*.toml")):
        answer = json.loads(run("sweep", plan, "--dry-run", "--json").stdout)
        assert answer["runs_to_measure"] > 0, plan
    models = sorted(MODELS.glob("*.json"))
    assert models
    names = ", ".join(json.dumps(str(model)) for model in models)
    pathlib.Path("plan.toml").write_text(
        f'models = [{names}]\ndtypes = ["float32"]\nbatch = [2]\nsequence = [8]\n[protocol]\ncooldown_seconds = 0\n'
        'idle_seconds = 0\nmin_samples = 2\nsample_seconds = 0.01\nrepeats = 1\n[power]\nsource = "none"\n'
        '[peak]\nsource = "stated"\nflops_per_second = { float32 = "100 GFLOP/s" }\n', encoding="utf-8")
    answer = json.loads(run("sweep", "plan.toml", "--json").stdout)
    assert answer["runs_finished"] == len(models), answer["configurations"]
    for one in answer["configurations"]:  # no source, no watts: absent, not zero
        assert one["power_watts"] is None and one["power"]["missing"] == "not_asked", one


def recorded():
    """A recorded trace of 30 W and half a device's time: every row says that it is recorded."""
    table = ["time_seconds,device,source,scope,power_watts,power_kind,power_scope,energy_joules,utilization"]
    table += [f"{i / 10},cpu0,rapl,package,30,counter,package,{3 * i},0.5" for i in range(200)]
    pathlib.Path("trace.csv").write_text("\n".join(table) + "\n", encoding="utf-8")
    start, end = PLAN.index("[power]"), PLAN.index("[peak]")
    plan = PLAN[:start] + '[power]\nsource = "recorded"\nfile = "trace.csv"\n' + PLAN[end:]
    make_plan(plan.replace("[1, 2, 4]", "[1]").replace("[16, 32]", "[16]").replace("idle_seconds = 0.03",
                                                                                 "idle_seconds = 0.5"))
    script(sample_seconds=0.3)
    answer = json.loads(run("sweep", "plan.toml", "--json").stdout)
    assert answer["configurations"]
    for one in answer["configurations"]:
        assert one["power"]["source"] == "recorded: rapl" and one["power"]["scope"] == "package", one
        assert near(one["power_watts"], 30, 1e-6) and near(one["utilization"], 0.5), one
    assert not any("MFU alone" in note for note in answer["notes"])  # the trace knows the utilisation
    make_plan(plan.replace("trace.csv", "plan.toml"))  # no trace
    run("sweep", "plan.toml", "--store", "other.sqlite", code=3)


def killed():
    """kill -9 at random moments: nothing that another process has seen in the store is lost or changes."""
    make_plan()
    script(sample_seconds=0.01)
    moments = random.Random(11)
    seen = {}
    for _ in range(12):
        with subprocess.Popen([flopwatt, "sweep", "plan.toml"], env=environment, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL) as sweep:
            time.sleep(moments.uniform(0, 1.2))
            before = rows_of("plan.sqlite")
            sweep.kill()
        after = rows_of("plan.sqlite")
        for rows in (seen, before):
            assert all(after.get(key) == row for key, row in rows.items())
        seen = after
    assert seen, "no sample was taken in all that time"
    script()
    answer = json.loads(run("sweep", "plan.toml", "--json").stdout)
    assert answer["runs_left"] == 0
    after = rows_of("plan.sqlite")
    assert all(after[key] == row for key, row in seen.items())
    with sqlite3.connect("plan.sqlite") as database:
        # Each repeat was finished once, with its samples numbered without a gap.
        finished = database.execute("SELECT count(DISTINCT configuration || '/' || repeat), count(*) FROM run "
                                    "WHERE state = 'finished'").fetchone()
        assert finished == (RUNS, RUNS), finished
        assert database.execute("SELECT count(*) FROM run WHERE state IN ('running', 'failed')").fetchone() == (0,)
        gaps = database.execute("SELECT run FROM sample GROUP BY run HAVING max(number) <> count(*)").fetchall()
        assert gaps == [], gaps


def interrupted():
    make_plan()
    script(sample_seconds=0.5)
    for number in (signal.SIGINT, signal.SIGTERM):
        with subprocess.Popen([flopwatt, "sweep", "plan.toml"], env=environment, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True) as sweep:
            deadline = time.monotonic() + 30
            known = len(rows_of("plan.sqlite"))
            while len(rows_of("plan.sqlite")) == known and time.monotonic() < deadline:
                time.sleep(0.02)
            sweep.send_signal(number)
            out, error = sweep.communicate(timeout=30)
        assert sweep.returncode == 4, (sweep.returncode, error)
        assert "interrupted" in error.splitlines()[-1] and "run the same plan again" in error
        assert "this call" in out  # the report is printed all the same
        with sqlite3.connect("plan.sqlite") as database:
            states = database.execute("SELECT state, reason FROM run WHERE state <> 'finished'").fetchall()
        assert states == [("interrupted", "signal")], states
    script()
    assert json.loads(run("sweep", "plan.toml", "--json").stdout)["runs_left"] == 0


def full():
    """A store that may not grow further: what was measured is printed and kept, and the next call goes on from there."""
    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # the write fails instead
        resource.setrlimit(resource.RLIMIT_FSIZE, (LIMIT_BYTES, LIMIT_BYTES))

    make_plan()
    done = subprocess.run([flopwatt, "sweep", "plan.toml", "--json"], env=environment, capture_output=True, text=True,
                          preexec_fn=limit, check=False)
    lines = done.stderr.splitlines()
    assert done.returncode == 3 and len(lines) == 2 and f"{RUNS} runs of" in lines[0], done  # announced, one error
    assert lines[1].startswith("flopwatt: plan.sqlite: cannot read or write: "), lines
    answer = json.loads(done.stdout)
    assert len(answer["configurations"]) * REPEATS == RUNS
    assert 0 < answer["runs_finished"] < RUNS and answer["runs_left"] == RUNS - answer["runs_finished"], answer
    assert any("ended early" in note for note in answer["notes"]), answer["notes"]
    kept = rows_of("plan.sqlite")
    assert len(kept) >= SAMPLES * answer["runs_finished"]
    assert json.loads(run("sweep", "plan.toml", "--json").stdout)["runs_left"] == 0
    after = rows_of("plan.sqlite")
    assert all(after[key] == row for key, row in kept.items())


def shards():
    make_plan()
    stores = []
    for index in (1, 2, 3):
        answer = json.loads(run("sweep", "plan.toml", "--shard", f"{index}/3", "--json").stdout)
        stores.append(answer["inputs"]["store"])
        assert stores[-1] == f"plan.{index}-of-3.sqlite"
    merged = json.loads(run("sweep", "merge", "all.sqlite", *stores, "--json").stdout)
    assert merged["runs_finished"] == RUNS and merged["configurations"] * REPEATS == RUNS
    # The whole is done: nothing remains of the plan.
    assert json.loads(run("sweep", "plan.toml", "--store", "all.sqlite", "--dry-run", "--json").stdout)[
        "runs_to_measure"] == 0
    again = json.loads(run("sweep", "merge", "all.sqlite", *stores, "--json").stdout)
    assert sum(one["runs"] for one in again["merged"]) == 0
    run("sweep", "merge", "all.sqlite", "all.sqlite", code=2)
    run("sweep", "merge", "new.sqlite", "missing.sqlite", code=3)
    # A conflict leaves no OUT behind and names the stores that it lies between.
    make_plan(PLAN.replace("repeats = 2", "repeats = 1").replace("max_samples = 20", "max_samples = 21"))
    run("sweep", "plan.toml", "--shard", "1/8", "--store", "other.sqlite")
    said = run("sweep", "merge", "new.sqlite", stores[0], "other.sqlite", code=3).stderr
    assert "other.sqlite" in said and str(stores[0]) in said and "new.sqlite" not in said, said
    assert not list(pathlib.Path().glob("new.sqlite*"))
    assert not pathlib.Path("new.sqlite").exists()
    other = PLAN.replace("sample_seconds = 0.01", "sample_seconds = 0.02")
    make_plan(other)
    run("sweep", "plan.toml", "--store", "all.sqlite", code=3)  # another protocol


def refused():
    """One line on standard error, the promised code, and no store left behind."""
    make_plan()
    cases = [
        (["sweep", "missing.toml"], 3), (["sweep", "plan.toml", "--shard", "5/4"], 2),
        (["sweep", "report", "missing.sqlite"], 3), (["sweep", "report", "plan.toml"], 3),
        (["sweep", "export", "plan.toml"], 3), (["sweep", "report"], 2), (["sweep"], 2), (["sweep", "merge", "a"], 2),
    ]
    edits = [("tiny-gpt2.json", "no-such.json"), ("tiny-gpt2.json", "no/such-model"), ("seed = 3", "sede = 3"),
             ("[1, 2, 4]", "[0]"), ("[1, 2, 4]", '["x"]'), ('source = "measured"', 'source = "catalogue"')]
    for number, (old, new) in enumerate(edits):
        name = f"ugly{number}.toml"
        pathlib.Path(name).write_text(PLAN.replace(old, new, 1), encoding="utf-8")
        cases.append((["sweep", name], 3))
    for words, code in cases:
        done = run(*words, code=code)
        assert done.stdout == "" and done.stderr.count("\n") == 1 and done.stderr.startswith("flopwatt: "), done
    environment["FLOPWATT_TORCH"] = "/bin/ls"
    make_plan(PLAN.replace("[1, 2, 4]", "[1]").replace("[16, 32]", "[16]"))
    pathlib.Path("echo").write_text("#!/bin/sh\nread job\necho \"$job\"\n", encoding="utf-8")
    pathlib.Path("older").write_text(
        '#!/bin/sh\nread job\necho \'{"event":"failed","reason":"protocol","detail":"protocol is 1, not 0"}\'\n',
        encoding="utf-8")
    for program, what in (("/bin/ls", "is not flopwatt-torch: it said '"), ("echo", "is not flopwatt-torch: it said '"),
                          ("older", "speaks another protocol than this flopwatt: protocol is 1, not 0; ")):
        path = pathlib.Path(program).resolve()
        if program != "/bin/ls":
            path.chmod(0o755)
        environment["FLOPWATT_TORCH"] = str(path)
        done = run("sweep", "plan.toml", "--store", "ls.sqlite", "--json", code=4)
        assert done.stdout == "" and done.stderr.count("\n") == 2, done  # what is announced, and one error
        assert f"flopwatt: {path}: {what}" in done.stderr, done
        for left in pathlib.Path().glob("ls.sqlite*"):
            left.unlink()
    make_plan()
    environment["FLOPWATT_TORCH"] = "/nowhere/flopwatt-torch"
    assert "/nowhere" in run("sweep", "plan.toml", code=4).stderr
    assert not list(pathlib.Path().glob("*.sqlite"))


def report():
    """What failed stands below what was measured, in every format; nothing measured is exit code 5."""
    make_plan(PLAN.replace('"float32", "bfloat16"', '"float32"').replace("[16, 32]", "[16]"))
    script(rules=[{"when": {"batch": 4}, "do": "out_of_memory", "at": 0}])
    text = run("sweep", "plan.toml").stdout
    assert "Not measured" in text and "2 out_of_memory" in text and "20 GiB" in text
    for form in ("markdown", "latex", "csv"):
        shown = run("sweep", "report", "plan.sqlite", "--format", form).stdout
        assert "tiny-llama" in shown and "MFU" in shown or "mfu" in shown
    answer = json.loads(run("sweep", "report", "plan.sqlite", "--json").stdout)
    failed = [one for one in answer["configurations"] if one["batch"] == 4]
    assert failed and all(one["mfu"] is None and one["reasons"] == {"out_of_memory": REPEATS} for one in failed)
    assert json.loads(run("sweep", "plan.toml", "--json").stdout)["runs_finished"] == 0  # left as they are
    # A peak far too low, and samples too few for their noise: neither is a plain result.
    low = PLAN.replace('"float32", "bfloat16"', '"float32"').replace("[1, 2, 4]", "[1]").replace("[16, 32]", "[16]")
    low = low.replace('"measured"', '"stated"\nflops_per_second = { float32 = "1 MFLOP/s" }')
    make_plan(low.replace("max_samples = 20", "max_samples = 4\nhalf_width_percent = 0.001"))
    script()
    shown = run("sweep", "plan.toml", "--store", "low.sqlite").stdout
    assert "> peak (" in shown and f"({REPEATS} capped)" in shown, shown
    answer = json.loads(run("sweep", "report", "low.sqlite", "--json").stdout)
    for one in answer["configurations"]:
        assert one["mfu"] is None and one["evidence"]["mfu_computed"] > 1 and one["runs_capped"] == REPEATS, one
    assert set(answer["flags"]) == {"above_peak"}
    make_plan(PLAN.replace('"float32", "bfloat16"', '"float32"').replace("[16, 32]", "[16]"))
    script(rules=[{"when": {}, "do": "unsupported", "at": 0}])
    run("sweep", "plan.toml", "--store", "nothing.sqlite", code=5)


if __name__ == "__main__":
    flopwatt = str(pathlib.Path(sys.argv[1]).resolve())
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        cases = (round_trip, outlook, recorded, examples, killed, interrupted, full, shards, refused, report,
                 example)
        {case.__name__: case for case in cases}[sys.argv[2]]()
        os.chdir("/")
