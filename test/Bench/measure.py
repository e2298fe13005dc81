"""Times whole runs of dtrain, for docs/performance.md.

usage: measure.py BIN_DIR [ROUNDS]
Every round runs each command once, so that what else the machine does falls on all of them; the table
gives medians over the rounds."""

import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time

PRESETS = {
    "gpt3-175b.onnx": ["--preset", "gpt3-175b"],
    "megatron-1t.onnx": ["--preset", "megatron-1t"],
    "gpt3-2-layers.onnx": "--layers 2 --hidden 12288 --heads 96 --vocab 51200 --seq-max 2048".split(),
}
ONE_STAGE = "--devices 128 --parallel tp=8,dp=16 --global-batch 1536"
COMMANDS = {
    "GPT-3 175B on 1,024 devices": "estimate gpt3-175b.onnx --devices 1024 --parallel tp=8,pp=8,dp=16"
    " --global-batch 1536 --recompute full --tokens 300e9",
    "Megatron 1T on 3,072 devices": "estimate megatron-1t.onnx --devices 3072 --parallel tp=8,pp=64,dp=6"
    " --global-batch 3072 --recompute full",
    "GPT-3's sizes, 2 layers, no pipeline": f"estimate gpt3-2-layers.onnx {ONE_STAGE}",
    "GPT-3's sizes, 96 layers, no pipeline": f"estimate gpt3-175b.onnx {ONE_STAGE}",
    "writing Megatron 1T": "model gpt --preset megatron-1t -o written.onnx",
    "starting and stopping": "--version",
}
MACHINE = " --target a100-80gb-dgx-ib --micro-batch 1 --bind seq=2048"


def run(words, directory):
    """Seconds on the clock and of the processor."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(words, cwd=directory, stdout=subprocess.DEVNULL, check=True)
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return wall, spent


def main():
    dtrain = os.path.join(os.path.abspath(sys.argv[1]), "dtrain")
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 7
    times = {name: [] for name in COMMANDS}
    with tempfile.TemporaryDirectory() as directory:
        for file, options in PRESETS.items():
            run([dtrain, "model", "gpt", *options, "-o", file], directory)
        for _ in range(rounds):
            for name, command in COMMANDS.items():
                text = command + MACHINE if command.startswith("estimate") else command
                times[name].append(run([dtrain, *text.split()], directory))
    print("| `dtrain` … | median ms | least ms | median CPU ms |\n|---|--:|--:|--:|")
    for name, found in times.items():
        wall, spent = zip(*found)
        figures = [statistics.median(wall), min(wall), statistics.median(spent)]
        print(f"| {name} | " + " | ".join(f"{1000 * figure:.0f}" for figure in figures) + " |")


if __name__ == "__main__":
    main()
