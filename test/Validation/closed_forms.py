#!/usr/bin/env python3
"""Checks dtrain against closed forms, on the machine and stack `test-ideal`: free links and memory, no overheads.

  closed_forms.py BIN_DIR [unittest arguments …]

BIN_DIR holds dtrain, dtrain-opt and dtrain-translate. Standard library only.
"""
import json
import os
import random
import subprocess
import sys
import tempfile
import unittest

BIN = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else sys.exit(__doc__)
FOLDER = tempfile.TemporaryDirectory(prefix="dtrain-closed-forms-")
HALF, SINGLE = 2, 4  # bytes of a bf16 and of an fp32 element


def path(name):
    return os.path.join(FOLDER.name, name)


def run(tool, *arguments, stdin=None):
    command = [os.path.join(BIN, tool), *map(str, arguments)]
    return subprocess.run(command, input=stdin, capture_output=True, text=True, timeout=60, cwd=FOLDER.name)


def checked(tool, *arguments, stdin=None):
    result = run(tool, *arguments, stdin=stdin)
    if result.returncode != 0:
        raise AssertionError(f"{tool} {' '.join(map(str, arguments))}\n{result.stderr}")
    return result.stdout


def model(name, family, **sizes):
    """Writes a network; its path."""
    file = path(name + ".onnx")
    if not os.path.exists(file):
        flags = [word for key, value in sizes.items() for word in ("--" + key.replace("_", "-"), value)]
        checked("dtrain", "model", family, *flags, "-o", file)
    return file


def estimate(file, parallel, batch, micro, *more, target="test-ideal", stack="test-ideal"):
    """The report on a training step. `parallel` maps axes to degrees."""
    devices = 1
    for axis, degree in parallel.items():
        devices *= degree if axis != "vpp" else 1
    degrees = ",".join(f"{axis}={degree}" for axis, degree in parallel.items()) or "dp=1"
    return json.loads(checked(
        "dtrain", "estimate", file, "--target", target, "--stack", stack, "--devices", devices, "--parallel", degrees,
        "--global-batch", batch, "--micro-batch", micro, "--format", "json", *more))


def all_reduce(ranks, size):
    """Bytes that one of `ranks` devices sends to all-reduce `size` bytes."""
    return 2 * (ranks - 1) / ranks * size


class Gpt:
    """A decoder of GPT-2's form: learned positions, tied head, biases."""
    layers, hidden, heads, vocab, seq = 4, 64, 4, 256, 32
    bind = ("--bind", f"seq={seq}")

    @classmethod
    def file(cls):
        return model("gpt", "gpt", layers=cls.layers, hidden=cls.hidden, heads=cls.heads, vocab=cls.vocab,
                     seq_max=cls.seq)

    @classmethod
    def forward(cls, samples):
        tokens, h = samples * cls.seq, cls.hidden
        projections = 3 * h * h + h * h + 4 * h * h + 4 * h * h
        scores = 2 * cls.seq * h  # queries times keys, scores times values
        return 2 * tokens * (cls.layers * (projections + scores) + h * cls.vocab)

    @classmethod
    def parameters(cls):
        h = cls.hidden
        return 12 * cls.layers * h * h + 13 * cls.layers * h + (cls.vocab + cls.seq) * h + 2 * h


class Llama:
    """A decoder of Llama's form: grouped queries, gated feed-forward, rotary positions, no biases."""
    layers, hidden, heads, kv_heads, ffn, vocab, seq = 4, 64, 8, 2, 96, 256, 32
    bind = ("--bind", f"seq={seq}")

    @classmethod
    def file(cls):
        return model("llama", "llama", layers=cls.layers, hidden=cls.hidden, heads=cls.heads, kv_heads=cls.kv_heads,
                     ffn=cls.ffn, vocab=cls.vocab, seq_max=cls.seq)

    @classmethod
    def forward(cls, samples):
        tokens, h = samples * cls.seq, cls.hidden
        narrow = h * cls.kv_heads // cls.heads
        projections = h * h + 2 * h * narrow + h * h + 3 * h * cls.ffn
        scores = 2 * cls.seq * h
        return 2 * tokens * (cls.layers * (projections + scores) + h * cls.vocab)


