# SPDX-License-Identifier: BSD-3-Clause
"""scripts/python-recipes: renders a document with code as an HTML page with outputs and pictures."""
import argparse
import pathlib
import sys

import document
import html_page


def options():
    parser = argparse.ArgumentParser(prog="scripts/python-recipes", description=__doc__.partition(": ")[2])
    parser.add_argument("documents", nargs="+", type=pathlib.Path, metavar="DOCUMENT.md")
    parser.add_argument("-o", "--output", type=pathlib.Path, help="write the page to this file (required, or --update)")
    parser.add_argument("--update", action="store_true", help="write outputs that differ into the documents")
    return parser.parse_args()


def update(path, sections):
    """Writes the outputs of a run into the document."""
    text = path.read_text(encoding="utf-8")
    blocks = [block for section in sections for block in section.blocks if block.span]
    for block in sorted(blocks, key=lambda block: block.span, reverse=True):
        if document.difference(block):
            first, last = block.span
            text = text[:first] + block.output + text[last:]
    path.write_text(text, encoding="utf-8")


def main():
    given = options()
    sections, failed = [], False
    for path in given.documents:
        path = path.resolve()
        found = document.parse(path.read_text(encoding="utf-8"))
        for section in found:
            wrong = document.run_section(section, path)
            if wrong and not given.update:
                failed = True
                for line, text in wrong:
                    print(f"{path.name}:{line}: {text}", file=sys.stderr)
        if given.update:
            update(path, found)
        sections += found
    if given.output:
        given.output.write_text(html_page.render(sections), encoding="utf-8")
        print(given.output)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
