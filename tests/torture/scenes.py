# SPDX-License-Identifier: BSD-3-Clause
"""The scenes: each command of mlictl with small files. To add a scene, add it to a list below."""
import io
import json
import os
import struct
import zipfile

from scene import Scene

from harness import AGENT, MLICTL, mov, npy, ramp, transpose_model
from queue_server import Redis

CLIENT_SCENE = os.environ.get("MLI_CLIENT_SCENE", "client_scene")

IN = npy("<i2", (4, 6, 3), ramp(144))
TURNED = npy("<i2", (4, 6, 3), b"".join(ramp(144)[36 * i:36 * i + 36] for i in range(3, -1, -1)))
CFG = {"padding_pre": [1, 1, 0], "padding_post": [1, 1, 0], "perm_dim": [2, 0, 1]}


def job(**more):
    return json.dumps(mov("in.npy", "out.npy", **{**CFG, **more})).encode()


def text(value):
    return json.dumps(value).encode()


def safetensors():
    header = json.dumps({"a": {"dtype": "I16", "shape": [4, 6, 3], "data_offsets": [0, 144]},
                         "b": {"dtype": "I8", "shape": [8], "data_offsets": [144, 152]}}).encode()
    return struct.pack("<Q", len(header)) + header + ramp(152)


ONE = {"in.npy": IN, "job.json": job()}
TWO = {"in.npy": IN, "jobs.json": text([
    {"name": "first", **mov("in.npy", "a.npy", perm_dim=[2, 0, 1])},
    {"name": "second", "after": ["first"], **mov("a.npy", "b.npy")}])}
PARTS = {"in.npy": IN, "jobs.json": text([
    mov("in.npy", {"file": "both.npy", "shape": [4, 12, 3]}, dst_offset=[0, 6 * i, 0]) for i in range(2)])}
CHAIN = {"in.npy": IN, "jobs.json": text({
    "buffers": [{"name": "tile", "bytes": 144}],
    "jobs": [mov("in.npy", {"buffer": "tile"}, name="load"), mov({"buffer": "tile", "type": "fx16", "shape": [4, 6, 3]}, "b.npy", after=["load"])]})}
CASES = {"in.npy": IN, "cases/a.json": b"", "out/keep": b""}
PARAMS = {"in.npy": IN, "job.json": text(
    mov({"file": "in.npy", "type": "fx16", "frac_bits": 7}, {"file": "out.npy", "params": "out.json"}))}
PING = b'{"jsonrpc":"2.0","id":1,"method":"daemon.ping"}\n'
ARCHIVE = {"in.safetensors": safetensors(), "job.json": text(
    mov({"file": "in.safetensors", "tensor": "a"}, "out.npy", perm_dim=[2, 0, 1]))}
MODEL = {"net.onnx": transpose_model(), "job.json": text(
    mov({"file": "net.onnx", "tensor": "v"}, "out.npy", perm_dim=[1, 0]))}


def sequence():
    """Returns an ONNX model with an Identity of a sequence x, and a SequenceProto with two tensors for x."""
    def member(number, value):
        return bytes([number << 3 | 2, len(value)]) + value

    value = lambda name: member(1, name) + member(2, member(4, member(1, member(1, b"\x08\x03"))))
    node = member(1, b"x") + member(2, b"y") + member(4, b"Identity")
    model = member(7, member(1, node) + member(11, value(b"x")) + member(12, value(b"y")))
    tensor = b"\x08\x04\x10\x03" + member(9, ramp(4))  # int8 (4)
    return model, member(1, b"x") + member(3, tensor) + member(3, tensor)


SEQUENCE = dict(zip(("net.onnx", "data/input_0.pb", "data/output_0.pb"), (*sequence(), sequence()[1])))


def npz():
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(zipfile.ZipInfo("a.npy"), IN)
        archive.writestr(zipfile.ZipInfo("b.npy"), npy("|i1", (8,), ramp(8)))
    return file.getvalue()


NPZ_WORKS = os.environ.get("MLI_NPZ", "1") == "1"
NPZ = {"in.npz": npz(), "job.json": text(mov({"file": "in.npz", "tensor": "a"}, "out.npy", perm_dim=[2, 0, 1]))}


def with_golden_jobs(ctl, _):
    """Makes two cases without golden files."""
    for name in ("a", "b"):
        ctl("make", "mov", "in.npy", f"out/{name}.npy", "--perm", "2,0,1", "--expect", f"cases/{name}.npy",
            "-o", f"cases/{name}.json", "-f")


