#!/usr/bin/env python3
"""Damages programs, models, descriptions and command lines and feeds them to the tools: each run ends in time, with status 0, or
with 1 and an error. Usage: fuzz.py BIN_DIR [--rounds N] [--seed N] [--kind KIND] [--keep DIR].

A round damages every seed of every kind several times: programs of each phase as the driver prints them, the inputs of the lit
tests, ONNX models as text and as bytes, target and stack files, command lines of dtrain estimate. Equal seeds damage alike.
"""
import argparse
import glob
import hashlib
import math
import os
import random
import re
import resource
import shlex
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
TESTS = os.path.dirname(HERE)
MODELS = os.path.join(os.path.dirname(TESTS), "models")
TIMEOUT = 30  # seconds
MEMORY = 6 << 30  # bytes of address space
ENV = dict(os.environ, LLVM_DISABLE_SYMBOLIZATION="1", LLVM_DISABLE_CRASH_REPORT="1")

# What programs say: a swap of one for another is likelier to parse than noise.
TOKEN = re.compile(rb'"(?:[^"\\\n]|\\.)*"|[%@#!][\w$.-]+|[A-Za-z_][\w$.]*|\d+\.\d+(?:e[+-]?\d+)?|\d+|->|\S')
NUMBERS = [b"0", b"1", b"2", b"3", b"5", b"-1", b"7", b"64", b"1000", b"4294967296", b"9223372036854775807", b"9223372036854775808"]
REALS = [b"0.0", b"-1.0", b"0.5", b"2.0", b"1.0e300", b"1.0e-300", b"1.0e400", b"0x7FF0000000000000"]


def mutate(text, rng, pool):
    """One to three small damages. `pool` has tokens of other seeds of the kind."""
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        tokens = list(TOKEN.finditer(text))
        lines = text.split(b"\n")
        if not tokens:
            return text
        what = rng.randrange(10)
        at = rng.choice(tokens)
        if what <= 3:  # a token of the same sort in the place of another
            sort = at.group()[:1]
            if sort.isdigit():
                new = rng.choice(REALS if b"." in at.group() else NUMBERS)
            else:
                same = [t for t in pool if t[:1].isalpha() == sort.isalpha() and (sort.isalpha() or t[:1] == sort)]
                new = rng.choice(same) if same else rng.choice(NUMBERS)
            text = text[:at.start()] + new + text[at.end():]
        elif what == 4:  # dimensions of shapes
            shapes = list(re.finditer(rb"(?<=[<x])\d+(?=x)", text))
            if shapes:
                at = rng.choice(shapes)
                text = text[:at.start()] + rng.choice(NUMBERS + [b"?"]) + text[at.end():]
        elif what == 5:  # a word is dropped
            text = text[:at.start()] + text[at.end():]
        elif what == 6:  # a line is dropped
            del lines[rng.randrange(len(lines))]
            text = b"\n".join(lines)
        elif what == 7:  # a line is doubled or moved
            line = rng.choice(lines)
            lines.insert(rng.randrange(len(lines) + 1), line)
            text = b"\n".join(lines)
        elif what == 8:  # every use of a number is changed alike: shapes stay consistent
            numbers = sorted({t.group() for t in tokens if t.group().isdigit()} | set(re.findall(rb"(?<=[<x])\d+(?=x)", text)))
            if numbers:
                old, new = rng.choice(numbers), rng.choice(NUMBERS)
                text = re.sub(rb"(?<![\w.])" + old + rb"(?![\w.])|(?<=[<x])" + old + rb"(?=x)", new, text)
        else:  # two tokens change places
            other = rng.choice(tokens)
            a, b = sorted((at, other), key=lambda t: t.start())
            if a.end() <= b.start():
                text = text[:a.start()] + b.group() + text[a.end():b.start()] + a.group() + text[b.end():]
    return text


def damage_bytes(data, rng):
    data = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 4, 8))):
        if not data:
            break
        at = rng.randrange(len(data))
        what = rng.randrange(4)
        if what == 0:
            data[at] = rng.randrange(256)
        elif what == 1:
            data[at] ^= 1 << rng.randrange(8)
        elif what == 2:
            del data[at:at + rng.choice((1, 2, 8, 64))]
        else:
            data[at:at] = data[rng.randrange(len(data)):][:rng.choice((1, 2, 8, 64))]
    return bytes(data)


