# SPDX-License-Identifier: BSD-3-Clause
"""Sections of a document as an HTML page in one file."""
import html
import io
import keyword
import re
import tokenize

STYLE = """
:root { color-scheme: light dark; --edge: #8884; --back: #8881; --quiet: #777; --blue: #0550ae; --green: #0a6640; }
@media (prefers-color-scheme: dark) { :root { --quiet: #999; --blue: #79b8ff; --green: #7bd88f; } }
body { font: 16px/1.55 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
h2 { margin-top: 3rem; border-bottom: 1px solid var(--edge); } h3 { margin-top: 2.5rem; }
pre, code { font: 14px/1.45 ui-monospace, "DejaVu Sans Mono", monospace; }
code { background: var(--back); border-radius: 3px; padding: 0 .2em; } pre code { background: none; padding: 0; }
pre { margin: 0; padding: .6rem .8rem; overflow-x: auto; }
.code, .plain { background: var(--back); border: 1px solid var(--edge); border-radius: 4px; margin-top: 1rem; }
.code { border-left: 4px solid var(--blue); }
.output { border-left: 4px solid var(--edge); margin: .3rem 0 1rem; }
.picture { margin: .5rem 0 1.5rem; overflow-x: auto; background: #fff; border-radius: 4px; }
.picture svg { max-width: 100%; height: auto; display: block; }
.file { color: var(--quiet); font-size: 13px; padding: .3rem .8rem 0; }
table { border-collapse: collapse; margin: 1rem 0; } th, td { border: 1px solid var(--edge); padding: .3rem .6rem; text-align: left; }
.keyword { color: var(--blue); } .string { color: var(--green); } .comment { color: var(--quiet); font-style: italic; }
"""


def anchor(title):
    return re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-")


def inline(text):
    """Returns a line of Markdown as HTML: code, bold text, links."""
    parts = re.split(r"(`[^`]+`)", text)
    for i, part in enumerate(parts):
        if i % 2:
            parts[i] = f"<code>{html.escape(part[1:-1])}</code>"
        else:
            parts[i] = re.sub(r"\*\*(.+?)\*\*", r"<b>\1</b>", html.escape(part, quote=False))
    # Links are converted last, because their text may contain code.
    return re.sub(r"\[((?:[^\[\]]|\[[^\]]*\])*?)\]\(([^)\s]+)\)", r'<a href="\2">\1</a>', "".join(parts))


def table(lines):
    rows = [[inline(cell.strip()) for cell in line.strip().strip("|").split("|")] for line in lines]
    head = "".join(f"<th>{cell}</th>" for cell in rows[0])
    body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>\n" for row in rows[2:])
    return f"<table><tr>{head}</tr>\n{body}</table>\n"


def items(lines):
    """Returns a list; lines that are indented continue an item."""
    found = []
    for line in lines:
        if line.startswith("- "):
            found.append(line[2:])
        else:
            found[-1] += " " + line.strip()
    return "<ul>" + "".join(f"<li>{inline(item)}</li>\n" for item in found) + "</ul>\n"


def prose(text):
    """Returns paragraphs, lists, tables and indented code as HTML."""
    out = []
    for part in re.split(r"\n\s*\n", text.strip("\n")):
        lines = part.split("\n")
        if lines[0].startswith("    "):
            code = "\n".join(line[4:] for line in lines)
            out.append(f'<div class="plain"><pre>{html.escape(code)}</pre></div>\n')
        elif lines[0].startswith("|"):
            out.append(table(lines))
        elif any(line.startswith("- ") for line in lines):
            first = next(i for i, line in enumerate(lines) if line.startswith("- "))
            out.append((f"<p>{inline(' '.join(lines[:first]))}</p>\n" if first else "") + items(lines[first:]))
        elif part.strip():
            out.append(f"<p>{inline(' '.join(lines))}</p>\n")
    return "".join(out)


def token_class(token):
    if token.type == tokenize.COMMENT:
        return "comment"
    if token.type == tokenize.STRING:
        return "string"
    return "keyword" if token.type == tokenize.NAME and keyword.iskeyword(token.string) else None


def coloured(code):
    """Returns Python code as HTML."""
    lines, out, row, column = code.splitlines(keepends=True), [], 1, 0

    def copy(end):
        nonlocal row, column
        while row < end[0]:
            out.append(html.escape(lines[row - 1][column:]))
            row, column = row + 1, 0
        if row <= len(lines):
            out.append(html.escape(lines[row - 1][column:end[1]]))
        column = end[1]

    for token in tokenize.generate_tokens(io.StringIO(code).readline):
        kind = token_class(token)
        if kind:
            copy(token.start)
            out.append(f'<span class="{kind}">')
            copy(token.end)
            out.append("</span>")
    copy((len(lines) + 1, 0))
    return "".join(out)


def code_block(block):
    title = f'<div class="file">{html.escape(block.name)}</div>' if block.name else ""
    out = f'<div class="code">{title}<pre>{coloured(block.text)}</pre></div>\n'
    if block.output:
        out += f'<div class="output"><pre>{html.escape(block.output)}</pre></div>\n'
    if block.picture:
        out += f'<div class="picture">{block.picture[block.picture.index("<svg"):]}</div>\n'
    return out


def render(sections):
    """Returns the page of sections whose code has already run."""
    body = []
    for section in sections:
        if section.level:
            tag = f"h{section.level}"
            body.append(f'<{tag} id="{anchor(section.title)}">{inline(section.title)}</{tag}>\n')
        for block in section.blocks:
            if block.kind == "text":
                body.append(prose(block.text))
            elif block.kind == "python":
                body.append(code_block(block))
            else:
                text = block.output if block.kind == "console" else block.text
                body.append(f'<div class="plain"><pre>{html.escape(text)}</pre></div>\n')
    title = next((section.title for section in sections if section.level == 1), "Recipes")
    return (f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{html.escape(title)}</title>\n'
            f'<meta name="viewport" content="width=device-width"><style>{STYLE}</style></head>\n'
            f'<body>\n{"".join(body)}</body></html>\n')