def with_golden(ctl, directory):
    with_golden_jobs(ctl, directory)
    for name in ("a", "b"):
        ctl("mov", "in.npy", f"cases/{name}.npy", "--perm", "2,0,1")


def with_wrong_golden(ctl, directory):
    with_golden(ctl, directory)
    (directory / "cases" / "a.npy").write_bytes((directory / "cases" / "a.npy").read_bytes()[:-1] + b"\xff")


def with_state(ctl, directory):
    with_golden(ctl, directory)
    ctl("batch", "cases", "--resume", "state.jsonl", "-q")


def with_two_states(ctl, directory):
    with_golden(ctl, directory)
    for shard, name in ((1, "one.jsonl"), (2, "two.jsonl")):
        ctl("batch", "cases", "--shard", f"{shard}/2", "--resume", name, "-q")


def with_ended_job(ctl, _):
    """The daemon of the scene knows job 1."""
    ctl("submit", "-s", "{socket}", "job.json")


def profile(name):
    return ("--profile", name)


def local():
    """Commands on jobs and tensors, which need no daemon."""
    return [
        Scene("run", ("run", "job.json"), ONE),
        Scene("run-json", ("run", "--json", "job.json"), ONE, digits=True),
        Scene("run-over", ("run", "job.json"), {**ONE, "out.npy": b"old"}),
        Scene("run-sync", ("run", "--sync", "job.json"), ONE),
        Scene("run-two", ("run", "jobs.json"), TWO),
        Scene("run-buffers", ("run", "jobs.json"), CHAIN),
        Scene("run-params", ("run", "job.json"), PARAMS),
        Scene("run-expect", ("run", "jobs.json"), {**ONE, "jobs.json": job(expect={"file": "golden.npy"})},
              make=lambda ctl, _: ctl("make", "mov", "in.npy", "golden.npy", "--pad", "1,1,0", "--perm", "2,0,1",
                                      "--run")),
        Scene("run-stdin", ("run", "-"), ONE, stdin=job()),
        Scene("run-safetensors", ("run", "job.json"), ARCHIVE),
        Scene("run-staged", ("run", "job.json", *profile("vpx5-nsim")), {"in.npy": IN, "job.json": job(stage="vccm")}),
        Scene("mov", ("mov", "in.npy", "out.npy", "--perm", "2,0,1"), ONE),
        Scene("permute", ("permute", "in.npy", "out.npy", "--perm", "2,0,1"), ONE),
        Scene("validate", ("validate", "job.json"), ONE),
        Scene("validate-parts", ("validate", "jobs.json"), PARTS),
        Scene("validate-json", ("validate", "--json", "job.json"), ONE),
        Scene("validate-board", ("validate", "job.json", *profile("zynqmp-zdma")), ONE),
        Scene("make", ("make", "mov", "in.npy", "out.npy", "--perm", "2,0,1"), ONE),
        Scene("make-c", ("make", "mov", "in.npy", "out.npy", "--perm", "2,0,1", "--c"), ONE),
        Scene("make-file", ("make", "mov", "in.npy", "out.npy", "-o", "new.json"), ONE),
        Scene("make-over", ("make", "mov", "in.npy", "out.npy", "-o", "job.json", "-f"), ONE),
        Scene("make-run", ("make", "mov", "in.npy", "out.npy", "--run"), ONE),
        Scene("optimise", ("optimise", "jobs.json", "-o", "new.json"), CHAIN),
        Scene("optimise-files", ("optimise", "jobs.json", "--all-intermediates", "--json"), TWO),
        Scene("gen", ("gen", "new.npy", "--shape", "4,6,3", "--dtype", "int16"), {}),
        Scene("gen-over", ("gen", "in.npy", "--shape", "4,6,3", "--dtype", "int8", "-f"), ONE),
        Scene("show", ("show", "in.npy"), ONE),
        Scene("show-onnx", ("show", "net.onnx"), MODEL),
        Scene("run-onnx", ("run", "job.json"), MODEL),
        Scene("import", ("import", "net.onnx", "--dim", "batch=2", "-o", "new"), MODEL),
        Scene("import-over", ("import", "net.onnx", "-o", "new", "-f", "--json"), MODEL,
              make=lambda ctl, _: ctl("import", "net.onnx", "--dim", "*=2", "-o", "new")),
        Scene("import-sequence", ("import", "net.onnx", "--data", "data", "-o", "new"), SEQUENCE),
        Scene("show-safetensors", ("show", "in.safetensors"), ARCHIVE),
        Scene("diff", ("diff", "in.npy", "same.npy"), {**ONE, "same.npy": IN}),
        Scene("diff-other", ("diff", "in.npy", "other.npy"), {**ONE, "other.npy": npy("<i2", (4, 6, 3), bytes(144))}),
        Scene("diff-turned", ("diff", "in.npy", "turned.npy"), {**ONE, "turned.npy": TURNED}),
        Scene("diff-archives", ("diff", "in.safetensors", "other.safetensors"),
              {**ARCHIVE, "other.safetensors": safetensors()}),
        Scene("help", ("help", "run"), {}),
        Scene("completion", ("completion", "bash"), {}),
        Scene("selftest", ("selftest", "--iterations", "2", "--seed", "1", "-e", "inline", "--max-bytes", "1024"), {},
              digits=True, evidence=r"selftest-.*"),
    ] + ([
        Scene("run-npz", ("run", "job.json"), NPZ),
        Scene("show-npz", ("show", "in.npz"), NPZ),
        Scene("diff-npz", ("diff", "in.npz", "other.npz"), {**NPZ, "other.npz": NPZ["in.npz"]}),
    ] if NPZ_WORKS else [])