class Fuzzer:
    def __init__(self, binaries, seed, keep):
        self.bin = os.path.abspath(binaries)
        self.seed, self.keep = seed, keep
        self.tmp = tempfile.mkdtemp(prefix="dtrain-fuzz-")
        self.runs, self.failures = 0, {}

    def tool(self, name, *args):
        return [os.path.join(self.bin, name), *map(str, args)]

    def path(self, name):
        return os.path.join(self.tmp, name)

    def write(self, name, data):
        with open(self.path(name), "wb") as f:
            f.write(data)
        return self.path(name)

    def run(self, command):
        """What is wrong with how the command ends; empty if nothing is."""
        self.runs += 1
        try:
            p = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=TIMEOUT, env=ENV, cwd=self.tmp,
                               preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY)))
        except subprocess.TimeoutExpired:
            return f"still runs after {TIMEOUT} s"
        stderr = p.stderr.decode("utf-8", "replace")
        if p.returncode not in (0, 1):
            lines = [l for l in stderr.splitlines() if re.search(r"Assertion|UNREACHABLE|LLVM ERROR|terminate|cantFail", l)]
            why = " ".join(lines[:2]) or stderr[-300:]
            after = re.search(r"cantFail wrapped call\n(.*)", stderr)
            return f"status {p.returncode}: {why} {after.group(1) if after else ''}"
        if p.returncode == 1 and "error:" not in stderr:
            return "status 1 without an error"
        return ""

    def fail(self, what, command, files):
        """Notes one failure of each sort and keeps its files."""
        sort = re.sub(r"'[^']*'|\d+", "N", what)
        if sort in self.failures:
            self.failures[sort][0] += 1
            return
        kept = []
        if self.keep:
            os.makedirs(self.keep, exist_ok=True)
            for file in files:
                with open(file, "rb") as f:
                    data = f.read()
                name = hashlib.sha1(sort.encode()).hexdigest()[:8] + "-" + os.path.basename(file)
                kept.append(os.path.join(self.keep, name))
                with open(kept[-1], "wb") as f:
                    f.write(data)
        self.failures[sort] = [1, what, command, kept]
        print(f"FAIL {what}\n  {shlex.join(command)}\n  {' '.join(kept)}", flush=True)

    # --- programs ----------------------------------------------------------------------------------------------------------

    def programs(self):
        """Pairs of a program and the options that dtrain-opt takes it further with."""
        seeds = []
        models = {"mlp": ["mlp", "--layers", 2, "--hidden", 16],
                  "gpt": ["gpt", "--layers", 4, "--hidden", 16, "--heads", 4, "--vocab", 32, "--seq-max", 8],
                  "llama": ["llama", "--layers", 4, "--hidden", 16, "--heads", 4, "--kv-heads", 2, "--ffn", 32, "--vocab", 32, "--seq-max", 8]}
        for name, args in models.items():
            onnx = self.path(name + ".onnx")
            subprocess.run(self.tool("dtrain", "model", *args, "-o", onnx), check=True)
            bind = [] if name == "mlp" else ["--bind=seq=8"]
            imported = subprocess.run(self.tool("dtrain-translate", "--import-onnx", onnx, "--batch=8", *bind), check=True, capture_output=True).stdout
            seeds.append((imported, ["--dtrain-pipeline=mesh=dp=2 target=test-ideal stack=test-ideal"]))
            for parallel, mesh in (("dp=1", "dp=1"), ("tp=2,dp=2", "dp=2,tp=2"), ("pp=2,tp=2", "pp=2,tp=2")):
                devices = math.prod(int(size) for size in re.findall(r"\d+", parallel))
                dp = 2 if "dp=2" in parallel else 1
                for to in ("import", "train", "place", "communicate", "schedule", "solve"):
                    p = subprocess.run(self.tool("dtrain", "estimate", onnx, "--target", "test-ideal", "--stack", "test-ideal", "--devices", devices,
                                                 "--parallel", parallel, "--global-batch", 8, "--micro-batch", 4 // dp, *bind, "--to", to),
                                       capture_output=True)
                    if p.returncode:
                        continue  # a model that the strategy does not suit
                    options = [f"--dtrain-pipeline=from={to} mesh={mesh} micro-batches=2 target=test-ideal stack=test-ideal"]
                    if to == "solve":
                        options = ["--schedule-verify=solution=true", "--schedule-report=format=json"]
                    seeds.append((p.stdout, options))
                    if to in ("place", "communicate"):
                        seeds.append((p.stdout, ["--dtrain-check-equivalence"]))
        return seeds

    def lit_inputs(self):
        """The chunks of the lit tests' .mlir files with the options of their RUN lines."""
        seeds = []
        for file in sorted(glob.glob(os.path.join(TESTS, "**", "*.mlir"), recursive=True)):
            with open(file, "rb") as f:
                text = f.read()
            run = re.search(rb"RUN: dtrain-opt (.*)", text)
            if not run:
                continue
            words = shlex.split(run.group(1).decode().split("|")[0].split(">")[0].rstrip("\\").split("2>")[0])
            options = [w for w in words if w.startswith("-") and not re.match(r"--?(split-input-file|verify-diagnostics|o$|emit)", w)
                       and "%" not in w]
            for chunk in re.split(rb"(?m)^// -----.*$", text):
                seeds.append((re.sub(rb"(?m)//.*$", b"", chunk), options or ["--canonicalize"]))
        return seeds

    def fuzz_programs(self, seeds, rng, count):
        pool = sorted({t for text, _ in seeds for t in TOKEN.findall(text)})
        for text, options in seeds:
            own = sorted(set(TOKEN.findall(text)))
            mutants = [mutate(text, rng, rng.choice((own, own, pool)) or pool) for _ in range(count)]
            file = self.write("batch.mlir", b"\n// -----\n".join(mutants))
            command = self.tool("dtrain-opt", file, "--split-input-file", *options)
            if self.run(command) in ("", "status 1 without an error"):
                continue
            for mutant in mutants:
                file = self.write("program.mlir", mutant)
                command = self.tool("dtrain-opt", file, *options)
                if what := self.run(command):
                    self.fail(what, command, [file])

    # --- models, descriptions, command lines -------------------------------------------------------------------------------

    STRATEGY = ["--devices", "2", "--parallel", "dp=2", "--global-batch", "8", "--micro-batch", "2"]

    def estimate(self, model, *args, target="test-ideal", stack="test-ideal", strategy=None):
        return self.tool("dtrain", "estimate", model, "--target", target, "--stack", stack, *(strategy or self.STRATEGY), *args, "--format", "json")

    def fuzz_models(self, rng, count):
        texts = {}
        for file in sorted(glob.glob(os.path.join(TESTS, "Import", "ONNX", "*.onnxtxt"))):
            with open(file, "rb") as f:
                data = re.sub(rb"(?m)^#.*$", b"", f.read())
            for n, chunk in enumerate(re.split(rb"(?m)^(?=<ir_version)", data)):
                if chunk.strip():
                    texts[f"{os.path.basename(file)}-{n}"] = chunk
        pool = sorted({t for text in texts.values() for t in TOKEN.findall(text)})
        for text in texts.values():
            symbols = sorted({s.decode() for s in re.findall(rb"(?<=[\[ ,])([a-z]\w*)(?=[\],])", text)})
            bind = [a for s in symbols if s not in ("batch", "N") for a in ("--bind", s + "=8")]
            for _ in range(count):
                file = self.write("model.onnxtxt", mutate(text, rng, pool))
                command = self.estimate(file, *rng.choice(([], ["--rebatch"])), *rng.choice(([], bind)))
                if what := self.run(command):
                    self.fail(what, command, [file])
        for name in ("mlp", "gpt", "llama"):
            with open(self.path(name + ".onnx"), "rb") as f:
                data = f.read()
            for _ in range(4 * count):
                file = self.write("model.onnx", damage_bytes(data, rng))
                command = self.estimate(file, *([] if name == "mlp" else ["--bind", "seq=8"]))
                if what := self.run(command):
                    self.fail(what, command, [file])

    def fuzz_descriptions(self, rng, count):
        for folder, option in (("hardware", "target"), ("stacks", "stack")):
            for source in sorted(glob.glob(os.path.join(MODELS, folder, "*.mlir"))):
                with open(source, "rb") as f:
                    text = f.read()
                pool = sorted(set(TOKEN.findall(text)))
                for _ in range(4 * count):
                    file = self.write(option + ".mlir", mutate(text, rng, pool))
                    command = self.estimate(self.path("gpt.onnx"), "--bind", "seq=8", **{option: file})
                    if what := self.run(command):
                        self.fail(what, command, [file])

    def fuzz_command_lines(self, rng, count):
        degrees = ["1", "1", "2", "2", "3", "4", "8", "0", "-1", "x", "4294967296", "9223372036854775807"]
        for _ in range(16 * count):
            axes = rng.sample(["tp", "pp", "dp", "vpp", "cp", "ep"], rng.randrange(1, 4))
            sizes = [rng.choice(degrees[:6] if rng.random() < 0.9 else degrees) for _ in axes]
            product = 1
            for axis, size in zip(axes, sizes):
                product *= int(size) if size.lstrip("-").isdigit() and axis not in ("vpp", "ep") else 1
            strategy = ["--devices", str(product), "--parallel", ",".join(a + "=" + s for a, s in zip(axes, sizes)),
                        "--global-batch", rng.choice(["8", "16", "64", "7", "0", "9223372036854775807"]), "--micro-batch", rng.choice(["1", "2", "4", "8"])]
            more = []
            for option, values in (("--bind", ["seq=8", "seq=8", "seq=8", "seq=0", "seq=1", "seq=4294967296", "seq=9223372036854775807", "other=1", "=", "seq"]),
                                   ("--schedule", ["1f1b", "gpipe", "interleaved", "none"]), ("--recompute", ["full", "none", "selective"]),
                                   ("--precision", ["bf16", "fp16", "fp32", "fp8"]), ("--optimizer", ["sgd", "adamw"]), ("--overlap-dp", ["yes", "no"]),
                                   ("--tokens", ["1", "1e300", "1e-300", "nan", "inf"]), ("--steps", ["1", "1e308", "1e-300"]),
                                   ("--order", ["dp,pp,tp,cp,ep", "pp,tp,cp,ep,dp", "tp"]), ("--zero", ["0", "1", "9"]), ("--batch-dim", ["batch", "seq", ""])):
                if rng.random() < (0.9 if option == "--bind" else 0.25):
                    more += [option, rng.choice(values)]
            model = self.path(rng.choice(["mlp", "gpt", "llama"]) + ".onnx")
            target = rng.choice(["test-ideal", "h100-dgx-ib", "a100-80gb-dgx-ib"])
            command = self.estimate(model, *more, target=target, stack=rng.choice(["test-ideal", "megatron-core", "megatron-2021"]), strategy=strategy)
            if what := self.run(command):
                self.fail(what, command, [])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("bin")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--count", type=int, default=8, help="damaged copies of each seed in a round")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kind", choices=["programs", "lit", "models", "descriptions", "command-lines"])
    parser.add_argument("--keep", help="folder for what fails")
    args = parser.parse_args()
    fuzzer = Fuzzer(args.bin, args.seed, args.keep)
    programs, lit = fuzzer.programs(), fuzzer.lit_inputs()
    if len(programs) < 30 or len(lit) < 100:
        sys.exit(f"FAIL expected 30 programs and 100 inputs of tests to damage, found {len(programs)} and {len(lit)}")
    kinds = {"programs": lambda rng: fuzzer.fuzz_programs(programs, rng, args.count),
             "lit": lambda rng: fuzzer.fuzz_programs(lit, rng, args.count),
             "models": lambda rng: fuzzer.fuzz_models(rng, args.count),
             "descriptions": lambda rng: fuzzer.fuzz_descriptions(rng, args.count),
             "command-lines": lambda rng: fuzzer.fuzz_command_lines(rng, args.count)}
    for round in range(args.rounds):
        for kind, fuzz in kinds.items():
            if args.kind in (None, kind):
                fuzz(random.Random(f"{args.seed}-{round}-{kind}"))
    for times, what, command, kept in fuzzer.failures.values():
        print(f"{times} x {what}")
    print(f"{fuzzer.runs} runs, {len(fuzzer.failures)} sorts of failure")
    sys.exit(bool(fuzzer.failures))


main()
