# SPDX-License-Identifier: BSD-3-Clause
"""Makes the mutants of a source: copies with one small change each.

    comparisons  < <= > >= == !=        the neighbour and the opposite
    arithmetic   + - * / % << >> & |    the opposite, also += -= ++ --
    logic        && || !
    conditions   if (C) and while (C)   negated; C ? a : b always a, always b
    constants    0 1 true false         the other; any other number plus 1
    statements   calls, assignments, jumps, and returns before the end of the function: removed
    members      .name = value of an initialiser: removed
"""
import dataclasses
import re

import c_tokens

SIGNS = {
    "<": ["<=", ">="], "<=": ["<", ">"], ">": [">=", "<="], ">=": [">", "<"], "==": ["!="], "!=": ["=="],
    "+": ["-"], "-": ["+"], "*": ["+"], "/": ["*"], "%": ["/"], "<<": [">>"], ">>": ["<<"], "&": ["|"], "|": ["&"],
    "&&": ["||"], "||": ["&&"],
    "+=": ["-="], "-=": ["+="], "*=": ["+="], "/=": ["*="], "|=": ["&="], "&=": ["|="], "<<=": [">>="], ">>=": ["<<="],
}
STEPS = {"++": "--", "--": "++"}
NAMES = {"<": "lt", "<=": "le", ">": "gt", ">=": "ge", "==": "eq", "!=": "ne", "+": "plus", "-": "minus", "*": "mul",
         "/": "div", "%": "mod", "<<": "shl", ">>": "shr", "&": "bitand", "|": "bitor", "&&": "and", "||": "or",
         "++": "inc", "--": "dec"}


@dataclasses.dataclass
class Mutant:
    source: str       # path from the root
    function: str
    line: int
    column: int
    change: str       # name of the change
    text: str         # the whole mutated source
    removed: str = ""  # the changed lines, before and after, with single spaces
    added: str = ""
    count: int = 1    # this is the n-th mutant of the function with these lines

    @property
    def name(self):
        return f"{self.source}:{self.line}:{self.column}:{self.change}"


def _name_of(sign):
    return NAMES[sign] if sign in NAMES else NAMES[sign[:-1]] + "-assign"


def _number(text):
    """Returns (name, text) of the constant that replaces a number."""
    digits = re.match(r"0[xX][0-9a-fA-F]+|\d+", text).group()
    value = int(digits, 0)
    other = {0: 1, 1: 0}.get(value, value + 1)
    return str(other), str(other) + text[len(digits):]


def _of_token(token, before):
    """Yields (name, replacement) for a token."""
    text = token.text
    if token.kind == "number" and re.fullmatch(r"(0[xX][0-9a-fA-F]+|\d+)[uUlL]*", text):
        yield _number(text)
    elif text in ("true", "false"):
        other = "false" if text == "true" else "true"
        yield other, other
    elif text in SIGNS and token.spaced:
        for sign in SIGNS[text]:
            yield _name_of(sign), sign
    elif text in STEPS:
        yield NAMES[STEPS[text]], STEPS[text]
    elif text == "!":
        yield "not-removed", ""
    elif text == "-" and before.text in ("return", "=", "(", ","):
        yield "minus-removed", ""
    elif text == "?":
        yield "always", "|| 1 ?"
        yield "never", "&& 0 ?"


def _edits(text):
    """Yields (first offset, end offset, replacement, name of the change, function)."""
    tokens, functions = c_tokens.parse(text)
    for i, token in enumerate(tokens):
        for name, replacement in _of_token(token, tokens[i - 1]):
            yield token.start, token.end, replacement, name, token.function
    yield from _members(text, tokens)
    for function in functions:
        for begin, end in function.conditions:
            first, last = tokens[begin], tokens[end]
            inner = text[first.end:last.start]
            yield first.end, last.start, f"!({inner})", "negated", first.function
        for statement in function.statements:
            removable = statement.kind in ("expression", "jump") or \
                (statement.kind == "return" and not statement.ends_function)
            if removable:
                first, last = tokens[statement.first], tokens[statement.last]
                yield first.start, last.start, "\n" * text[first.start:last.start].count("\n"), "removed", first.function


def _members(text, tokens):
    """Yields the removals of members of initialisers, with their commas."""
    for i, token in enumerate(tokens[:-2]):
        if token.text != "." or tokens[i - 1].text not in "{," or tokens[i + 2].text != "=" or not token.function:
            continue
        end = i
        while tokens[end].text not in ("}", ","):
            end = c_tokens.closing(tokens, end) + 1 if tokens[end].text in ("(", "[", "{") else end + 1
        stop = tokens[end].end if tokens[end].text == "," else tokens[end].start
        yield token.start, stop, "\n" * text[token.start:stop].count("\n"), "removed", token.function


def _squeeze(text):
    return " ".join(text.split())


def _mutant(source, text, start, end, replacement, change, function):
    begin_line = text.rfind("\n", 0, start) + 1
    end_line = text.find("\n", end)
    return Mutant(source, function or "(file)", text.count("\n", 0, start) + 1, start - begin_line + 1, change,
                  text[:start] + replacement + text[end:], _squeeze(text[begin_line:end_line]),
                  _squeeze(text[begin_line:start] + replacement + text[end:end_line]))


def of(source, text):
    """Returns the mutants of a source, in the order of its lines."""
    mutants = sorted((_mutant(source, text, *edit) for edit in _edits(text)),
                     key=lambda mutant: (mutant.line, mutant.column, mutant.change))
    seen = {}
    for mutant in mutants:
        lines = (mutant.function, mutant.removed, mutant.added)
        mutant.count = seen[lines] = seen.get(lines, 0) + 1
    return mutants
