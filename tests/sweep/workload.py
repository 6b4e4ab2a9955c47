#!/usr/bin/env -S python3 -I -S
"""A workload without a library: speaks the protocol of flopwatt/workload, computes nothing, and fails as it is told.

FLOPWATT_SCRIPT holds JSON: {"sample_seconds": 0.002, "rules": [{"when": {"batch": 4}, "do": "crash", "at": 3}, …]}.
The first rule whose `when` agrees with the job is played; `at` says before which sample (0: before `ready`).
"""
import json
import os
import signal
import select
import sys
import time


def parameters(config):
    """Of GPT-2 (tied head), and of the Llama family with or without biases and a tied head."""
    if config["model_type"] == "gpt2":
        d, layers = config["n_embd"], config["n_layer"]
        return (config["vocab_size"] + config["n_positions"]) * d + layers * (12 * d * d + 13 * d) + 2 * d
    d, layers, inner = config["hidden_size"], config["num_hidden_layers"], config["intermediate_size"]
    heads, groups = config["num_attention_heads"], config["num_key_value_heads"]
    width = d // heads
    layer = 2 * d * heads * width + 2 * d * groups * width + 3 * d * inner + 2 * d
    if config["model_type"] == "qwen2":
        layer += heads * width + 2 * groups * width
    head = 0 if config["tie_word_embeddings"] else config["vocab_size"] * d
    return config["vocab_size"] * d + head + layers * layer + d


def say(**event):
    sys.stdout.write(json.dumps(event) + "\n")
    sys.stdout.flush()


def told_to_stop(seconds):
    """Waits; true once the parent has said stop or gone."""
    ready, _, _ = select.select([sys.stdin], [], [], seconds)
    return bool(ready) and sys.stdin.readline().strip() in ("stop", "")


def fail(what):
    if what == "out_of_memory":
        say(event="failed", reason="out_of_memory", detail="tried to allocate 20 GiB")
    elif what == "unsupported":
        say(event="failed", reason="unsupported", detail="no float16 here")
    elif what == "lost":
        say(event="failed", reason="error", detail="CUDA error: the device is lost")
    elif what == "crash":
        os.kill(os.getpid(), signal.SIGSEGV)
    elif what == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    elif what == "exit":
        sys.stderr.write("terminate called after throwing\nan instance of bad luck\n")
        sys.exit(3)
    elif what == "hang":
        time.sleep(600)
    elif what == "deaf":  # ignores the wish to stop, and signals that can be ignored
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        time.sleep(600)
    elif what == "garbage":
        print("Warning: something that a library prints", flush=True)
    elif what == "truncated":
        sys.stdout.write('{"event":"sample","steps":1,"begin_sec')
        sys.stdout.flush()
    elif what == "endless":
        sys.stdout.write("x" * (3 << 20))
        sys.stdout.flush()
        time.sleep(600)
    elif what == "done":
        say(event="done")
    sys.exit(0)  # "silent" too


def play_ceiling(job, rule):
    say(event="ready", device_name="Scripted CPU", library="script 1", threads=1, tensor_batch=0, tensor_sequence=0,
        accumulation=0, parameters=0)
    if rule:
        fail(rule["do"])
    say(event="ceiling", flops_per_second=1e11, matrix_size=512, bytes_per_second=2e10, copy_bytes=1 << 20)
    say(event="done")


def play_steps(job, rule, script):
    at, what = (rule.get("at", 1), rule["do"]) if rule else (None, None)
    if at == 0:
        fail(what)
    config = json.loads(job["config"])
    sequence = min(job["prompt_tokens"], job["sequence"]) if job["padding"] == "none" else job["sequence"]
    count = parameters(config)
    say(event="ready", device_name=script.get("device_name", "Scripted CPU"), library="script 1", threads=1,
        tensor_batch=job["batch"], tensor_sequence=sequence, accumulation=job["accumulation"],
        parameters=count + (1 if what == "wrong_parameters" else 0))
    say(event="warm", steps=job["warmup_steps"], seconds=0.01)
    tokens = job["batch"] * sequence * job["accumulation"]
    step = 1e-3 + 6 * count * tokens / (2e10 if job["dtype"] == "float32" else 3e10)
    draw = job["seed"] + 7919 * job["batch"] + 104729 * sequence
    number = 0
    while True:
        number += 1
        if number == at and what not in ("wrong_tokens", "wrong_parameters", "no_time", "slow"):
            fail(what)
        begin = time.monotonic()
        if what == "slow" and number >= at:
            time.sleep(5)
        if told_to_stop(script.get("sample_seconds", 0.002)):
            break
        draw = (1103515245 * draw + 12345) % (1 << 31)  # the C standard's example: `random` takes long to import
        steps = max(1, round(job["sample_seconds"] / step))
        device = steps * step * (1 + script.get("noise", 0.01) * (draw / (1 << 30) - 1))
        say(event="sample", steps=steps, begin_seconds=begin, end_seconds=time.monotonic(),
            device_seconds=0.0 if what == "no_time" else device,
            tokens=steps * tokens + (1 if what == "wrong_tokens" else 0), peak_memory_bytes=16 * count)
    say(event="done")


def main():
    script = json.loads(os.environ.get("FLOPWATT_SCRIPT", "{}"))
    line = sys.stdin.readline()
    if not line:
        return
    job = json.loads(line)
    rule = next((r for r in script.get("rules", []) if all(job.get(k) == v for k, v in r["when"].items())), None)
    try:
        play_ceiling(job, rule) if job["job"] == "ceiling" else play_steps(job, rule, script)
    except BrokenPipeError:
        os._exit(0)


if __name__ == "__main__":
    main()
