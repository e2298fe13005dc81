"""Checks that the table of ops in a document says the rules that the dialect declares.

The rows of the first table are `| op | rule | …`; every compute op of the `.td` file has one. Where the
rule depends on the instance, the file declares none, and the row's is in italics.

usage: ops.py DIALECT.td DOCUMENT.md"""

import re
import sys

OP = re.compile(r'^def DTrain_\w+ : DTrain_ComputeOp<"(\w+)",\s*((?:"[^"]*"\s*)+)', re.MULTILINE)


def declared(text):
    """Rule text by op."""
    return {name: " ".join("".join(re.findall(r'"([^"]*)"', rule)).split()) for name, rule in OP.findall(text)}


def documented(text):
    """Cell of the rule by op."""
    table = re.search(r"^\| op \| rule \|.*\n\|[-| ]*\n((?:\|.*\n)*)", text, re.MULTILINE)
    rows = [re.split(r"(?<!\\)\|", line) for line in table.group(1).splitlines()] if table else []
    return {row[1].strip(" `"): row[2].strip().replace("\\|", "|") for row in rows}


def differences(rules, cells):
    found = []
    for name in sorted(set(rules) | set(cells)):
        if name not in cells:
            found.append(f"expected a row for op {name}, found none")
        elif name not in rules:
            found.append(f"expected an op of the dialect, found {name}")
        elif not rules[name]:
            if not re.fullmatch(r"\*.*\*", cells[name]):
                found.append(f"op {name}: expected words in italics, found {cells[name]}")
        elif " ".join(cells[name].strip("`").split()) != rules[name]:
            found.append(f"op {name}: expected {rules[name]}, found {cells[name]}")
    return found


def main():
    with open(sys.argv[1], encoding="utf-8") as dialect, open(sys.argv[2], encoding="utf-8") as document:
        rules, cells = declared(dialect.read()), documented(document.read())
    if not rules:
        sys.exit(f"{sys.argv[1]}: expected compute ops, found none")
    found = differences(rules, cells)
    print("\n".join(found + [f"{len(rules)} ops, {len(found)} differences"]))
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
