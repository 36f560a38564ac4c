# SPDX-License-Identifier: BSD-3-Clause
"""The rules: what a command may do if one call fails."""
import errno
import os
import re

SOFT = ("EINTR", "short")  # a program survives these
# Calls that may fail unnoticed: nothing that the driver compares shows whether they had an effect.
UNSEEN = ("fsync", "fdatasync", "msync", "close", "fclose", "fflush", "fchmod", "lchown", "unlink", "unlinkat",
          "rmdir", "flock", "setsockopt")
EMPTY_REASON = re.compile(r"Success|\(null\)|Unknown error|: *$|: error 0\b", re.M)


def reason_words(kind, error):
    """Returns words, one of which the error message must contain."""
    if kind == "alloc":
        return ["memory"]
    return [os.strerror(error).lower()] + {errno.ENOMEM: ["memory"], errno.EMFILE: ["too many open files"],
                                           errno.ECONNRESET: ["connection"], errno.EAGAIN: ["resource", "busy"]}.get(error, [])


def broken_files(scene, before, after, found):
    """Returns the files that are neither as before the command nor as after a successful run."""
    wrong = []
    for name in sorted(before.keys() | after.keys() | found.keys()):
        absent = object()
        now = found.get(name, absent)
        allowed = [before.get(name, absent), after.get(name, absent)]
        if any(now is one or now == one for one in allowed):
            continue
        if isinstance(now, bytes) and name in after:
            text = scene.plain(now.decode(errors="replace"))
            if text == scene.plain(after[name].decode(errors="replace")) or scene.is_loose(name):
                continue
        if scene.is_evidence(name):
            continue
        what = "is gone" if now is absent else "is left" if name not in after else "is half written"
        wrong.append(f"{name} {what}")
    return wrong


def messages(scene, kind, outcome, good):
    """Returns what is wrong with the message of a refusal."""
    name = os.path.basename(scene.program)
    said = outcome.err + outcome.out
    wrong = []
    lines = [line for line in outcome.err.splitlines() if line not in good.err.splitlines()]
    reported = scene.reports and outcome.out != good.out
    if not reported and not any(re.match(re.escape(name) + r": .{8,}", line) for line in lines):
        wrong.append("no message on standard error")
    if EMPTY_REASON.search("\n".join(lines)):
        wrong.append("a message without a reason")
    if wrong or outcome.report.error <= 0:
        return wrong
    if not any(word in said.lower() for word in reason_words(kind, outcome.report.error)):
        wrong.append(f"the message does not give the reason ({os.strerror(outcome.report.error)})")
    return wrong


def same_result(scene, outcome, good):
    wrong = []
    if scene.plain(outcome.out) != scene.plain(good.out):
        wrong.append("other output")
    if outcome.err != good.err and scene.plain(outcome.err) != scene.plain(good.err):
        wrong.append("success, with a message on standard error")
    for name in good.files:
        if name not in outcome.files:
            wrong.append(f"{name} is missing")
    return wrong


def defects(scene, kind, outcome, good, before):
    """Returns the defects of a run as a list of texts."""
    if outcome.code is None:
        return ["hangs"]
    if outcome.code < 0:
        return [f"ended by signal {-outcome.code}"]
    for word in ("Sanitizer", "runtime error:"):
        if word in outcome.err:
            line = next(line for line in outcome.err.splitlines() if word in line)
            return [re.sub(r"==\d+==", "", line)]
    wrong = list(outcome.left)
    wrong += broken_files(scene, before, good.files, outcome.files)
    extra = {re.sub(r"\d+", "#", name) for name in outcome.report.open} - \
        {re.sub(r"\d+", "#", name) for name in good.report.open}
    if outcome.report.ended and extra:
        wrong.append(f"open at exit: {', '.join(sorted(extra))}")
    unchanged = outcome.code == good.code and scene.plain(outcome.out) == scene.plain(good.out)
    if kind in SOFT:
        if not unchanged:
            wrong.append(f"does not survive: exit code {outcome.code}")
        wrong += same_result(scene, outcome, good) if unchanged else []
    elif outcome.code == good.code and (good.code == 0 or unchanged):
        wrong += same_result(scene, outcome, good)
        if outcome.report.name in UNSEEN:
            wrong.append(f"ignores the error of {outcome.report.name}()")
    else:
        if outcome.code not in (1, 2, 3, 4):
            wrong.append(f"undocumented exit code {outcome.code}")
        wrong += messages(scene, kind, outcome, good)
    return wrong
