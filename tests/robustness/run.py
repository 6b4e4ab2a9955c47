#!/usr/bin/env python3
"""Every verb on ugly inputs: one line on stderr, the promised exit code, nothing on stdout, no crash.

run.py FLOPWATT — the program to try; also built with the sanitizers.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

USAGE, BAD_DATA = 2, 3

CONFIG = """{"model_type": "llama", "architectures": ["LlamaForCausalLM"], "hidden_size": 64, "num_hidden_layers": 2,
"num_attention_heads": 4, "num_key_value_heads": 2, "intermediate_size": 128, "vocab_size": 100,
"max_position_embeddings": 128, "tie_word_embeddings": false, "torch_dtype": "bfloat16"}"""

SAMPLES_HEADER = ("model_name,batch_size,dtype,sequence_length,tokens_per_second_mean,mfu_percentage_calflops_mean,"
                  "calflops_total_mean,power_draw_watts_mean")

# Verbs as they work; each case replaces one thing.
COUNT = ["count", "good.json"]
MFU = ["mfu", "good.json", "--device", "A100-SXM4-80GB", "--dtype", "bfloat16", "--seq", "64", "--tokens-per-second", "1000"]
TRAIN = ["train", "good.json", "--device", "A100-SXM4-80GB", "--dtype", "bfloat16", "--seq", "64", "--mfu", "0.3"]
POWER = ["power", "--device", "A100-SXM4-80GB", "--dtype", "bfloat16", "--mfu", "0.3"]
POWER_MODEL = ["power", "good.json", "--device", "A100-SXM4-80GB", "--seq", "64", "--tokens-per-second", "1000"]
RATES = ["power", "--device", "A100-SXM4-80GB", "--dtype", "bfloat16", "--rates", "good_rates.csv"]
FIT = ["fit", "good.csv"]
AUDIT = ["audit", "good.csv"]
ENERGY = ["energy", "good_power.csv"]
STEPS = ["energy", "good_power.csv", "--steps", "good_steps.jsonl"]
WORKING = [ENERGY, STEPS, COUNT, ["devices"], ["devices", "A100"], MFU, TRAIN, POWER, POWER_MODEL, RATES, FIT, AUDIT]


def samples_row(i):
    """A run on a device of 100 TFLOP/s: 1 TFLOP a step, so that MFU = tokens/s / tokens · 1e12 / 1e14."""
    batch, mfu = 2 ** (i % 4), 0.01 * (1 + i % 7)
    tokens_per_second = mfu * 1e14 / 1e12 * batch * 10
    return f"\nm{i % 3},{batch},bfloat16,10,{tokens_per_second},{100 * mfu},1e12,{100 + 400 * mfu + i % 3}"


def make_files(folder):
    text = {
        "good.json": CONFIG,
        "empty.json": "",
        "blank.json": " \n",
        "half.json": CONFIG[: len(CONFIG) // 2],
        "nan.json": CONFIG.replace("64", "NaN", 1),
        "infinity.json": CONFIG.replace("64", "Infinity", 1),
        "negative.json": CONFIG.replace('"num_hidden_layers": 2', '"num_hidden_layers": -2'),
        "zero.json": CONFIG.replace('"hidden_size": 64', '"hidden_size": 0'),
        "huge.json": CONFIG.replace('"hidden_size": 64', '"hidden_size": 1e300'),
        "word.json": CONFIG.replace('"hidden_size": 64', '"hidden_size": "64"'),
        "list.json": "[1, 2]",
        "number.json": "7",
        "unknown.json": CONFIG.replace("llama", "no_such_family").replace("Llama", "NoSuchFamily"),
        "deep.json": "[" * 200_000,
        "controls.json": '{"model_type": "\\u001b[31mred\\n"}',
        "good.csv": SAMPLES_HEADER + "".join(
            samples_row(i) for i in range(60)) + "\n",
        "empty.csv": "",
        "header.csv": SAMPLES_HEADER + "\n",
        "columns.csv": "a,b\n1,2\n",
        "words.csv": SAMPLES_HEADER + "\nm,one,bfloat16,10,1,1,1e12,100\n",
        "infinity.csv": SAMPLES_HEADER + "\nm,1,bfloat16,10,1,inf,1e12,100\n",
        "negative.csv": SAMPLES_HEADER + "\nm,1,bfloat16,10,1,-1,1e12,-100\n",
        "ragged.csv": SAMPLES_HEADER + "\nm,1,bfloat16\n",
        "quote.csv": SAMPLES_HEADER + '\n"m,1,bfloat16,10,1,1,1e12,100\n',
        "good_rates.csv": "duration_seconds,mfu,batch\n1,0.3,8\n2,0.1,8\n",
        "rates_negative.csv": "duration_seconds,mfu\n1,-0.3\n",
        "rates_nan.csv": "duration_seconds,flops_per_second\n1,nan\n",
        "rates_infinity.csv": "duration_seconds,flops_per_second\ninf,1e12\n",
        "rates_zero.csv": "duration_seconds,mfu\n0,0.3\n",
        "rates_columns.csv": "duration_seconds,speed\n1,2\n",
        "good_power.csv": "timestamp, uuid, power.draw [W]\n" + "".join(
            f"2026/05/06 10:00:{i:02}.000, GPU-1, 100.00 W\n" for i in range(60)),
        "good_steps.jsonl": '{"end": "2026-05-06T10:00:30Z", "step_time_seconds": 10, "tokens": 8}\n',
        "power_half.json": '{"card0": {"Average Graphics Package Power (W)": "10',
        "power_noise.csv": "timestamp, power.draw [W]\n" + "noise\n" * 50 + "2026/05/06 10:00:00.000, 100.00 W\n",
        "power_nothing.csv": "timestamp, power.draw [W]\n",
        "power_other.csv": "timestamp, utilization.gpu [%]\n2026/05/06 10:00:00.000, 5 %\n",
        "power_timeless.csv": "index, power.draw [W]\n0, 100.00 W\n0, 100.00 W\n",
        "power_vector.json": '{"status": "success", "data": {"resultType": "vector", "result": []}}',
        "power_controls.csv": "timestamp, power.draw [W]\n\x1b[31mred\n",
        "steps_negative.jsonl": '{"end": "2026-05-06T10:00:30Z", "step_time_seconds": -1}\n',
        "steps_word.csv": "step_time,tokens\n1,many\n",
        "steps_nothing.csv": "loss\n1\n",
        "steps_later.jsonl": '{"end": "2026-05-07T10:00:30Z", "step_time_seconds": 1, "tokens": 8}\n',
        "rates_batch.csv": "duration_seconds,mfu,batch\n1,0.3,0\n",
    }
    for name, content in text.items():
        (folder / name).write_text(content)
    (folder / "utf16.json").write_bytes(b"\xff\xfe" + CONFIG.encode("utf-16-le")[:-1])
    (folder / "binary.json").write_bytes(bytes(range(256)) * 16)
    (folder / "binary.csv").write_bytes(bytes(range(256)) * 16)
    for name in ("zeros.json", "zeros.csv"):
        with open(folder / name, "wb") as file:
            file.truncate(200_000_000)
    for name in ("empty_folder", "data", "data/devices"):
        (folder / name).mkdir()
    (folder / "data/devices/broken.json").write_text('{"schema": 1, "devices": [')


def replaced(words, old, new):
    assert old in words
    return [new if word == old else word for word in words]


def option(words, flag, value):
    """With the flag set to another value, or added."""
    if flag in words:
        at = words.index(flag)
        return words[: at + 1] + [value] + words[at + 2 :]
    return words + [flag, value]


def cases():
    """(exit code, words)"""
    bad_models = ["empty.json", "blank.json", "half.json", "nan.json", "infinity.json", "negative.json", "zero.json", "huge.json",
                  "word.json", "list.json", "number.json", "unknown.json", "deep.json", "controls.json", "utf16.json",
                  "binary.json", "zeros.json", "missing.json", "./missing", "/nowhere/config.json", "empty_folder",
                  "good.csv", "/dev/null"]
    for verb in (COUNT, MFU, TRAIN, POWER_MODEL):
        for model in bad_models:
            yield BAD_DATA, replaced(verb, "good.json", model)
        yield USAGE, replaced(verb, "good.json", "no/such-model")
        yield USAGE, replaced(verb, "good.json", "")
        yield USAGE, option(verb, "--as", "no_such_family")
    bad_samples = ["empty.csv", "header.csv", "columns.csv", "words.csv", "infinity.csv", "negative.csv", "ragged.csv", "quote.csv",
                   "binary.csv", "zeros.csv", "missing.csv", "empty_folder", "good.json"]
    for samples in bad_samples:
        yield BAD_DATA, replaced(FIT, "good.csv", samples)
        yield BAD_DATA, FIT + [samples]
        if samples != "negative.csv":  # impossible values are what an audit finds
            yield BAD_DATA, replaced(AUDIT, "good.csv", samples)
    for rates in ["rates_negative.csv", "rates_nan.csv", "rates_infinity.csv", "rates_zero.csv", "rates_columns.csv",
                  "rates_batch.csv", "empty.csv", "zeros.csv", "binary.csv", "missing.csv", "empty_folder"]:
        yield BAD_DATA, replaced(RATES, "good_rates.csv", rates)
    bad_logs = ["empty.csv", "columns.csv", "power_half.json", "power_noise.csv", "power_nothing.csv", "power_other.csv",
                "power_timeless.csv", "power_vector.json", "power_controls.csv", "binary.csv", "binary.json", "zeros.csv",
                "deep.json", "list.json", "number.json", "utf16.json", "missing.csv", "empty_folder", "/dev/null"]
    for log in bad_logs:
        yield BAD_DATA, replaced(ENERGY, "good_power.csv", log)
        yield BAD_DATA, ENERGY + [log]
    for steps in ["steps_negative.jsonl", "steps_word.csv", "steps_nothing.csv", "steps_later.jsonl", "empty.csv",
                  "half.json", "list.json", "binary.csv", "zeros.csv", "missing.csv", "empty_folder"]:
        yield BAD_DATA, replaced(STEPS, "good_steps.jsonl", steps)
    for log_format in ("dcgmi-dmon", "xpu-smi-csv", "amd-smi-json", "rocm-smi-json", "prometheus-json", "flopwatt-csv"):
        yield BAD_DATA, option(ENERGY, "--log-format", log_format)
    for calibration in ["empty.json", "half.json", "good.json", "zeros.json", "missing.json", "empty_folder", "binary.json"]:
        yield BAD_DATA, option(POWER, "--calibration", calibration)
        yield BAD_DATA, option(TRAIN, "--calibration", calibration)
    yield BAD_DATA, option(FIT, "--peaks", "missing.toml")
    yield BAD_DATA, option(FIT, "--peaks", "binary.json")
    yield BAD_DATA, option(FIT, "-o", "no/such/folder/calibration.json")
    yield BAD_DATA, option(COUNT, "-o", "empty_folder")

    numbers = ["nan", "NaN", "inf", "-inf", "Infinity", "-1", "0", "1e400", "0x10", "1,5", "", "abc", "--"]
    sizes = numbers + ["1.5", "1000000000000", "99999999999999999999"]
    for flag in ("--batch", "--seq", "--tp", "--pp", "--new-tokens", "--seq-lengths", "--images"):
        for value in sizes:
            if (flag, value) != ("--seq-lengths", "1,5"):  # which are two lengths
                yield USAGE, option(COUNT, flag, value)
    for verb, flags in ((MFU, ("--batch", "--seq", "--gpus")), (TRAIN, ("--micro-batch", "--global-batch", "--seq")),
                        (POWER, ("--batch",)), (POWER_MODEL, ("--batch", "--seq"))):
        for flag in flags:
            for value in sizes:
                yield USAGE, option(verb, flag, value)
    for value in ("nan", "-1", "later", "", "1e400 s", "05/06/2026 10:00:00", "2026-13-01T00:00:00Z"):
        for flag in ("--from", "--to", "--timezone", "--start", "--device", "--log-format"):
            if (flag, value) != ("--timezone", "-1"):  # which is an hour west
                yield USAGE, option(ENERGY, flag, value)
    for value in numbers:
        for flag in ("--idle-seconds", "--interval", "--peak-tflops"):
            yield USAGE, option(STEPS, flag, value)
        for flag in ("--tokens-per-second", "--peak-tflops", "--mem-bw-gbs", "--tdp-w"):
            yield USAGE, option(MFU, flag, value)
        for flag in ("--mfu", "--pue", "--peak-tflops"):
            yield USAGE, option(TRAIN, flag, value)
        for flag in ("--tokens", "--steps"):
            yield USAGE, option(TRAIN, flag, value)
        if value != "0":
            for flag in ("--carbon-g-per-kwh", "--price-per-kwh"):
                yield USAGE, option(TRAIN, flag, value)
            yield USAGE, option(POWER, "--mfu", value)
            yield USAGE, option(POWER, "--mbu", value)
            for flag in ("--bootstrap", "--seed"):
                yield USAGE, option(FIT, flag, value)
        yield USAGE, option(POWER, "--level", value)
    yield USAGE, option(POWER, "--level", "1")
    for verb in (MFU, TRAIN, POWER, POWER_MODEL, RATES):
        for device in ("no-such-device", "A1000", "NVIDIA A1000", "RTX A4000", "", "A"):
            yield USAGE, option(verb, "--device", device)
    for verb in (COUNT, MFU, TRAIN, POWER, POWER_MODEL, RATES):
        for dtype in ("float33", "", "bf-16x", "nan"):
            yield USAGE, option(verb, "--dtype", dtype)
    for device in ("Quadro RTX 5000", "T4", "V100-SXM2"):  # no bfloat16 before Ampere
        yield USAGE, option(MFU, "--device", device)
        yield USAGE, option(TRAIN, "--device", device)
    yield USAGE, option(option(MFU, "--device", "A100-SXM4-80GB"), "--dtype", "fp8")
    yield USAGE, ["devices", "no-such-device"]
    yield USAGE, ["devices", "--derive", "arch=vulcan,units=1,clock-mhz=1"]
    yield USAGE, ["devices", "--derive", "units"]
    yield USAGE, ["devices", "--derive", "arch=ampere,class=datacenter,units=0,clock-mhz=nan"]
    yield USAGE, option(COUNT, "--formula", "7n")
    yield USAGE, option(COUNT, "--phase", "sleep")
    yield USAGE, option(COUNT, "--phase", "generate")
    yield USAGE, option(COUNT, "--trainable", "lora:r=0")
    yield USAGE, option(COUNT, "--zero", "4")
    yield USAGE, option(FIT, "--models", "cubic")
    yield USAGE, option(TRAIN, "--tokens-per-second", "100")
    yield USAGE, option(option(TRAIN, "--tokens", "5"), "--steps", "5")
    yield USAGE, option(option(TRAIN, "--micro-batch", "3"), "--global-batch", "4")
    yield USAGE, option(MFU, "--step-time", "1")
    yield USAGE, ["mfu", "good.json", "--device", "A100-SXM4-80GB"]
    yield USAGE, ["mfu", "good.json", "--tokens-per-second", "1"]
    yield USAGE, ["power", "--device", "A100-SXM4-80GB"]
    yield USAGE, POWER + ["good.json"]
    yield USAGE, []
    yield USAGE, ["cuont"]
    yield USAGE, ["--no-such-option"]
    yield USAGE, ["count"]
    yield USAGE, ["fit"]
    yield USAGE, COUNT + ["--bacth", "1"]
    yield USAGE, COUNT + ["one", "more"]
    yield USAGE, COUNT + ["--batch"]
    yield USAGE, COUNT + ["--batch", "1", "--batch", "2"]
    yield USAGE, COUNT + ["-" + "x" * 100_000]
    for verb in WORKING:
        yield BAD_DATA, verb + ["--data", "missing_folder"]
        yield BAD_DATA, verb + ["--data", "data"]
        yield USAGE, verb + ["--format", "xml"]


class Checker:
    def __init__(self, program, folder):
        self.program, self.folder, self.failures, self.runs = program, folder, [], 0

    def run(self, words, **more):
        environment = {**os.environ, "LC_ALL": "C", **more.pop("env", {})}
        environment.pop("FLOPWATT_DATA", None)
        self.runs += 1
        return subprocess.run([self.program, *words], cwd=self.folder, env=environment, stderr=subprocess.PIPE,
                              timeout=120, check=False, **more)

    def fail(self, words, why, err=b""):
        shown = " ".join(word if len(word) < 60 else word[:60] + "…" for word in words)
        self.failures.append(f"flopwatt {shown}: {why}\n    {err.decode(errors='replace').strip()[:600]}")

    def refused(self, code, words, **more):
        """One line on stderr with the promised code."""
        done = self.run(words, **{"stdout": subprocess.PIPE, **more})
        if done.returncode != code:
            self.fail(words, f"exit code {done.returncode}, not {code}", done.stderr)
        elif not re.fullmatch(rb"flopwatt: [^\n\x00-\x1f]+\n", done.stderr):
            self.fail(words, "stderr is not one line of 'flopwatt: …'", done.stderr)
        elif done.stdout:
            self.fail(words, "something on stdout")

    def accepted(self, words):
        done = self.run(words, stdout=subprocess.PIPE)
        if done.returncode != 0 or done.stderr or not done.stdout:
            self.fail(words, f"exit code {done.returncode}, {len(done.stdout)} bytes", done.stderr)

    def unwritable_stdout(self, words):
        with open("/dev/full", "wb") as full:
            self.refused(BAD_DATA, words, stdout=full)
        reading, writing = os.pipe()
        os.close(reading)
        self.refused(BAD_DATA, words, stdout=writing)
        os.close(writing)
        shell = subprocess.run(["sh", "-c", '"$@" >&-', "sh", self.program, *words], cwd=self.folder, stderr=subprocess.PIPE, check=False)
        self.runs += 1
        if shell.returncode != BAD_DATA:
            self.fail(words, f"exit code {shell.returncode} with stdout closed", shell.stderr)


def main():
    program = str(pathlib.Path(sys.argv[1]).resolve())
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        make_files(folder)
        checker = Checker(program, folder)
        for words in WORKING:
            checker.accepted(words)
            checker.accepted(words + ["--json"])
            checker.accepted(words + ["--format", "latex"])
            checker.accepted([words[0], "--help"])
            checker.unwritable_stdout(words)
        for code, words in cases():
            checker.refused(code, words)
    for failure in checker.failures:
        print(failure)
    print(f"{checker.runs} runs, {len(checker.failures)} failures")
    return 1 if checker.failures else 0


if __name__ == "__main__":
    sys.exit(main())