def mlp(layers):
    return model(f"mlp-{layers}", "mlp", layers=layers, hidden=64)


class Mlp:
    """Layers whose outputs the next layer and the gradient of the activation both read."""
    bind = ()

    @classmethod
    def file(cls):
        return mlp(4)


def balanced(layers):
    """An mlp whose input is trained too: without that the first stage has no gradient of its input to compute."""
    name = path(f"balanced-{layers}.onnxtxt")
    nodes = ["shape = Constant <value: tensor = int64[1] {64}> ()",
             "square = Constant <value: tensor = int64[2] {64, 64}> ()"]
    parameter = "ConstantOfShape <value: tensor = float[1] {0}>"
    nodes += [f"offset = {parameter} (shape)", "x0 = Add (x, offset)"]
    for i in range(layers):
        nodes += [f"w{i} = {parameter} (square)", f"b{i} = {parameter} (shape)", f"p{i} = MatMul (x{i}, w{i})",
                  f"s{i} = Add (p{i}, b{i})", f"x{i + 1} = Relu (s{i})"]
    with open(name, "w") as file:
        print('<ir_version: 8, opset_import: ["" : 17]>',
              f"balanced (float[batch, 64] x) => (float[batch, 64] x{layers}) {{", "\n".join(nodes), "}", sep="\n",
              file=file)
    return name


class FlopTest(unittest.TestCase):
    def test_contractions_add_up_exactly(self):
        for network in (Gpt, Llama):
            for parallel in ({}, {"tp": 2, "dp": 2}, {"tp": 2, "pp": 2, "dp": 2}):
                with self.subTest(network=network.__name__, parallel=parallel):
                    step = estimate(network.file(), parallel, 8, 2, *network.bind)["step"]
                    # Backward is two products for each of forward.
                    self.assertEqual(step["model_flops"], 3 * network.forward(8))
                    self.assertEqual(step["hardware_flops"], step["model_flops"])

    def test_full_recomputation_repeats_the_layers(self):
        for network in (Gpt, Llama):
            step = estimate(network.file(), {"tp": 2}, 8, 2, *network.bind, "--recompute", "full")["step"]
            head = 2 * 8 * network.seq * network.hidden * network.vocab
            self.assertEqual(step["model_flops"], 3 * network.forward(8))
            self.assertEqual(step["hardware_flops"], 4 * network.forward(8) - head)

    def test_gpt3_175b(self):
        b, s, l, h, v = 16, 2048, 96, 12288, 51200
        file = path("gpt3.onnx")
        checked("dtrain", "model", "gpt", "--preset", "gpt3-175b", "-o", file)
        step = estimate(file, {"tp": 8, "pp": 8}, b, 1, "--bind", "seq=2048")["step"]
        formula = 72 * b * s * l * h * h * (1 + s / (6 * h) + v / (12 * l * h))
        self.assertLess(abs(step["model_flops"] / formula - 1), 1e-3)


