# SPDX-License-Identifier: BSD-3-Clause
"""Splits C into tokens and statements, as far as mutants need it.

The sources are formatted by clang-format: binary operators have a space on both sides, unary ones do not.
"""
import dataclasses
import re

TOKEN = re.compile(r"""
    (?P<space>\s+|/\*.*?\*/|//[^\n]*)
  | (?P<directive>^[ \t]*\#(?:[^\n\\]|\\.)*)
  | (?P<string>"(?:[^"\\\n]|\\.)*")
  | (?P<char>'(?:[^'\\\n]|\\.)*')
  | (?P<number>(?:0[xX][0-9a-fA-F]+|\d+(?:\.\d+)?)[uUlL]*)
  | (?P<word>[A-Za-z_]\w*)
  | (?P<sign><<=|>>=|\.\.\.|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|.)
""", re.X | re.S | re.M)
TYPES = {"const", "static", "struct", "enum", "union", "unsigned", "signed", "int", "char", "bool", "long", "short",
         "float", "double", "void", "volatile", "_Static_assert"}


@dataclasses.dataclass
class Token:
    kind: str
    text: str
    start: int
    end: int
    spaced: bool = False  # a space on both sides
    function: str = ""    # the function that it is in


@dataclasses.dataclass
class Statement:
    """Tokens first to last, with the semicolon. kind: return, jump, expression or declaration."""
    kind: str
    first: int
    last: int
    ends_function: bool = False


def tokens_of(text):
    """Returns the tokens without spaces, comments and preprocessor directives."""
    tokens = []
    for match in TOKEN.finditer(text):
        if match.lastgroup in ("space", "directive"):
            continue
        around = text[match.start() - 1:match.start()] + text[match.end():match.end() + 1]
        tokens.append(Token(match.lastgroup, match.group(), match.start(), match.end(),
                            len(around) == 2 and around.isspace()))
    return tokens


def closing(tokens, at):
    """Returns the index of the bracket that closes the one at index `at`."""
    depth = 0
    for i in range(at, len(tokens)):
        if tokens[i].kind == "sign":
            depth += (tokens[i].text in "([{") - (tokens[i].text in ")]}")
        if depth == 0:
            return i
    raise ValueError(f"no bracket closes the one at offset {tokens[at].start}")


def bodies(tokens):
    """Yields (name, index of the opening brace, index of the closing brace) of each function."""
    name, i = "", 0
    while i < len(tokens):
        token = tokens[i]
        if token.text == "(":
            if tokens[i - 1].kind == "word":
                name = tokens[i - 1].text
            i = closing(tokens, i)
        elif token.text == "{":
            end = closing(tokens, i)
            if tokens[i - 1].text == ")":
                yield name, i, end
            i = end
        i += 1


class Parser:
    """Finds the statements of a function's body, and the parentheses of its conditions."""

    def __init__(self, tokens, begin, end):
        self.tokens, self.statements, self.conditions = tokens, [], []
        self._block(begin, end)
        if self.statements and self.statements[-1].last == end - 1:
            self.statements[-1].ends_function = True

    def _text(self, at):
        return self.tokens[at].text

    def _block(self, begin, end):
        at = begin + 1
        while at < end:
            at = self._statement(at)

    def _statement(self, at):
        """Parses the statement that begins at index `at`. Returns the index after it."""
        text = self._text(at)
        if text == "{":
            end = closing(self.tokens, at)
            self._block(at, end)
            return end + 1
        if text in ("if", "while", "for", "switch"):
            end = closing(self.tokens, at + 1)
            if text in ("if", "while"):
                self.conditions.append((at + 1, end))
            at = self._statement(end + 1)
            if text == "if" and self._text(at) == "else":
                at = self._statement(at + 1)
            return at
        if text == "do":
            at = self._statement(at + 1)
            end = closing(self.tokens, at + 1)  # "while" and its condition
            self.conditions.append((at + 1, end))
            return end + 2
        if text in ("case", "default") or self._text(at + 1) == ":":
            while self._text(at) != ":":
                at += 1
            return at + 1
        if self._text(at + 1) == "for":  # a macro that asks to unroll the loop
            return self._statement(at + 1)
        return self._simple(at)

    def _simple(self, at):
        first = at
        while self._text(at) != ";":
            at = closing(self.tokens, at) + 1 if self._text(at) in ("(", "[", "{") else at + 1
        self.statements.append(Statement(self._kind(first), first, at))
        return at + 1

    def _kind(self, at):
        token, after = self.tokens[at], self.tokens[at + 1]
        if token.text == ";":
            return "empty"
        if token.text in ("return",):
            return "return"
        if token.text in ("break", "continue", "goto"):
            return "jump"
        if token.text in TYPES or (token.kind == "word" and (after.kind == "word" or
                                                             (after.text == "*" and not after.spaced))):
            return "declaration"
        return "expression"


def parse(text):
    """Returns (tokens, list of Parser, one for each function). Names the function of each token."""
    tokens, parsed = tokens_of(text), []
    for name, begin, end in bodies(tokens):
        for token in tokens[begin:end + 1]:
            token.function = name
        parsed.append(Parser(tokens, begin, end))
    return tokens, parsed
