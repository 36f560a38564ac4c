# SPDX-License-Identifier: BSD-3-Clause
"""A document with code that runs: parses a Markdown file, runs its code, compares the shown outputs.

    ```python              runs; the names of earlier blocks of the section (##, ###) are there
    ```python NAME.py      is written as a file instead
    ```console             lines that begin with "$ " are commands for sh; the others are their output
    ```output              what the block before prints, and the value of its last expression, as in a notebook

"..." in an output stands for any text. Each section runs in a separate folder, which is removed.
"""
import ast
import contextlib
import doctest
import io
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import traceback

FENCE = re.compile(r"^```(\w*)[ ]*(\S*)\n(.*?)^```\n", re.M | re.S)
HEADING = re.compile(r"^(#{1,3}) (.*)\n", re.M)


class Block:
    """A part of a section: text, or code with its output."""

    def __init__(self, kind, text, line, name=""):
        self.kind, self.text, self.line, self.name = kind, text, line, name
        self.expected = None  # output that the document shows, or None
        self.output = ""
        self.span = None  # of this output in the text of the document
        self.picture = None  # text of an SVG file


class Section:
    def __init__(self, level, title, line):
        self.level, self.title, self.line = level, title, line
        self.blocks = []

    def has_code(self):
        return any(block.kind in ("python", "console") for block in self.blocks)


def parse(text):
    """Returns the sections of a document."""
    sections, at = [Section(0, "", 1)], 0

    def line():
        return text.count("\n", 0, at) + 1

    def add_prose(end):
        nonlocal at
        while at < end:
            heading = HEADING.search(text, at, end)
            stop = heading.start() if heading else end
            if text[at:stop].strip():
                sections[-1].blocks.append(Block("text", text[at:stop], line()))
            at = stop
            if heading:
                sections.append(Section(len(heading[1]), heading[2], line()))
                at = heading.end()

    for fence in FENCE.finditer(text):
        add_prose(fence.start())
        kind, name, code = fence.groups()
        blocks = sections[-1].blocks
        if kind == "output":
            blocks[-1].expected, blocks[-1].span = code, fence.span(3)
        else:
            blocks.append(Block(kind or "plain", code, line() + 1, name))
            if kind == "console":
                blocks[-1].span = fence.span(3)
        at = fence.end()
    add_prose(len(text))
    return sections


class Runner:
    """Runs the code of one section."""

    def __init__(self, path):
        self.path = path
        self.names = {"__name__": "__main__"}

    def _evaluate(self, block):
        """Runs statements. The value of an expression at the end is shown, like in a notebook."""
        module = ast.parse("\n" * (block.line - 1) + block.text, self.path)
        last = module.body.pop() if module.body and isinstance(module.body[-1], ast.Expr) else None
        exec(compile(module, self.path, "exec"), self.names)
        if last is None:
            return
        value = eval(compile(ast.Expression(last.value), self.path, "eval"), self.names)
        if hasattr(value, "_repr_svg_"):
            block.picture = value._repr_svg_()
        elif value is not None:
            print(repr(value))

    def _python(self, block):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            try:
                self._evaluate(block)
            except Exception as error:  # an output may show it
                print(traceback.format_exception_only(error)[-1], end="")
                block.error = traceback.format_exc()
        block.output = out.getvalue()

    def _console(self, block):
        """Runs the commands together, so that variables and folders stay, and echoes them."""
        commands = [line[2:] for line in block.text.splitlines() if line.startswith("$ ")]
        script = "".join(f"printf '%s\\n' {quoted('$ ' + command)}\n{command}\n" for command in commands)
        # An installed package brings the plugin; the package of a build tree does not.
        path = f"{os.path.dirname(sys.executable)}:{os.environ['PATH']}"  # this "python3"
        env = {**os.environ, "PATH": path, "PYTEST_ADDOPTS": "-p mli.pytest_plugin -p no:cacheprovider", "COLUMNS": "80",
               "PYTHONDONTWRITEBYTECODE": "1"}
        done = subprocess.run(["sh", "-c", script], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              check=False, env=env)
        block.expected, block.output = block.text, done.stdout

    def run(self, block):
        if block.kind == "python" and block.name:
            pathlib.Path(block.name).write_text(block.text)
        elif block.kind == "python":
            self._python(block)
        elif block.kind == "console":
            self._console(block)


def quoted(text):
    return "'" + text.replace("'", "'\\''") + "'"


def difference(block):
    """Returns how the output of a block differs from what the document shows, or an empty text."""
    lines = [line.rstrip() for line in block.output.splitlines()]
    shown = [line.rstrip() for line in (block.expected or "").splitlines()]
    got, want = ("\n".join(text) + "\n" if text else "" for text in (lines, shown))
    checker = doctest.OutputChecker()
    if checker.check_output(want, got, doctest.ELLIPSIS):
        return ""
    return f"shown:\n{want}\nprinted:\n{got}\n{getattr(block, 'error', '')}"


def run_section(section, path):
    """Runs the code of a section in a temporary folder. Returns [(line, difference)] of outputs that differ."""
    runner, wrong, before = Runner(str(path)), [], os.getcwd()
    with tempfile.TemporaryDirectory(prefix="mli-recipe-") as folder:
        os.chdir(folder)
        sys.path.insert(0, folder)
        try:
            for block in section.blocks:
                runner.run(block)
                if block.kind in ("python", "console") and not block.name:
                    text = difference(block)
                    if text:
                        wrong.append((block.line, text))
        finally:
            sys.path.remove(folder)
            os.chdir(before)
    return wrong