class TrafficTest(unittest.TestCase):
    def tensor(self, network, tp, micro, micros):
        """Per layer, two all-reduces of activations forward and two of gradients backward; one of embeddings and one
        of the gradient that the head sends back; of the loss the greatest logit, the sum of exponentials and the
        logit of the label per token, in fp32."""
        activation = micro * network.seq * network.hidden * HALF
        token = micro * network.seq * SINGLE
        return micros * all_reduce(tp, (4 * network.layers + 2) * activation + 3 * token)

    def test_tensor_parallel(self):
        for network in (Gpt, Llama):
            for tp in (2,) if network is Llama else (2, 4):
                with self.subTest(network=network.__name__, tp=tp):
                    sent = estimate(network.file(), {"tp": tp}, 12, 2, *network.bind)["step"]
                    self.assertEqual(sent["communication_bytes_per_device"], {"tp": self.tensor(network, tp, 2, 6)})

    def test_recomputation_repeats_the_all_reduces_of_forward(self):
        sent = estimate(Gpt.file(), {"tp": 2}, 12, 2, *Gpt.bind, "--recompute", "full")["step"]
        again = 6 * all_reduce(2, 2 * Gpt.layers * 2 * Gpt.seq * Gpt.hidden * HALF)
        self.assertEqual(sent["communication_bytes_per_device"], {"tp": self.tensor(Gpt, 2, 2, 6) + again})

    def test_data_parallel(self):
        for dp in (2, 4):
            sent = estimate(Gpt.file(), {"dp": dp}, 16, 2, *Gpt.bind)["step"]["communication_bytes_per_device"]
            # fp32 gradients once per step, and the loss.
            self.assertEqual(sent, {"dp": all_reduce(dp, Gpt.parameters() * SINGLE + SINGLE)})

    def test_pipeline_parallel(self):
        """A stage between two others sends activations on and gradients back, each micro-batch."""
        size = 16 * 64 * HALF
        sent = estimate(mlp(8), {"pp": 2}, 128, 16)["step"]["communication_bytes_per_device"]
        self.assertEqual(sent, {"pp": 8 * size})
        trace = checked("dtrain", "estimate", mlp(8), "--target", "test-ideal", "--stack", "test-ideal", "--devices", 4,
                        "--parallel", "pp=4", "--global-batch", 128, "--micro-batch", 16, "--to", "solve")
        stages = trace.split("schedule.rank_class")[1:]
        self.assertEqual([stage.count("comm.send") for stage in stages], [1, 2, 2, 1])


class PipelineTest(unittest.TestCase):
    def bubble(self, parallel, batch, *more):
        step = estimate(balanced(16), parallel, batch, 16, *more)["step"]
        return step["breakdown_s"]["bubble"] / step["time_s"]

    def test_bubble(self):
        for p in (2, 4, 8):
            for m in (1, 3, 8):
                for schedule in ("gpipe", "1f1b"):
                    with self.subTest(p=p, m=m, schedule=schedule):
                        found = self.bubble({"pp": p}, 16 * m, "--schedule", schedule)
                        self.assertAlmostEqual(found, (p - 1) / (m + p - 1), delta=1e-9)

    def test_interleaving_divides_the_bubble(self):
        for p, v, m in ((2, 2, 4), (4, 2, 8), (4, 4, 8), (2, 8, 6)):
            with self.subTest(p=p, v=v, m=m):
                found = self.bubble({"pp": p, "vpp": v}, 16 * m)
                self.assertAlmostEqual(found, (p - 1) / v / (m + (p - 1) / v), delta=1e-9)

    def test_micro_batches_held(self):
        """1F1B holds min(p, m) micro-batches on the first stage, GPipe all m."""
        p, micro = 4, 16
        file = model("deep", "mlp", layers=64, hidden=64)

        def held(schedule, m):
            """Activations of the first stage, where 1F1B holds most."""
            text = checked("dtrain", "estimate", file, "--target", "test-ideal", "--stack", "test-ideal", "--devices", p,
                           "--parallel", f"pp={p}", "--global-batch", micro * m, "--micro-batch", micro, "--schedule",
                           schedule, "--format", "json")
            return json.loads(text)["memory"]["activations_bytes"]
        # With one micro-batch the last stage, which keeps the logits too, would hold most.
        one = held("1f1b", 2) / 2
        for m in (3, 4, 8, 16):
            self.assertEqual(held("1f1b", m), min(p, m) * one)
        # Of GPipe's stages the last holds most: for each logit what the stack keeps, and a sum in fp32 per sample.
        self.assertEqual(one, 16 * (micro * 64 * HALF))
        self.assertEqual(held("gpipe", 16), 16 * (one + micro * 64 * 6 + micro * SINGLE))


