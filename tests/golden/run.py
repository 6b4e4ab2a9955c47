#!/usr/bin/env python3
"""run.py PROGRAM FILE: runs the commands of a transcript and compares what they say.  See README.md beside this file."""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

SKIPPED = 77
TIMEOUT_SECONDS = 120


def parse_transcript(text):
    """Yields one step per command: {command, exit, ">": […], "!": […], "=": […]}; expectations are (kind, text)."""
    step = None
    for number, line in enumerate(text.splitlines(), 1):
        mark, _, rest = line.partition(" ")
        if mark == "$":
            if step:
                yield step
            step = {"command": rest, "exit": 0, ">": [], "!": [], "=": []}
        elif line and mark != "#" and line != "needs shared":
            if step is None or mark not in ("?", ">", ">~", "!", "!~", "="):
                sys.exit(f"line {number} of the transcript is neither a command nor an expectation: {line}")
            if mark == "?":
                step["exit"] = int(rest)
            else:
                step[mark[0]].append(("regex" if mark.endswith("~") else "literal", rest))
    if step:
        yield step


def parse_markdown(text, shared=""):
    """The same from the ```console blocks of a Markdown page: `$ flopwatt …`, then what it prints; a line `…` is any lines.
    Blocks ```console needs shared are left out where there is no such folder; their command runs among its files."""
    for needs, block in re.findall(r"^```console( needs shared)?\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        if needs and not os.path.isdir(shared):
            continue
        for command, output in re.findall(r"^\$ ((?:.*\\\n)*.*)\n((?:(?!\$ ).*\n)*)", block, re.MULTILINE):
            if re.match(r"(build/release/)?flopwatt ", command):
                expected = [("literal", "..." if line == "…" else line) for line in output.splitlines()]
                command = command.removeprefix("build/release/")
                if needs:
                    command = f'ln -sf "$FLOPWATT_SHARED"/*/*.csv . && {command}'
                yield {"command": command, "exit": 0, ">": expected, "!": [], "=": []}


def matches(expected, actual):
    """Whole text against lines; `...` stands for any number of lines."""
    pattern = "".join(r"(?:.*\n)*" if text == "..." else (text if kind == "regex" else re.escape(text)) + r"\n"
                      for kind, text in expected)
    return re.fullmatch(pattern, actual) is not None


def check_value(document, expectation):
    """`path value [~relative]`: says what is wrong, or None.  The value * means: the key is there."""
    path, _, rest = expectation.partition(" ")
    value = document
    for key in path.split("."):
        try:
            value = value[int(key)] if isinstance(value, list) else value[key]
        except (KeyError, IndexError, ValueError, TypeError):
            return f"{path} is missing"
    wanted, _, tolerance = rest.partition(" ~")
    if wanted == "*":
        return None
    wanted = json.loads(wanted)
    numbers = all(isinstance(number, (int, float)) and not isinstance(number, bool) for number in (value, wanted))
    if tolerance:
        same = numbers and abs(value - wanted) <= float(tolerance) * abs(wanted)
    else:
        same = value == wanted and (numbers or type(value) is type(wanted))
    return None if same else f"{path} is {json.dumps(value)}, not {rest}"


def run_step(step, environment, folder):
    """Runs one command; returns what is wrong, as lines."""
    done = subprocess.run(["bash", "-c", step["command"]], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                          capture_output=True, timeout=TIMEOUT_SECONDS, check=False)
    output, errors = done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")
    wrong = []
    if done.returncode != step["exit"]:
        wrong.append(f"exit code {done.returncode}, not {step['exit']}")
    if step["="]:
        try:
            document = json.loads(output, parse_constant=lambda name: sys.exit(f"{name} is no JSON"))
            wrong += filter(None, (check_value(document, text) for _, text in step["="]))
        except json.JSONDecodeError as error:
            wrong.append(f"stdout is not one JSON document: {error}")
    if (step[">"] or not step["="]) and not matches(step[">"], output):
        wrong.append("stdout differs")
    if not matches(step["!"], errors):
        wrong.append("stderr differs")
    if wrong:
        expected = "\n".join(text for mark in (">", "!") for _, text in step[mark])
        wrong += ["--- expected", expected, "--- stdout", output[-4000:], "--- stderr", errors[-4000:]]
    return wrong


def main(program, file):
    text = pathlib.Path(file).read_text(encoding="utf-8")
    if "\nneeds shared\n" in text and not os.path.isdir(os.environ.get("FLOPWATT_SHARED", "")):
        print("FLOPWATT_SHARED names no folder with the measured data; skipped")
        return SKIPPED
    environment = {**os.environ, "PATH": f"{os.path.dirname(os.path.abspath(program))}:{os.environ['PATH']}",
                   "LC_ALL": "C.UTF-8", "NO_COLOR": "1"}
    shared = os.environ.get("FLOPWATT_SHARED", "")
    steps = list(parse_markdown(text, shared) if file.endswith(".md") else parse_transcript(text))
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for step in steps:
            if wrong := run_step(step, environment, folder):
                failed += 1
                print(f"$ {step['command']}", *wrong, sep="\n")
    print(f"{len(steps) - failed} commands as expected, {failed} not")
    return 1 if failed or (not steps and not file.endswith(".md")) else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