def boards():
    """Returns the scenes of commands that use a target profile: explain with all its outputs,
    profile, tile."""
    board = profile("zynqmp-zdma")
    plain = ("--no-memcpy", "job.json")
    return [
        Scene("explain", ("explain", *plain), ONE),
        Scene("explain-json", ("explain", *plain, "--json"), ONE),
        Scene("explain-svg", ("explain", *plain, "--svg", "job.svg"), ONE),
        Scene("explain-c", ("explain", *plain, "--c"), ONE),
        Scene("explain-board", ("explain", *plain, *board), ONE),
        Scene("explain-jobs", ("explain", "--no-memcpy", "--no-picture", "jobs.json", *profile("vpx5-nsim")), CHAIN),
        Scene("explain-trace", ("explain", *plain, *board, "--no-picture", "--trace", "trace.json"), ONE),
        Scene("explain-timeline", ("explain", *plain, *board, "--no-picture", "--timeline", "jobs.svg"), ONE),
        Scene("profile-list", ("profile", "list"), {}),
        Scene("profile-show", ("profile", "show", "zynqmp-zdma"), {}),
        Scene("profile-file", ("profile", "show", "zynqmp-zdma", "--file"), {}),
        Scene("profile-check", ("profile", "check", "board.json"), {},
              make=lambda ctl, where: (where / "board.json").write_bytes(
                  ctl("profile", "show", "zynqmp-zdma", "--file").stdout)),
        Scene("tile", ("tile", "--shape", "16x16x8", "--window", "3x3", "--pad", "same", "--budget", "2KiB"), {}),
        Scene("tile-jobs", ("tile", "in.npy", "out.npy", "--budget", "512", "-o", "tiles.json"), ONE),
        Scene("calibrate", ("calibrate", "--seconds", "1", "--check", "1", "--seed", "1", "-q", "-o", "machine.json"), {},
              digits=True, loose=("machine.json",), slow=True),
    ]


def batches():
    one = ("batch", "-j", "1", "cases")
    kept = r"batch-failed(/.*)?"

    def scene(name, *words, make=with_golden, **more):
        return Scene(name, words, CASES, make=make, reports=True, evidence=kept, **more)
    return [
        scene("batch", *one),
        scene("batch-two-workers", "batch", "-j", "2", "cases", digits=True),
        scene("batch-json", *one, "--json", digits=True),
        scene("batch-junit", *one, "--junit", "report.xml", loose=("report.xml",)),
        scene("batch-tap", *one, "--tap"),
        scene("batch-list", "batch", "cases", "--list"),
        scene("batch-update", *one, "--update-golden", make=with_golden_jobs),
        scene("batch-failing", *one, make=with_wrong_golden),
        scene("batch-new-state", *one, "--resume", "state.jsonl", loose=("state.jsonl",)),
        scene("batch-resume", *one, "--resume", "state.jsonl", make=with_state, loose=("state.jsonl",)),
        scene("batch-html", *one, "--html", "page", loose=("page/index.html",)),
        scene("batch-merge", "batch", "merge", "one.jsonl", "two.jsonl", "--junit", "report.xml",
              make=with_two_states, loose=("report.xml",)),
    ]