class ReportTest(unittest.TestCase):
    JOBS = (({}, ()), ({"tp": 2, "dp": 2}, ()), ({"tp": 2, "pp": 2, "dp": 2}, ("--recompute", "full")),
            ({"pp": 2, "vpp": 2}, ()), ({"pp": 4}, ("--schedule", "gpipe")))

    def test_breakdowns_sum(self):
        for target, stack in (("test-ideal", "test-ideal"), ("a100-80gb-dgx-ib", "megatron-2021"),
                              ("h100-dgx-ib", "megatron-core")):
            for parallel, more in self.JOBS:
                with self.subTest(target=target, parallel=parallel):
                    r = estimate(Gpt.file(), parallel, 8, 2, *Gpt.bind, *more, target=target, stack=stack)
                    memory = [v for k, v in r["memory"].items()
                              if k.endswith("_bytes") and k not in ("peak_bytes", "capacity_bytes")]
                    for parts, total in ((r["step"]["breakdown_s"].values(), r["step"]["time_s"]),
                                         (r["energy"]["breakdown_j"].values(), r["energy"]["step_j"]),
                                         (r["cost"]["breakdown_usd"].values(), r["cost"]["step_usd"]),
                                         ((r["carbon"]["operational_kgco2e"], r["carbon"]["embodied_kgco2e"]),
                                          r["carbon"]["step_kgco2e"]), (memory, r["memory"]["peak_bytes"])):
                        self.assertGreater(total, 0)
                        self.assertAlmostEqual(sum(parts) / total, 1, delta=1e-9)

    def test_operators_add_up(self):
        """The operators of one device make up its FLOPs, its traffic and, where nothing overlaps, its time."""
        for parallel in ({}, {"dp": 2}, {"tp": 2, "dp": 2}):
            with self.subTest(parallel=parallel):
                devices = parallel.get("tp", 1) * parallel.get("dp", 1)
                r = estimate(Llama.file(), parallel, 8, 2, *Llama.bind, target="a100-80gb-dgx-ib",
                             stack="megatron-2021")
                step, uses = r["step"], r["operators"]
                products = sum(u["flops"] for u in uses if u["kind"] == "contraction")
                scores = 3 * Llama.layers * 2 * 8 * Llama.seq * 2 * Llama.seq * Llama.hidden
                self.assertAlmostEqual(products * devices / (step["model_flops"] - scores), 1, delta=1e-9)
                for axis, sent in step["communication_bytes_per_device"].items():
                    found = sum(u["bytes"] for u in uses if u["kind"].endswith(" " + axis))
                    self.assertAlmostEqual(found / sent if sent else 1, 1, delta=1e-9)
                busy = sum(u["time_s"] for u in uses
                           if not u["name"].startswith("dtrain.comm.") and u["kind"] != "optimizer")
                self.assertAlmostEqual(busy / step["breakdown_s"]["compute"], 1, delta=1e-9)
                micros = 8 // (2 * parallel.get("dp", 1))
                attention = [u for u in uses if u["name"] == "dtrain.attention"]
                self.assertEqual([u["count"] for u in attention], [Llama.layers * micros])
                for u in uses:
                    self.assertEqual(u["flops_per_byte"], u["flops"] / u["bytes"] if u["bytes"] else 0)

    def test_reuse_does_not_depend_on_depth(self):
        """Twice the layers are more tasks; what differs among them stays."""
        reuse = [estimate(model(f"gpt-{layers}", "gpt", layers=layers, hidden=64, heads=4, vocab=256, seq_max=32),
                          {"tp": 2}, 8, 2, *Gpt.bind)["reuse"] for layers in (4, 8)]
        self.assertGreater(reuse[1]["tasks"], 1.5 * reuse[0]["tasks"])
        self.assertLessEqual(abs(reuse[1]["priced"] - reuse[0]["priced"]), 2)
        for r in reuse:
            self.assertAlmostEqual(r["rate"], 1 - r["priced"] / r["tasks"], delta=1e-15)

    def test_runs_are_bit_identical(self):
        job = ["estimate", Gpt.file(), "--target", "a100-80gb-dgx-ib", "--devices", 8, "--parallel", "tp=2,pp=2,dp=2",
               "--global-batch", 8, "--micro-batch", 2, *Gpt.bind]
        for form in ("text", "json", "csv", "operators", "chrome-trace", "mlir"):
            self.assertEqual(checked("dtrain", *job, "--format", form), checked("dtrain", *job, "--format", form))


