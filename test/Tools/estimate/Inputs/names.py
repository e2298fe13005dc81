"""Names that are not UTF-8, and that CSV must quote: names.py DTRAIN MODEL DIR. Copies the model to a file with such a name and
checks what each format prints."""
import csv
import json
import os
import shutil
import subprocess
import sys

dtrain, model, folder = sys.argv[1:]
os.makedirs(folder, exist_ok=True)
path = os.path.join(os.fsencode(folder), b'b\xff\xe9, "x"\nend.onnx')
shutil.copy(model, path)
NAME = 'b\ufffd\ufffd, "x"\nend'
OPTIONS = "--target test-ideal --stack test-ideal --devices 1 --parallel dp=1 --global-batch 4 --micro-batch 4".split()


def estimate(*options):
    p = subprocess.run([dtrain, "estimate", path, *OPTIONS, *options], capture_output=True)
    assert p.returncode == 0, p.stderr
    return p.stdout


assert json.loads(estimate("--format", "json").decode())["model"]["name"] == NAME
header, row = csv.reader(estimate("--format", "csv").decode().splitlines(keepends=True))
assert len(header) == len(row)
assert row[header.index("model.name")] == NAME, row
for form in ("text", "operators"):
    assert estimate("--format", form).decode().startswith(NAME), form
json.loads(estimate("--format", "chrome-trace").decode())
# The program says the bytes as they are; the report of the program is the model's.
program = os.path.join(folder, "solved.mlir")
estimate("--to", "solve", "-o", program)
with open(program, encoding="utf-8") as f:
    text = f.read()
assert '"b\\FF\\E9, \\22x\\22\\0Aend"' in text, text[:500]
path = program
assert json.loads(estimate("--format", "json").decode())["model"]["name"] == NAME
