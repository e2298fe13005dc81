"""Checks that documents and sources point at what is there.

In documents (*.md), a link to a file or to a heading. In sources and descriptions of machines, a citation
`docs/NAME.md`, and of its headings where it goes on `, Heading, Heading`: names that start with a capital,
up to a word that does not.

usage: links.py SOURCE_DIR"""

import os
import re
import sys

LINK = re.compile(r"\]\(([^)\s]+)\)")
# Prose of code may break a citation by a new line of a comment.
COMMENT_BREAK = re.compile(r"\n\s*(?:///|//|#)\s*")
CITATION = re.compile(r"docs/[\w/-]+\.md((?:, [A-Z][\w -]*)*)")
ROOTS = ("cmake", "dialects", "docs", "include", "lib", "models", "test", "tools")
SOURCES = (".h", ".cpp", ".td", ".mlir", ".cmake", ".py", ".txt", ".in")


def headings_of(text):
    return re.findall(r"^#+ (.*)$", re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL), re.MULTILINE)


def anchor_of(heading):
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def dead_links(text, folder, read):
    """The links of a document in `folder` that lead nowhere. `read(path)` is a file's text, None if there is none."""
    dead = []
    for target in LINK.findall(text):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        found = read(os.path.normpath(os.path.join(folder, path))) if path else text
        if found is None or (anchor and anchor not in map(anchor_of, headings_of(found))):
            dead.append(target)
    return dead


def dead_citations(text, read):
    """The citations of documents in a source that lead nowhere."""
    dead = []
    for match in CITATION.finditer(COMMENT_BREAK.sub(" ", text)):
        path = match.group(0).split(",")[0]
        found = read(path)
        named = [name.strip() for name in match.group(1).split(", ")[1:]]
        if found is None or any(name not in headings_of(found) for name in named):
            dead.append(match.group(0))
    return dead


def main():
    root = sys.argv[1]
    files = sorted(
        os.path.relpath(os.path.join(folder, name), root)
        for place in ROOTS
        for folder, _, names in os.walk(os.path.join(root, place))
        for name in names
    ) + [name for name in os.listdir(root) if name.endswith(".md")]
    texts = {}

    def read(path):
        if path not in texts:
            full = os.path.join(root, path)
            texts[path] = None
            if os.path.isdir(full):
                texts[path] = ""
            elif os.path.isfile(full):
                with open(full, encoding="utf-8") as file:
                    texts[path] = file.read()
        return texts[path]

    checked = failures = 0
    for path in files:
        if path.endswith(".md") and not path.startswith("test/"):
            dead = dead_links(read(path) or "", os.path.dirname(path), read)
        elif path.endswith(SOURCES) and not path.startswith("test/Docs/"):
            dead = dead_citations(read(path) or "", read)
        else:
            continue
        checked += 1
        for target in dead:
            failures += 1
            print(f"{path}: expected a file and heading of this name, found none: {target}")
    print(f"{checked} files, {failures} dead references")
    sys.exit(1 if failures or not checked else 0)


if __name__ == "__main__":
    main()