class RollingTest(unittest.TestCase):
    def train(self, network, batch, micros, rolled):
        """The training step of a network, its layers rolled into a repeat or written out."""
        name = path(f"{network.__name__}-{batch}-{rolled}.mlir")
        program = checked("dtrain-translate", "--import-onnx", *network.bind, "--batch", batch, network.file())
        passes = ["dtrain-fuse", *(["dtrain-roll-layers"] if rolled else []), "dtrain-set-precision{precision=bf16}",
                  f"dtrain-differentiate{{micro-batches={micros} gradient-type=f32}}",
                  "dtrain-apply-optimizer{optimizer=adamw}", "dtrain-verify-train"]
        checked("dtrain-opt", f"--pass-pipeline=builtin.module({','.join(passes)})", "-o", name, stdin=program)
        with open(name) as file:
            repeats = file.read().count("dtrain.repeat")
        # Of the micro-batches; and of the layers, forward and backward.
        self.assertEqual(repeats, 3 if rolled else 1)
        return name

    def test_rolled_and_unrolled_agree(self):
        for network in (Gpt, Llama, Mlp):
            for parallel in ({}, {"dp": 2}, {"tp": 2}, {"tp": 2, "dp": 2}):
                if network is Mlp and "tp" in parallel:
                    continue  # Its products pair across layers only, which a rolled layer does not show.
                dp = parallel.get("dp", 1)
                programs = [self.train(network, 2 * dp, 3, rolled) for rolled in (True, False)]
                for stack in ("test-ideal", "megatron-2021", "megatron-2022", "megatron-core"):
                    reports = [estimate(program, parallel, 6 * dp, 2, stack=stack) for program in programs]
                    for section in ("step", "memory", "energy", "efficiency"):
                        with self.subTest(network=network.__name__, parallel=parallel, stack=stack, section=section):
                            self.assertClose(*(report[section] for report in reports))

    def assertClose(self, a, b):
        if isinstance(a, dict):
            self.assertEqual(a.keys(), b.keys())
            for key in a:
                self.assertClose(a[key], b[key])
        elif isinstance(a, (int, float)):
            # A part of a step that nothing fills may be a rounding error.
            self.assertLessEqual(abs(a - b), max(1e-9 * abs(a), 1e-15))
        else:
            self.assertEqual(a, b)

    def test_one_layer(self):
        """Nothing to roll; and with a layer per stage, a repeat of one trip."""
        single = model("single", "gpt", layers=1, hidden=64, heads=4, vocab=256, seq_max=32)
        double = model("double", "gpt", layers=2, hidden=64, heads=4, vocab=256, seq_max=32)
        flops = [estimate(file, {}, 8, 2, *Gpt.bind)["step"]["model_flops"] for file in (single, double)]
        layer = 3 * 2 * 8 * 32 * (12 * 64 * 64 + 2 * 32 * 64)
        self.assertEqual(flops[1] - flops[0], layer)
        self.assertEqual(estimate(double, {"pp": 2}, 8, 2, *Gpt.bind)["step"]["model_flops"], flops[1])

    def test_recomputation_without_layers_is_reported(self):
        single = model("single", "gpt", layers=1, hidden=64, heads=4, vocab=256, seq_max=32)
        result = run("dtrain", "estimate", single, "--target", "test-ideal", "--stack", "test-ideal", "--devices", 1,
                     "--parallel", "dp=1", "--global-batch", 8, "--micro-batch", 2, *Gpt.bind, "--recompute", "full")
        self.assertEqual(result.returncode, 0)
        self.assertRegex(result.stderr, "warning: nothing to recompute")

    def test_no_repeat(self):
        """One linear layer: two products, since nothing asks for the gradient of the input."""
        step = estimate(mlp(1), {}, 32, 16)["step"]
        self.assertEqual(step["model_flops"], 2 * (2 * 32 * 64 * 64))

    def test_nothing_asks_for_the_gradient_of_the_input(self):
        """Nor in the first of several layers, rolled or not, on one stage or many."""
        for parallel in ({}, {"dp": 2}, {"pp": 2}, {"pp": 4}, {"pp": 2, "vpp": 2}):
            with self.subTest(parallel=parallel):
                step = estimate(mlp(4), parallel, 64, 16)["step"]
                self.assertEqual(step["model_flops"], (3 * 4 - 1) * (2 * 64 * 64 * 64))


