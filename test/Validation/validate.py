#!/usr/bin/env python3
"""Predicts the published training runs of published.csv and judges the predictions.

  validate.py BIN_DIR                      print the table; fail if a row is outside its bound
  validate.py BIN_DIR --check FILE.md      fail if the table in FILE.md is not what the tool gives
  validate.py BIN_DIR --write FILE.md      put the table into FILE.md

BIN_DIR holds dtrain. Standard library only.
"""
import argparse
import csv
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
TARGET, SEQUENCE, VOCABULARY = "a100-80gb-dgx-ib", 2048, 51200
BEGIN, END = "<!-- begin: validate.py -->", "<!-- end: validate.py -->"


def measured_seconds(row):
    """The measured step time; from TFLOP/s by the formula that their source counts them with, which
    includes recomputation: 96 B s l h^2 (1 + s/6h + V/16lh)."""
    value = float(row["measured"])
    if row["unit"] == "s":
        return value
    if row["unit"] != "TFLOP/s":
        sys.exit(f"{row['id']}: expected unit s or TFLOP/s, found {row['unit']}")
    batch, layers, hidden = (int(row[k]) for k in ("global_batch", "layers", "hidden"))
    flops = 96 * batch * SEQUENCE * layers * hidden**2
    flops *= 1 + SEQUENCE / (6 * hidden) + VOCABULARY / (16 * layers * hidden)
    return flops / (int(row["devices"]) * value * 1e12)


def run(command):
    result = subprocess.run(command, capture_output=True, text=True, timeout=120)
    if result.returncode != 0:
        sys.exit(f"{' '.join(command)}\n{result.stderr}")
    return result.stdout


def predict(dtrain, row, folder):
    """The report of dtrain on one row."""
    model = os.path.join(folder, row["id"] + ".onnx")
    run([dtrain, "model", "gpt", "--layers", row["layers"], "--hidden", row["hidden"], "--heads", row["heads"],
         "--vocab", str(VOCABULARY), "--seq-max", str(SEQUENCE), "-o", model])
    degrees = {"tp": row["tp"], "pp": row["pp"], "dp": row["dp"], "vpp": row["vpp"]}
    parallel = ",".join(f"{axis}={degree}" for axis, degree in degrees.items() if degree != "1")
    return json.loads(run(
        [dtrain, "estimate", model, "--target", TARGET, "--stack", row["stack"], "--devices", row["devices"],
         "--parallel", parallel, "--bind", f"seq={SEQUENCE}", "--global-batch", row["global_batch"],
         "--micro-batch", row["micro_batch"], "--recompute", "full", "--precision", "fp16", "--format", "json"]))


def table(rows):
    """The Markdown table of the rows, then one of the mean and largest error per stack."""
    lines = ["| run | stack | devices | tp, pp, dp, vpp | measured s | predicted s | error % |", "|---|---|--:|---|--:|--:|--:|"]
    for row in rows:
        degrees = ", ".join(row[axis] for axis in ("tp", "pp", "dp", "vpp"))
        lines.append(f"| {row['id']} | {row['stack']} | {row['devices']} | {degrees} | {row['seconds']:.4g} "
                     f"| {row['predicted']:.4g} | {100 * row['error']:+.1f} |")
    lines += ["", "| stack | rows | mean absolute error % | bias % | largest error % |", "|---|--:|--:|--:|--:|"]
    for stack in dict.fromkeys(row["stack"] for row in rows):
        errors = [100 * row["error"] for row in rows if row["stack"] == stack]
        mean = sum(map(abs, errors)) / len(errors)
        bias = sum(errors) / len(errors)
        lines.append(f"| {stack} | {len(errors)} | {mean:.1f} | {bias:+.1f} | {max(errors, key=abs):+.1f} |")
    return lines


def cells(line):
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def differences(documented, computed):
    """Lines of which a word differs, or a figure by more than one in the third digit (errors: 0.1 points)."""
    if len(documented) != len(computed):
        return [f"expected {len(computed)} lines, found {len(documented)}"]
    found = []
    for old, new in zip(documented, computed):
        same = len(cells(old)) == len(cells(new))
        for a, b in zip(cells(old), cells(new)):
            try:
                same &= abs(float(a) - float(b)) <= max(1e-3 * abs(float(b)), 0.11 if "." in b and b[0] in "+-" else 0)
            except ValueError:
                same &= a == b
        if not same:
            found.append(f"expected {new}, found {old}")
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bin")
    mode = parser.add_mutually_exclusive_group()
    mode.add_argument("--check")
    mode.add_argument("--write")
    parser.add_argument("--breakdown", action="store_true", help="print where the time goes")
    arguments = parser.parse_args()
    dtrain = os.path.join(os.path.abspath(arguments.bin), "dtrain")
    with open(os.path.join(HERE, "published.csv"), newline="") as file:
        rows = list(csv.DictReader(file))
    if not rows:
        sys.exit("published.csv holds no rows")
    with tempfile.TemporaryDirectory() as folder:
        for row in rows:
            report = predict(dtrain, row, folder)
            row["seconds"], row["predicted"] = measured_seconds(row), report["step"]["time_s"]
            row["error"] = row["predicted"] / row["seconds"] - 1
            if arguments.breakdown:
                print(row["id"], json.dumps(report["step"]["breakdown_s"]))
    computed = table(rows)
    print("\n".join(computed))
    failures = [f"{row['id']}: expected an error of at most {100 * float(row['bound']):.0f} %, found "
                f"{100 * row['error']:+.1f} %" for row in rows if abs(row["error"]) > float(row["bound"])]
    for name in filter(None, (arguments.check, arguments.write)):
        with open(name) as file:
            before, _, rest = file.read().partition(BEGIN)
        documented, end, after = rest.partition(END)
        if not end:
            sys.exit(f"{name}: expected {BEGIN} and {END}")
        if arguments.write:
            with open(name, "w") as file:
                file.write(before + BEGIN + "\n\n" + "\n".join(computed) + "\n\n" + END + after)
        else:
            failures += [f"{name}: {line}" for line in differences(documented.strip().splitlines(), computed)]
    for failure in failures:
        print(failure, file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
