# SPDX-License-Identifier: BSD-3-Clause
"""Runs a recipe and prints it: show.py DOCUMENT.md TITLE PICTURE.svg writes its last picture too."""
import pathlib
import sys

import document


def main():
    path, title, picture = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2], pathlib.Path(sys.argv[3]).resolve()
    section = next(each for each in document.parse(path.read_text(encoding="utf-8")) if each.title == title)
    wrong = document.run_section(section, path)
    for block in section.blocks:
        if block.kind == "python":
            print("".join(f"    {line}".rstrip() + "\n" for line in block.text.splitlines()))
        shown = block.output.rstrip() if block.kind == "python" else block.text.strip()
        if shown:
            print(shown, end="\n\n")
        if block.picture:
            picture.write_text(block.picture, encoding="utf-8")
    for line, text in wrong:
        print(f"{path.name}:{line}: {text}", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