class BadInputTest(unittest.TestCase):
    def setUp(self):
        with open(path("junk.onnx"), "wb") as file:
            file.write(random.Random(1).randbytes(4096))
        with open(path("empty.onnx"), "wb"):
            pass
        with open(Gpt.file(), "rb") as file:
            whole = file.read()
        with open(path("cut.onnx"), "wb") as file:
            file.write(whole[:len(whole) * 2 // 3])
        with open(path("unknown.onnxtxt"), "w") as file:
            file.write('<ir_version: 8, opset_import: ["" : 17]>\n'
                       "g (float[batch, 4] x) => (float[batch, 4] y) { y = Det (x) }\n")

    def refused(self, expected, *arguments, file=None):
        """One diagnostic that says `expected`, and exit status 1."""
        result = run("dtrain", "estimate", file or Gpt.file(), *arguments)
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertEqual(result.stderr.count("error"), 1, result.stderr)
        self.assertEqual(len(result.stderr.strip().splitlines()), 1, result.stderr)
        self.assertRegex(result.stderr, expected)
        self.assertEqual(result.stdout, "")

    def job(self, **changes):
        """Arguments of a job that works, but for `changes`; None leaves an option out."""
        options = {"target": "test-ideal", "stack": "test-ideal", "devices": 1, "parallel": "dp=1", "global-batch": 8,
                   "micro-batch": 1, "bind": f"seq={Gpt.seq}"}
        options.update({key.replace("_", "-"): value for key, value in changes.items()})
        return [word for key, value in options.items() if value is not None for word in (f"--{key}", value)]

    def test_the_job_works(self):
        checked("dtrain", "estimate", Gpt.file(), *self.job())

    def test_files(self):
        for name in ("junk.onnx", "empty.onnx", "cut.onnx", "unknown.onnxtxt", "missing.onnx", "."):
            with self.subTest(file=name):
                words = {"unknown.onnxtxt": "Det", "missing.onnx": "[Nn]o such file|missing", ".": "directory"}
                self.refused(words.get(name, "ONNX|onnx"), *self.job(bind=None), file=path(name))

    def test_options(self):
        for expected, changes in (
                ("seq", {"bind": None}),
                ("divi|multiple", {"devices": 3, "parallel": "tp=3"}),
                ("layers", {"devices": 3, "parallel": "pp=3"}),
                ("divi|multiple", {"devices": 3, "parallel": "dp=3"}),
                ("divi|multiple", {"micro_batch": 3}),
                ("devices", {"devices": 7, "parallel": "dp=2"}),
                ("stage|layers", {"devices": 8, "parallel": "pp=8"}),
                ("xp", {"devices": 8, "parallel": "xp=8"}),
                ("nope", {"target": "nope"}),
                ("nope", {"stack": "nope"}),
                ("target", {"target": None}),
                ("fp8", {"precision": "fp8"}),
                ("built", {"zero": 1}),
                ("built|sequence", {"recompute": "selective"}),
                ("built", {"devices": 2, "parallel": "dp=2,ep=2"}),
                ("devices|-8", {"devices": -8, "parallel": "dp=-8"}),
                ("dp|degree|-2", {"parallel": "dp=-2"}),
                ("batch", {"global_batch": -8}),
                ("batch", {"micro_batch": 0}),
                ("out of range", {"bind": "seq=9223372036854775807"}),
                ("seq", {"bind": "seq=-1"}),
                ("seq", {"bind": "seq=99999999999999999999"}),
                ("devices|overflow|large", {"devices": 99999999999999999999})):
            with self.subTest(**changes):
                self.refused(expected, *self.job(**changes))

    def test_sequence_parallelism_is_not_built(self):
        self.refused("built", *self.job(), "--sequence-parallel")

    def test_output_that_cannot_be_written(self):
        self.refused("No such file|cannot|could not", *self.job(), "-o", path(os.path.join("no", "such", "folder")))
        self.assertFalse(os.path.exists(path("no")))

    def test_nothing_half_written(self):
        """A job that fails late leaves an older file as it was."""
        with open(path("report.json"), "w") as file:
            file.write("old")
        self.refused("seq", *self.job(bind=None), "-o", path("report.json"))
        with open(path("report.json")) as file:
            self.assertEqual(file.read(), "old")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
