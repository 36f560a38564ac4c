#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Plants defects, one at a time, and asks mlid-sim to find them.

usage: tests/sim/defects.py [--check] [--only NAME]... [--seconds T]

Each entry of DEFECTS undoes a fix from this project's history, or removes a line that the service needs: (name, file,
text, its replacement). The script copies the sources to build-sim/, plants one defect, builds mlid-sim, and runs seeds
from 1 on until a run fails. Each line of the output has the name, the seed and the step, and what mlid-sim reported.

A search without a defect must find nothing; it comes first, for the same time.

  --check      only check that each text occurs exactly once in its file
  --only NAME  plant only this defect
  --seconds T  search for each defect for at most T seconds of processor time (default 90)

Exit status: 0 all defects were found, 1 one was not, 2 wrong arguments or no build.
"""
import argparse
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
COPY = ROOT / "build-sim"

DEFECTS = [
    ("wakeup-lost", "daemon/job/completions.c",
     "    if (!seen)\n        uv_async_send", "    if (!latest && !seen && false)\n        uv_async_send"),
    ("cancelled-not-counted", "daemon/job/task.c",
     "        jobs->totals.cancelled++;\n", "        ;\n"),
    ("places-not-left", "daemon/job/task.c",
     "    scheduler_remove(&task->jobs->scheduler, &task->queued);\n", ""),
    ("prepared-not-released", "daemon/net/client.c",
     "        return prepared_release_last(&client->session) ||\n"
     "               buffer_release_last", "        return buffer_release_last"),
    ("buffers-not-released", "daemon/net/client.c",
     " ||\n               buffer_release_last(&client->session.buffers);", ";"),
    ("short-send", "daemon/net/outbox.c",
     "    first->begin += sent;\n", "    first->begin = first->end;\n"),
    ("lost-descriptors-open", "daemon/net/client.c",
     "        client_close_fds(client, fds, count);\n        stream_fault(client, \"/fds\",\n"
     "                     \"fds: descriptors were lost",
     "        stream_fault(client, \"/fds\",\n                     \"fds: descriptors were lost"),
    ("dependants-wait", "daemon/job/task.c",
     "        task_abort(task, &fault);\n", ""),
    ("deadline-kept", "daemon/job/task.c",
     "    deadline_remove(&task->jobs->deadlines, task);\n", ""),
    ("foreign-jobs-visible", "daemon/job/task.c",
     "    return viewer->uid == 0 || entry->user == viewer;", "    return viewer || entry;"),
    ("foreign-jobs-listed", "daemon/net/listing.c",
     "    return client->session.flow->user->uid == 0;", "    return client != NULL;"),
    ("anyone-administers", "daemon/net/replies.c",
     "    if (client_is_master(call->client))\n        return NULL;\n    fault_set",
     "    if (call->client)\n        return NULL;\n    fault_set"),
    ("shares-of-connections", "daemon/job/user.c",
     "    lanes_init(&flow->lanes, &flow->user->share);",
     "    static struct share shares[1 << 16], *next = shares;\n    share_init(next);\n"
     "    next->weight = 1;\n    lanes_init(&flow->lanes, next++);"),
    ("reaper-without-thread", "daemon/base/reaper.c",
     "    for (int i = 0; i < CREWS && error == 0; i++) {\n        if (reaper.crews[i].threads == 0)",
     "    for (int i = 0; i < 1 && error == 0; i++) {\n        if (reaper.crews[i].threads == 0)"),
    ("held-not-resumed", "daemon/net/client.c",
     "void held_check_again(struct held *held)\n{\n    held->left = held->count;\n",
     "void held_check_again(struct held *held)\n{\n    (void)held;\n"),
    ("stuck-not-quarantined", "daemon/job/dispatch.c",
     "    jobs->channels.quarantined |= stuck;\n", ""),
    ("guard-without-range", "daemon/memory/sigbus.c",
     "    set_range(range, (uintptr_t)pages, (uintptr_t)pages + size);\n", ""),
    ("files-confused", "daemon/memory/region.c",
     "a->dev == b->dev && a->ino == b->ino && a_begin", "a->dev == b->dev && a_begin"),
    ("signal-ends-connection", "proto/wire/frame.c",
     "        received = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);\n"
     "    } while (received < 0 && errno == EINTR);",
     "        received = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);\n"
     "    } while (false);"),
    ("quarantine-too-short", "daemon/job/dispatch.c",
     "        if (!(waiting >> i & 1) || watchdog->back[i] > now)", "        if (!(waiting >> i & 1))"),
    ("region-leak", "daemon/memory/region.c",
     "    if (open_region(region, fd, want, fault) < 0) {\n        region_drop(region);\n",
     "    if (open_region(region, fd, want, fault) < 0) {\n"),
    ("late-cancel", "libmli/src/dma/platform.c",
     "    return cancelled != 0 && cancelled == work_number(work);", "    return cancelled != 0;"),
    ("close-twice", "daemon/net/outbox.c",
     "    box->fd_count--;\n    memmove(", "    close(box->fds[0].fd);\n    box->fd_count--;\n    memmove("),
]


def check():
    good = True
    for name, file, text, _ in DEFECTS:
        count = (ROOT / file).read_text(encoding="utf-8").count(text)
        if count != 1:
            print(f"{name}: the text occurs {count} times in {file}")
            good = False
    return good


def run(*command, **options):
    return subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          check=False, **options)


def tracked():
    listed = run("git", "-C", ROOT, "ls-files", "-z")
    return listed.stdout.split("\0")[:-1]


def copy_if_changed(path, folder):
    """Copies a file. If the copy is equal already, its time stays the same, so that ninja does not compile it again.
    """
    contents, target = (ROOT / path).read_bytes(), folder / path
    if target.exists() and target.read_bytes() == contents:
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(contents)
    shutil.copymode(ROOT / path, target)


def prepare():
    """Copies the sources, even uncommitted changes, and configures the build."""
    COPY.mkdir(exist_ok=True)
    source = COPY / "source"
    for path in tracked():
        copy_if_changed(path, source)
    build = COPY / "build"
    if not (build / "build.ninja").exists():
        setup = run("meson", "setup", build, source, "-Dbuildtype=release", "-Dpython=disabled")
        if setup.returncode:
            print(setup.stdout)
            sys.exit(2)
    return source, build


def search(program, seconds):
    """Returns (seed, step, report) of the first run that fails, or None."""
    result = run(program, "--seconds", str(seconds), "--no-shorten", errors="replace")
    if result.returncode == 0:
        return None
    failed = re.search(r"seed (\d+): FAILED at step (\d+)", result.stdout)
    lines = [line for line in result.stdout.splitlines()
             if not line.startswith(("seed", "repeat", "  "))]
    return (*failed.groups(), lines[-1] if lines else "") if failed else None


def plant(source, build, defect, seconds, wanted=True):
    name, file, text, replacement = defect
    path = source / file
    whole = path.read_text(encoding="utf-8")
    path.write_text(whole.replace(text, replacement), encoding="utf-8")
    try:
        made = run("ninja", "-C", build, "tests/sim/mlid-sim")
        if made.returncode:
            print(made.stdout[-2000:])
            sys.exit(2)
        found = search(build / "tests/sim/mlid-sim", seconds)
    finally:
        path.write_text(whole, encoding="utf-8")
    if found:
        print(f"{name:24} seed {found[0]}, step {found[1]}: {found[2]}", flush=True)
    else:
        print(f"{name:24} {'NOT FOUND' if wanted else 'no failure'} within {seconds} s", flush=True)
    return (found is not None) == wanted


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1].split("\n")[0])
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--only", action="append")
    parser.add_argument("--seconds", type=int, default=90)
    options = parser.parse_args()
    if not check():
        return 1
    if options.check:
        print(f"{len(DEFECTS)} defects can be planted")
        return 0
    chosen = [d for d in DEFECTS if not options.only or d[0] in options.only]
    if not chosen:
        parser.error(f"--only: there is no such defect")
    source, build = prepare()
    if not plant(source, build, ("nothing", chosen[0][1], "", ""), options.seconds, wanted=False):
        return 1
    found = sum(plant(source, build, defect, options.seconds) for defect in chosen)
    print(f"{found} of {len(chosen)} defects were found")
    return 0 if found == len(chosen) else 1


if __name__ == "__main__":
    sys.exit(main())
