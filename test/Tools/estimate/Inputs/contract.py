"""Checks what `dtrain estimate` printed: contract.py FORMAT FILE.

json: the keys of the contract, sums, digits. csv: the same keys as columns. chrome-trace: events that
do not overlap on a stage and end with the step.
"""
import csv
import json
import sys

TOP = "schema model target strategy step efficiency memory operators reuse energy cost carbon run assumptions warnings"
KEYS = {
    "model": "name parameters layers",
    "target": "name devices",
    "strategy": "tp cp ep dp pp global_batch micro_batch micro_batches schedule chunks recompute precision "
    "optimizer stack overlap_dp",
    "step": "time_s tokens samples model_flops hardware_flops critical_stage breakdown_s "
    "communication_bytes_per_device",
    "efficiency": "mfu hfu tflops_per_device",
    "memory": "capacity_bytes peak_bytes fits parameters_bytes gradients_bytes optimizer_bytes activations_bytes "
    "workspace_bytes",
    "energy": "step_j breakdown_j average_power_w_per_device",
    "cost": "step_usd breakdown_usd",
    "carbon": "step_kgco2e operational_kgco2e embodied_kgco2e",
    "run": "steps tokens time_s energy_j usd kgco2e",
}


def close(a, b):
    return abs(a - b) <= 1e-9 * max(abs(a), abs(b))


def check_json(text):
    report = json.loads(text)
    assert set(report) == set(TOP.split()), set(report) ^ set(TOP.split())
    for section, keys in KEYS.items():
        assert set(report[section]) == set(keys.split()), (section, set(report[section]) ^ set(keys.split()))
    step, memory = report["step"], report["memory"]
    assert set(step["breakdown_s"]) == set("compute exposed_communication bubble optimizer input host".split())
    assert close(sum(step["breakdown_s"].values()), step["time_s"])
    parts = [v for k, v in memory.items() if k.endswith("_bytes") and k not in ("peak_bytes", "capacity_bytes")]
    assert close(sum(parts), memory["peak_bytes"])
    assert close(sum(report["energy"]["breakdown_j"].values()), report["energy"]["step_j"])
    assert close(sum(report["cost"]["breakdown_usd"].values()), report["cost"]["step_usd"])
    assert close(report["run"]["time_s"], report["run"]["steps"] * step["time_s"])
    for use in report["operators"]:
        assert set(use) == set("name kind count flops bytes flops_per_byte time_s".split()), use
    assert set(report["reuse"]) == {"tasks", "priced", "rate"}
    for assumption in report["assumptions"]:
        assert set(assumption) == {"name", "value", "unit", "basis", "source"} and assumption["source"], assumption
    # At least 12 significant digits.
    digits = text[text.index('"time_s":') + 9 :].split(",")[0].strip().replace("0.", "").lstrip("0")
    assert len(digits.replace(".", "")) >= 12, digits


def check_csv(text):
    rows = list(csv.reader(text.splitlines()))
    assert len(rows) == 2 and len(rows[0]) == len(rows[1]), [len(r) for r in rows]
    row = dict(zip(*rows))
    for section, keys in KEYS.items():
        for key in keys.split():
            assert any(c == f"{section}.{key}" or c.startswith(f"{section}.{key}.") for c in row), (section, key)
    assert float(row["step.time_s"]) > 0 and int(row["assumptions"]) > 0


def check_trace(text):
    events = [e for e in json.loads(text)["traceEvents"] if e["ph"] == "X"]
    end = {}
    for e in sorted(events, key=lambda e: e["ts"]):
        assert e["ts"] >= end.get(e["tid"], 0) - 1e-3, e
        end[e["tid"]] = e["ts"] + e["dur"]
    names = [e["name"] for e in events if e["tid"] == 0]
    assert sorted(names) == sorted(["F0", "F1", "F2", "F3", "B0", "B1", "B2", "B3", "synchronise", "update"]), names
    assert set(end) == {0, 1}


{"json": check_json, "csv": check_csv, "chrome-trace": check_trace}[sys.argv[1]](open(sys.argv[2]).read())
