"""Runs the examples of documents: every fenced block marked `console`.

Lines that start with `$ ` are commands (a backslash at the end continues one), what follows is the
output to expect. Of the output, `…` stands for any text, and any run of blanks and line breaks equals
any other, so that long lines may be wrapped. A command must succeed, unless a line of the expected
output is an error (`error: …`, `FILE:LINE:COLUMN: error: …`); then it must fail. The commands of a document run in
one shell, in a new directory, with the tools of BIN_DIR first in the path.

usage: docs.py [--update] BIN_DIR DOCUMENT …
    --update writes what was found over every expectation that fails and holds no `…`."""

import argparse
import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass

FENCE = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^\$ ((?:.*\\\n)*.*)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)
MARK = "--dtrain-docs-status--"


@dataclass
class Example:
    command: str
    expected: str
    line: int
    # Where `expected` stands in the document.
    begin: int
    end: int


def examples_of(text, path):
    examples = []
    for fence in FENCE.finditer(text):
        block, at = fence.group(1), fence.start(1)
        if not block.startswith("$ "):
            sys.exit(f"{path}: a console block must start with a command, found '{block.splitlines()[0]}'")
        for match in COMMAND.finditer(block):
            line = text.count("\n", 0, at + match.start()) + 1
            examples.append(Example(match.group(1), match.group(2), line, at + match.start(2), at + match.end(2)))
    return examples


def run(examples, bin_dir):
    """Output and exit status of each example."""
    script = "".join(f"{{ {example.command}\n}} 2>&1\necho {MARK} $?\n" for example in examples)
    environment = dict(os.environ, PATH=bin_dir + os.pathsep + os.environ["PATH"], LC_ALL="C.UTF-8")
    with tempfile.TemporaryDirectory() as directory:
        found = subprocess.run(
            ["bash", "-c", script], cwd=directory, env=environment, stdout=subprocess.PIPE, text=True, timeout=120
        )
    parts = re.split(rf"{MARK} (\d+)\n", found.stdout)
    results = list(zip(parts[0::2], map(int, parts[1::2])))
    if len(results) != len(examples):
        sys.exit(f"expected {len(examples)} commands to end, found {len(results)}: a command ended the shell")
    return results


def difference(expected, found):
    """What of `expected` is not found, or None."""
    found = " ".join(found.split())
    pieces = [" ".join(piece.split()) for piece in expected.split("…")]
    if len(pieces) == 1:
        return None if pieces[0] == found else pieces[0]
    if not found.startswith(pieces[0]):
        return pieces[0]
    at = len(pieces[0])
    for piece in pieces[1:-1]:
        where = found.find(piece, at)
        if where < 0:
            return piece
        at = where + len(piece)
    return None if found.endswith(pieces[-1]) and len(found) - len(pieces[-1]) >= at else pieces[-1]


def check(path, bin_dir, update):
    """The number of examples and of failures in the document."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    examples = examples_of(text, path)
    if not examples:
        sys.exit(f"{path}: expected at least one console block, found none")
    failures = 0
    # From the end, so that positions hold while the text changes.
    for example, (output, status) in reversed(list(zip(examples, run(examples, bin_dir)))):
        where = f"{path}:{example.line}: $ {example.command}"
        must_fail = re.search(r"(^|: |… )error:", example.expected, re.MULTILINE) is not None
        if (status != 0) != must_fail:
            failures += 1
            print(f"{where}\nexpected {'a failure' if must_fail else 'success'}, found status {status}:\n{output}")
            continue
        missing = difference(example.expected, output)
        if missing is None:
            continue
        if update and "…" not in example.expected:
            text = text[: example.begin] + output + text[example.end :]
            continue
        failures += 1
        print(f"{where}\nexpected: {missing}\nin what was found:\n{output[:6000]}")
    if update:
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    return len(examples), failures


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--update", action="store_true")
    parser.add_argument("bin_dir")
    parser.add_argument("documents", nargs="+")
    arguments = parser.parse_args()
    failed = 0
    for path in arguments.documents:
        examples, failures = check(path, os.path.abspath(arguments.bin_dir), arguments.update)
        print(f"{path}: {examples} examples, {failures} failures")
        failed += failures
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
