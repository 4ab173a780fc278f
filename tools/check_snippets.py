#!/usr/bin/env python3
"""Is every C++ and CMake block of the documents a region of a file that tests compile and run?

    tools/check_snippets.py            exit status: 0 yes, 1 no, with a line for each block without region

A region is what stands between two lines `// [name]` (Fortran: `! [name]`) of an example or of a test below tests/docs, or between
two lines `# [name]` of a project that tests/consumer configures; several pieces of one name in a file are one
region. A block (```c, ```cpp, ```cuda, ```fortran, ```cmake ...) of README.md, CONTRIBUTING.md or docs/*.md is the text of a
region, but for white space and comments. The blocks of docs/tutorial.md, one after the other, are the files of its
example.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DOCUMENTS = ("README.md", "CONTRIBUTING.md", "docs/*.md")
SOURCES = ("examples/*/*", "tests/docs/*", "tests/consumer/*/CMakeLists.txt")
WHOLE = {"docs/tutorial.md": ("examples/06_in_your_starpu_program",
                              ("screened.hpp", "CMakeLists.txt", "Makefile", "main.cpp"))}
LANGUAGES = ("c", "cpp", "c++", "cc", "cxx", "cuda", "cu", "cmake", "fortran")
MARKER = re.compile(r"^\s*(?://|#|!) \[([\w/]+)\]$")
FENCE = re.compile(r"^\s*(```+|~~~+)\s*([\w+]*)")


def essence(lines):
    """What the compiler sees, without white space"""
    text = re.sub(r"(?<!:)//[^\n]*|/\*.*?\*/", "", "\n".join(lines), flags=re.DOTALL)
    return re.sub(r"\s", "", text)


def blocks(path, languages=LANGUAGES):
    """[(line number, lines)] of the blocks of a document in these languages"""
    found, inside, language, lines = [], None, "", []
    for number, line in enumerate(path.read_text().split("\n"), 1):
        fence = FENCE.match(line)
        if inside is None and fence:
            inside, language, lines, begin = fence[1], fence[2].lower(), [], number
        elif inside is not None and line.strip() == inside:
            if language in languages:
                found.append((begin, lines))
            inside = None
        elif inside is not None:
            lines.append(line)
    if inside is not None:
        found.append((begin, ["a block without an end"]))
    return found


def regions(path):
    """{name: lines} of a source"""
    found, inside = {}, None
    for number, line in enumerate(path.read_text().split("\n"), 1):
        marker = MARKER.match(line)
        if marker and inside is None:
            inside = marker[1]
            found.setdefault(inside, [])
        elif marker and marker[1] == inside:
            inside = None
        elif marker:
            sys.exit(f"{path.relative_to(ROOT)}:{number}: [{marker[1]}] begins inside [{inside}]")
        elif inside is not None:
            found[inside].append(line)
    if inside is not None:
        sys.exit(f"{path.relative_to(ROOT)}: [{inside}] has no end")
    return found


def is_built(path):
    """Whether the CMakeLists.txt of its folder, or of the one above, names the file or its folder; of a project
    of tests/consumer, whether one of the scripts there does"""
    if path.name == "CMakeLists.txt":
        scripts = path.parent.parent.glob("*.cmake"), [path.parent.parent / "CMakeLists.txt"]
        return any(f"/{path.parent.name}" in script.read_text() for found in scripts for script in found)
    for folder, name in ((path.parent, path.name), (path.parent.parent, path.parent.name)):
        lists = folder / "CMakeLists.txt"
        if lists.exists() and re.search(rf"(?<![\w/]){re.escape(name)}(?!\w)", lists.read_text()):
            return True
    return False


def main():
    good, texts, used = True, {}, set()
    for pattern in SOURCES:
        for path in sorted(ROOT.glob(pattern)):
            if path.suffix not in (".c", ".cpp", ".cu", ".f90", ".hpp", ".cuh") and path.name != "CMakeLists.txt":
                continue
            for name, lines in regions(path).items():
                where = f"{path.relative_to(ROOT)} [{name}]"
                if not is_built(path):
                    print(f"{where}: no CMakeLists.txt names this file")
                    good = False
                texts.setdefault(essence(lines), where)
    n_blocks = 0
    for pattern in DOCUMENTS:
        for path in sorted(ROOT.glob(pattern)):
            for number, lines in blocks(path):
                n_blocks += 1
                text = essence(lines)
                if text and text in texts:
                    used.add(text)
                else:
                    print(f"{path.relative_to(ROOT)}:{number}: this block is no region of a tested file")
                    good = False
    for document, (folder, files) in WHOLE.items():
        shown = [line for _, lines in blocks(ROOT / document, LANGUAGES + ("make",)) for line in lines]
        there = [line for file in files for line in (ROOT / folder / file).read_text().split("\n")
                 if not MARKER.match(line)]
        if essence(shown) != essence(there):
            print(f"{document}: its blocks, one after the other, are not {', '.join(files)} of {folder}")
            good = False
    for text in texts.keys() - used:
        print(f"{texts[text]}: no document has this region")
        good = False
    print(f"{n_blocks} blocks, {len(texts)} regions")
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
