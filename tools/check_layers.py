#!/usr/bin/env python3
"""Checks that the modules keep to their floors (tools/layers.txt).

A module includes only modules of lower floors, by their full path; folder, namespace and module agree; pure modules
use no files, threads, streams or exceptions.  Prints FILE:LINE: what is wrong; exits 1 if anything is.
"""
import pathlib
import re
import sys

INCLUDE = re.compile(r'\s*#\s*include\s*([<"])([^>"]+)[>"]')
NAMESPACE = re.compile(r"\s*(?:inline\s+)?namespace\s+(flopwatt[\w:]*)\s*\{")
STRING_OR_COMMENT = re.compile(r'"(?:\\.|[^"\\])*"|//.*')
IMPURE_HEADERS = {
    "condition_variable", "filesystem", "fstream", "future", "iostream", "mutex", "shared_mutex", "stdexcept", "thread"}


def read_floors(path):
    """Returns ({module: floor}, {pure module})."""
    floor_of, pure = {}, set()
    floor = 0
    for line in path.read_text(encoding="utf-8").splitlines():
        words = line.partition("#")[0].split()
        if words and words[0] == "pure:":
            pure.update(words[1:])
        elif words:
            floor_of.update((module, floor) for module in words)
            floor += 1
    return floor_of, pure


def check_line(line, module, floor_of, is_pure):
    """Yields what is wrong with one line of a source of `module`."""
    if include := INCLUDE.match(line):
        bracket, name = include.groups()
        other = name.split("/")[1] if name.startswith("flopwatt/") and name.count("/") >= 2 else None
        if other is not None and other not in floor_of:
            yield f"includes the unknown module {other}"
        elif other is not None and other != module and floor_of[other] >= floor_of[module]:
            yield f"{module} may not include {other}: it is not on a lower floor"
        elif other is None and bracket == '"':
            yield f'includes "{name}"; write the full path, flopwatt/{module}/…'
        elif is_pure and bracket == "<" and name in IMPURE_HEADERS:
            yield f"{module} is pure and may not include <{name}>"
        return
    code = STRING_OR_COMMENT.sub("", line)
    if namespace := NAMESPACE.match(code):
        parts = namespace[1].split("::")
        # The bare namespace holds the few names that every module uses unqualified.
        if len(parts) > 1 and parts[1] != module:
            yield f"opens namespace {namespace[1]} in the folder of {module}"
    if is_pure and re.search(r"\bthrow\b", code):
        yield f"{module} is pure and may not throw"


def check_tree(root):
    """Returns the violations below root/flopwatt as "FILE:LINE: what"."""
    floor_of, pure = read_floors(root / "tools" / "layers.txt")
    found = []
    for path in sorted((root / "flopwatt").rglob("*.[ch]pp")):
        place = path.relative_to(root)
        module = place.parts[1]
        if module not in floor_of:
            found.append(f"{place}:1: the module {module} has no floor in tools/layers.txt")
            continue
        is_pure = module in pure and not path.stem.endswith("_test")
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            found.extend(f"{place}:{number}: {what}" for what in check_line(line, module, floor_of, is_pure))
    return found


def main(arguments):
    root = pathlib.Path(arguments[1]) if len(arguments) > 1 else pathlib.Path(__file__).resolve().parent.parent
    found = check_tree(root)
    print("\n".join(found) if found else "Every module keeps to its floor.")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
