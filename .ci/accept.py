#!/usr/bin/env python3
"""Runs one acceptance suite once and decides: accept.py SUITE BIN_DIR.

A suite prints 'FAIL name: detail' for each check that fails, and closes with 'N passed, M failed'. Every failure counts but those
of the checks in CLOCKS, which compare two wall-clock times: what a busy machine measures is reported and gates nothing. Such a
check fails all the same where its detail is not two times, because an estimate failed.
"""
import re
import subprocess
import sys

CLOCKS = [re.compile(p) for p in (r"megatron-1t costs no more than gpt3-175b", r".*: as fast as 8")]
TIMES = re.compile(r"\(\d+\.\d+(e-\d+)?, \d+\.\d+(e-\d+)?\)")


def decide(output):
    """What gates: failures by name; and what only measures."""
    lines = output.splitlines()
    summary = next((re.fullmatch(r"(\d+) passed, (\d+) failed", l) for l in reversed(lines) if l.strip()), None)
    if not summary or int(summary[1]) + int(summary[2]) == 0:
        return ["the suite did not come to its end"], []
    failures, measured = [], []
    for line in lines:
        if not line.startswith("FAIL "):
            continue
        text = line[len("FAIL "):]
        clock = any(re.fullmatch(p.pattern + ": " + TIMES.pattern, text) for p in CLOCKS)
        (measured if clock else failures).append(text)
    if len(failures) + len(measured) != int(summary[2]):
        failures.append(f"{summary[2]} checks failed, {len(failures) + len(measured)} said which")
    return failures, measured


def self_check():
    good = "3 passed, 0 failed\n"
    assert decide(good) == ([], [])
    assert decide("FAIL a: b\n2 passed, 1 failed") == (["a: b"], [])
    clock = "megatron-1t costs no more than gpt3-175b: (0.25, 0.5)"
    assert decide(f"FAIL {clock}\n2 passed, 1 failed\n") == ([], [clock])
    for broken in ("", "Traceback", "0 passed, 0 failed", "2 passed, 1 failed", "FAIL 8 devices: as fast as 8: (0.1, None)\n1 passed, 1 failed",
                   f"FAIL model x: {clock}\n1 passed, 1 failed"):
        assert decide(broken)[0], broken


def main():
    self_check()
    suite, binaries = sys.argv[1:]
    p = subprocess.run([sys.executable, suite, binaries], stdout=subprocess.PIPE, text=True)
    print(p.stdout, end="")
    failures, measured = decide(p.stdout)
    for text in measured:
        print(f"measured, not gated: {text}")
    for text in failures:
        print(f"{suite}: {text}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
