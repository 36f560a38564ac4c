# SPDX-License-Identifier: BSD-3-Clause
"""Writes the documents as they are installed, in one folder: installed_docs.py FOLDER DOCUMENT.md...

Links to other documents of the list stay, without folders, and so do links to conf/fleet, which is installed beside
them. Links to manual pages become "name(1)", and links to other files of the sources become text, because these files
are not installed.
"""
import pathlib
import re
import sys

LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)#\s]*)(#[^)\s]*)?\)")
MANUAL = re.compile(r"([\w.-]+)\.(\d)\.scd$")


def linked(match, names):
    picture, text, path, anchor = match[1], match[2], match[3], match[4] or ""
    name = pathlib.PurePosixPath(path).name
    manual = MANUAL.match(name)
    if not path or "://" in path:
        return match[0]
    if name in names:
        return f"{picture}[{text}]({name}{anchor})"
    if path.startswith("../conf/fleet"):
        return f"[{text}]({path.removeprefix('../conf/')})"
    if manual:
        return f"{manual[1]}({manual[2]})"
    where = path.removeprefix("../")
    return text if where in text or name in text else f"{text} ({where} of the sources)"


def main():
    folder, documents = pathlib.Path(sys.argv[1]), [pathlib.Path(name) for name in sys.argv[2:]]
    names = {document.name for document in documents}
    for document in documents:
        if document.suffix == ".md":
            text = LINK.sub(lambda match: linked(match, names), document.read_text(encoding="utf-8"))
            (folder / document.name).write_text(text, encoding="utf-8")
        else:
            (folder / document.name).write_bytes(document.read_bytes())


if __name__ == "__main__":
    main()