def remote():
    """Commands that use a daemon."""
    daemon = ("-s", "{socket}")

    def scene(name, *words, **more):
        return Scene(name, (*words, *daemon), more.pop("files", ONE), daemon=True, digits=True, **more)
    return [
        scene("submit", "submit", "job.json"),
        scene("submit-json", "submit", "--json", "job.json"),
        scene("submit-two", "submit", "jobs.json", files=TWO),
        scene("submit-buffers", "submit", "jobs.json", files=CHAIN),
        scene("submit-detached", "submit", "--detach", "job.json", loose=("out.npy",)),
        scene("mov-daemon", "mov", "in.npy", "out.npy", "--perm", "2,0,1"),
        scene("validate-daemon", "validate", "job.json"),
        scene("batch-daemon", "batch", "-j", "1", "cases", files=CASES, make=with_golden, reports=True,
              evidence=r"batch-failed(/.*)?"),
        scene("ping", "ping"),
        scene("info", "info"),
        scene("stats", "stats"),
        scene("jobs", "jobs", make=with_ended_job),
        scene("jobs-json", "jobs", "--json", make=with_ended_job),
        scene("status", "status", "1", make=with_ended_job),
        scene("status-json", "status", "1", "--json", make=with_ended_job),
        scene("cancel", "cancel", "1", make=with_ended_job),
        scene("top", "top", "--once"),
        scene("top-json", "top", "--once", "--json", make=with_ended_job),
        scene("drain", "drain"),
        scene("wait", "wait", "--all"),
        scene("resume", "resume"),
        scene("trace", "trace", "--seconds", "1", "-o", "trace.json", loose=("trace.json",), slow=True),
        scene("proxy", "proxy", stdin=PING, reports=True),
    ]


def serial():
    """Commands that use a board at a serial line, if mlictl was built with boards."""
    def scene(name, *words, **more):
        return Scene(name, (*words, "-H", "{board}"), more.pop("files", ONE), board=True, digits=True, **more)
    return [
        scene("run-serial", "run", "job.json"),
        scene("batch-serial", "batch", "-j", "1", "cases", files=CASES, make=with_golden, reports=True,
              evidence=r"batch-failed(/.*)?"),
        scene("selftest-serial", "selftest", "--iterations", "2", "--seed", "1", "--max-bytes", "1024", "-q", files={},
              evidence=r"selftest-.*"),
    ]


QUEUE = ("--queue", "{queue}", "--reconnect", "1s")


def enqueue(ctl):
    ctl("batch", "enqueue", *QUEUE, "--lease", "2s", "cases")


def enqueue_and_run(ctl):
    enqueue(ctl)
    ctl("batch", *QUEUE, "-j", "1", "-q", "--keep", "none")


def check_queue(ctl):
    """After any run, the commands enqueue, a worker and collect must report each case exactly once."""
    enqueue_and_run(ctl)
    report = ctl("batch", "collect", *QUEUE, "--json", "--remove").stdout.decode()
    events = [json.loads(line) for line in report.splitlines()]
    names = [event["name"] for event in events if event["event"] == "case" and event["status"] in ("passed", "error")]
    return [] if sorted(names) == ["a", "b"] and events[-1]["not_run"] == 0 else [f"the queue then has {report}"]


def queues():
    """Commands that take cases from a queue, if Redis is installed."""
    def scene(name, *words, before=None, **more):
        return Scene(name, ("batch", *words), CASES, make=with_golden,
                     queue=Redis, before=before, after=check_queue, reports=True, digits=True, **more)
    return [] if Redis.missing() else [
        scene("enqueue", "enqueue", *QUEUE, "--lease", "2s", "cases"),
        scene("queue", *QUEUE, "-j", "1", "--keep", "none", before=enqueue, remarks=r".* waits for another worker\n"),
        scene("queue-status", "status", *QUEUE, before=enqueue),
        scene("collect", "collect", *QUEUE, "--junit", "report.xml", before=enqueue_and_run, loose=("report.xml",)),
    ]


def clients():
    """Returns the scenes of programs that use libmli_client. They connect through a socket, or
    through a command such as mlictl proxy."""
    files = dict.fromkeys(("source.raw", "result.raw"), bytes(24))

    def scene(name, *words):
        return Scene(name, words, files, program=CLIENT_SCENE, daemon=True, loose=tuple(files))
    return [
        scene("client", "{socket}"),
        scene("client-spawn", "--spawn", MLICTL, "proxy", "-s", "{socket}"),
    ]


def left_out():
    """Returns the reasons why this machine cannot run some scenes."""
    return ([f"queue: {Redis.missing()}"] if Redis.missing() else []) + \
        ([] if NPZ_WORKS else ["npz: built without zlib"])


def all_scenes():
    return local() + boards() + batches() + remote() + (serial() if AGENT else []) + queues() + clients()
