# SPDX-License-Identifier: BSD-3-Clause
"""Tests boards at a serial line. The agent of a board runs on this machine: jobs, batch and selftest, and serial lines
with every kind of fault."""
import json
import os
import pathlib
import pty
import re
import signal
import subprocess
import threading
import time
import tty

from harness import AGENT, MLICTL, PATIENCE, SOURCE, Case, await_handler, main, make_board, npy, ramp, wait_for
from serial_line import Line

FEW = ("--seed", "5", "--iterations", "20")


class Board(Case):
    def setUp(self):
        super().setUp()
        self.agent = None
        self.boot()

    def boot(self, *arguments):
        self.stop()
        self.path = self.dir / "board.sock"
        self.agent = subprocess.Popen([AGENT, "--listen", self.path, *arguments])
        wait_for(self.path.exists)

    def stop(self):
        if self.agent:
            self.agent.kill()
            self.agent.wait()
            self.path.unlink()
        self.agent = None

    def tearDown(self):
        self.stop()
        super().tearDown()

    def url(self, *options):
        return ",".join([f"serial:{self.path}", *options])

    def line(self, **faults):
        """Puts a serial line with faults between mlictl and the agent. Returns the line and its URL."""
        path = self.dir / "line.sock"
        line = Line(path, self.path, **faults)
        self.addCleanup(line.close)
        return line, f"serial:{path},timeout=100ms"

    def tensor(self, name, shape, dtype="<i2"):
        count = 1
        for extent in shape:
            count *= extent
        (self.dir / name).write_bytes(npy(dtype, shape, ramp(count * int(dtype[-1]))))

    def job(self, jobs, name="job.json"):
        (self.dir / name).write_text(json.dumps(jobs))
        return name

    def compare(self, jobs, outputs, url=None):
        """Runs the jobs on the board and in this process, and expects equal outputs. Returns the outputs."""
        job = self.job(jobs)
        self.ctl("run", "-H", url or self.url(), job, code=0)
        found = {name: (self.dir / name).read_bytes() for name in outputs}
        self.ctl("run", job, code=0)
        for name in outputs:
            self.assertEqual(found[name], (self.dir / name).read_bytes(), name)
        return found


class Jobs(Board):
    MOVE = {"op": "mov", "src": {"file": "a.npy", "type": "fx16"}, "dst": {"file": "b.npy"},
            "cfg": {"offset": [1, 0], "perm_dim": [1, 0], "padding_post": [1, 2]}}

    def test_moves_and_permutes(self):
        self.tensor("a.npy", (7, 5))
        self.compare([self.MOVE, {"op": "permute", "src": {"file": "a.npy", "type": "fx16"},
                                  "dst": {"file": "c.npy"}, "cfg": {"perm_dim": [1, 0]}}],
                     ["b.npy", "c.npy"])

    def test_gaps_and_updates(self):
        self.tensor("a.npy", (4, 3))
        self.tensor("old.npy", (6, 8))
        (self.dir / "b.npy").write_bytes((self.dir / "old.npy").read_bytes())
        gaps = dict(self.MOVE, cfg={"dst_mem_stride": [9, 2]}, dst={"file": "gaps.raw", "format": "raw"})
        self.compare([gaps], ["gaps.raw"])
        update = dict(self.MOVE, cfg={"dst_offset": [1, 2]}, dst={"file": "b.npy", "update": True})
        first = self.compare([update], ["b.npy"])
        self.assertNotEqual(first["b.npy"], (self.dir / "old.npy").read_bytes())

    def test_parts_of_a_new_tensor(self):
        """Elements that no job writes are zeros."""
        self.tensor("a.npy", (4, 3))
        part = {"op": "mov", "src": {"file": "a.npy", "type": "fx16"}, "dst": {"file": "b.npy", "shape": [6, 9]}}
        found = self.compare([part, dict(part, cfg={"dst_offset": [1, 5]})], ["b.npy"])
        rows = [ramp(24)[i:i + 6] for i in range(0, 24, 6)] + [bytes(6)] * 2
        whole = b"".join(left + bytes(4) + right + bytes(2) for left, right in zip(rows, rows[-1:] + rows[:-1]))
        self.assertEqual(found["b.npy"], npy("<i2", (6, 9), whole))

    def test_parameters_per_axis(self):
        self.tensor("w.npy", (3, 4), "|i1")
        move = {"op": "mov", "cfg": {"offset": [1, 0], "perm_dim": [1, 0]},
                "src": {"file": "w.npy", "type": "sa8", "axis": 0, "scale": [11, -12, 13],
                        "zero_point": [-1, 2, -300], "scale_frac_bits": [1, -2, 3]},
                "dst": {"file": "o.npy", "params": "p.json"}}
        found = self.compare([move], ["o.npy", "p.json"])
        self.assertEqual(json.loads(found["p.json"])["zero_point"], [2, -300])

    def test_expected_parameters(self):
        """The parameters that the board has computed are compared with expect.params."""
        self.tensor("w.npy", (3, 4), "|i1")
        wanted = {"type": "sa8", "axis": 1, "scale": [11, -12, 13], "scale_frac_bits": [1, -2, 3], "zero_point": [0, 0, 0]}
        job = {"op": "mov", "cfg": {"perm_dim": [1, 0]}, "dst": {"file": "golden.npy"},
               "src": {"file": "w.npy", "type": "sa8", "axis": 0, "scale": [11, -12, 13], "scale_frac_bits": [1, -2, 3]}}
        self.ctl("run", self.job([job]), code=0)
        job.update(dst={"file": "o.npy"}, expect={"file": "golden.npy", "params": wanted})
        for command in ("run", "batch"):
            self.ctl(command, "-H", self.url(), self.job([job]), code=0)
        wanted["scale"][1] = -13
        for command in (("run",), ("batch", "--keep", "none")):
            result = self.ctl(*command, "-H", self.url(), self.job([job]), code=1)
            self.assertIn("the quantisation parameters differ in scale[1]: got -12, expected -13", result.out + result.err)

    def test_only_what_the_move_reads_is_sent(self):
        self.tensor("large.npy", (3000, 300))
        move = {"op": "mov", "src": {"file": "large.npy", "type": "fx16"}, "dst": {"file": "b.npy"},
                "cfg": {"offset": [1500, 10], "size": [2, 3]}}
        self.boot("--memory", "4096")
        self.compare([move], ["b.npy"])

    def test_buffers_stay_on_the_board(self):
        self.tensor("a.npy", (64, 64))
        jobs = {"buffers": [{"name": "tile", "bytes": 8192}],
                "jobs": [{"op": "mov", "src": {"file": "a.npy", "type": "fx16"}, "dst": {"buffer": "tile"},
                          "name": "in"},
                         {"op": "mov", "after": ["in"], "cfg": {"perm_dim": [1, 0]},
                          "src": {"buffer": "tile", "type": "fx16", "shape": [64, 64]}, "dst": {"file": "b.npy"}}]}
        self.compare(jobs, ["b.npy"])

    def test_equal_sources_are_sent_once(self):
        self.tensor("a.npy", (100, 100))
        (self.dir / "same.npy").write_bytes((self.dir / "a.npy").read_bytes())
        line, url = self.line()
        move = {"op": "mov", "src": {"file": "a.npy", "type": "fx16"}, "cfg": {"size": [1, 1]}}
        whole = dict(move, cfg={}, dst={"file": "b.npy"})
        self.ctl("run", "-H", url, self.job([whole]), code=0)
        once = line.passed
        again = dict(whole, src={"file": "same.npy", "type": "fx16"}, dst={"file": "c.npy"})
        chain = dict(whole, src={"file": "b.npy", "type": "fx16"}, dst={"file": "d.npy"})
        line.passed = 0
        self.ctl("run", "-H", url, self.job([whole, again, chain]), code=0)
        self.assertLess(line.passed, once + 2 * 22000, "a source was sent again")
        self.assertEqual((self.dir / "d.npy").read_bytes(), (self.dir / "a.npy").read_bytes())

    def test_old_copies_make_room(self):
        self.boot("--memory", "100000")
        for i in range(6):
            (self.dir / f"s{i}.npy").write_bytes(npy("|i1", (30000,), ramp(30000 + i)[i:]))
        self.compare([{"op": "mov", "src": {"file": f"s{i}.npy", "type": "fx8"}, "dst": {"file": f"d{i}.npy"}}
                      for i in range(6)], [f"d{i}.npy" for i in range(6)])

    def test_examples(self):
        subprocess.run([SOURCE / "examples/make_inputs.sh", MLICTL, self.dir / "examples"], check=True,
                       capture_output=True)
        done = self.ctl("batch", "-H", self.url(), "examples", code=0)
        self.assertRegex(done.out, r"(\d+) cases: \1 passed")

    def test_kept_case_has_the_buffer(self):
        self.tensor("a.npy", (4,))
        self.tensor("wrong.npy", (4,))
        data = bytearray((self.dir / "wrong.npy").read_bytes())
        data[-1] ^= 1
        (self.dir / "wrong.npy").write_bytes(data)
        jobs = {"buffers": [{"name": "tile", "bytes": 8}],
                "jobs": [{"op": "mov", "name": "in", "src": {"file": "a.npy", "type": "fx16"}, "dst": {"buffer": "tile"}},
                         {"op": "mov", "after": ["in"], "src": {"buffer": "tile", "type": "fx16", "shape": [4]},
                          "dst": {"file": "b.npy"}, "expect": {"file": "wrong.npy"}}]}
        self.ctl("batch", "-H", self.url(), self.job(jobs), "--keep", "kept", code=1)
        kept = [p for p in (self.dir / "kept").rglob("*") if p.is_file()]
        self.assertTrue(any(ramp(8) in p.read_bytes() for p in kept), kept)

    def test_info_stats_ping(self):
        self.boot("--board", "test-board", "--engine", "mock", "--channels", "3")
        out = self.ctl("info", "-H", self.url(), code=0).out
        self.assertIn("board test-board at serial:", out)
        info = self.ctl("info", "--json", "-H", self.url(), code=0).json[0]["board"]
        self.assertEqual((info["engine"], info["channels"]), ("mock", 3))
        self.assertEqual(len(self.ctl("stats", "--json", "-H", self.url("channels=2"), code=0).json[0]["channels"]), 2)
        self.assertIn("answers in", self.ctl("ping", "-H", self.url(), code=0).out)

    def test_pty(self):
        with subprocess.Popen([AGENT, "--pty"], stdout=subprocess.PIPE, text=True) as agent:
            self.addCleanup(agent.kill)
            path = agent.stdout.readline().strip()
            self.tensor("a.npy", (7, 5))
            self.compare([self.MOVE], ["b.npy"], f"serial:{path},baud=4000000")
            held = os.open(path, os.O_RDWR | os.O_NOCTTY)
            import fcntl
            fcntl.flock(held, fcntl.LOCK_EX)
            done = self.ctl("ping", "-H", f"serial:{path}", code=3)
            self.assertIn("another program uses the line", done.err)
            os.close(held)
            agent.kill()


class Emulated(Board):
    """Tests boards in QEMU; the agent of this machine stands for QEMU and the board."""

    def setUp(self):
        super().setUp()
        self.firmware = make_board(self.root / "firmware", "any")
        self.url_of_board = f"qemu:any,firmware={self.firmware}"

    def test_jobs(self):
        self.tensor("a.npy", (7, 5))
        self.compare([Jobs.MOVE], ["b.npy"], self.url_of_board)
        image = self.firmware / "any/agent.elf"
        self.assertIn("board any at qemu:any", self.ctl("info", "-H", f"qemu:any,firmware={image}", code=0).out)

    def test_qemu_ends_with_mlictl(self):
        (self.dir / "a.npy").write_bytes(npy("<i2", (40, 100), ramp(8000)))
        job = self.job([dict(Jobs.MOVE)])
        for number in (signal.SIGKILL, signal.SIGTERM, signal.SIGINT):
            url = f"{self.url_of_board},engine=fault:threads,tiny=0,stick=1"
            with subprocess.Popen([MLICTL, "run", "-H", url, job], cwd=self.dir, stderr=subprocess.DEVNULL) as process:
                children = f"/proc/{process.pid}/task/{process.pid}/children"
                wait_for(lambda: pathlib.Path(children).read_text().strip())
                child = int(pathlib.Path(children).read_text().split()[0])
                time.sleep(0.3)
                process.send_signal(number)
                process.wait(PATIENCE)
            wait_for(lambda child=child: not pathlib.Path(f"/proc/{child}/exe").exists())

    def test_qemu_fails(self):
        (self.firmware / "any/qemu").write_text("#!/bin/sh\necho machine is unknown >&2\nexit 1\n")
        done = self.ctl("ping", "-H", self.url_of_board, code=3)
        self.assertIn("QEMU has ended: machine is unknown", done.err)
        (self.firmware / "any/qemu.args").write_text("qemu-system-never @IMAGE@")
        self.assertIn("qemu-system-never is not installed", self.ctl("ping", "-H", self.url_of_board, code=3).err)
        (self.firmware / "any/qemu.args").unlink()
        self.assertIn("must have the arguments of QEMU", self.ctl("ping", "-H", self.url_of_board, code=2).err)


class Refusals(Board):
    def says(self, text, *arguments, code):
        done = self.ctl(*arguments, code=code)
        self.assertIn(text, done.err)

    def test_addresses(self):
        for url in ("serial:", "qemu:", "serial:x,baud=0", "serial:x,speed=1", "qemu:x,baud=9600", "serial:x,engine="):
            self.says("is needed, then any of", "ping", "-H", url, code=2)
        self.says("is the board connected?", "ping", "-H", "serial:/nowhere", code=3)
        self.says("neither a serial device nor a socket", "ping", "-H", f"serial:{__file__}", code=2)
        self.says("the name of a board is needed", "ping", "-H", "qemu:../x", code=2)
        self.says("no agent image of this board", "ping", "-H", "qemu:never_built", code=2)
        self.says("this command needs a daemon", "jobs", "-H", self.url(), code=2)
        self.says("qemu:BOARD or serial:PATH is needed", "selftest", "-H", "ssh://board", code=2)
        self.says("give channels=N and engine=SPEC", "run", "-H", self.url(), "--engine", "inline",
                  SOURCE / "examples/basics/copy.json", code=2)
        self.says("--engine nothing", "ping", "-H", self.url("engine=nothing"), code=2)

    def test_jobs(self):
        self.tensor("a.npy", (40, 100))
        move = {"op": "mov", "src": {"file": "a.npy", "type": "fx16"}, "dst": {"file": "b.npy"}}
        self.boot("--channels", "2", "--memory", "4096")
        self.says("has 4096 B for tensors", "run", "-H", self.url(), self.job([move]), code=1)
        self.says("3 given, but the board host has 2", "run", "-H", self.url(),
                  self.job([dict(move, channels=3)]), code=1)
        self.says("--detach cannot be combined with a board", "submit", "--detach", "-H", self.url(),
                  self.job([move]), code=2)
        self.says("must be below 40", "run", "-H", self.url(),
                  self.job([dict(move, cfg={"offset": [40, 0]})]), code=2)
        self.assertFalse((self.dir / "b.npy").exists())

    def test_faults_of_channels(self):
        self.tensor("a.npy", (40, 100))
        move = {"op": "mov", "src": {"file": "a.npy", "type": "fx16"}, "dst": {"file": "b.npy"}}
        self.says("DMA channel 0 of the board host failed", "run", "-H",
                  self.url("engine=fault:threads,tiny=0,fail=1"), self.job([move]), code=1)
        begin = time.monotonic()
        self.says("timeout_ms", "run", "-H", self.url("engine=fault:threads,tiny=0,stick=1"),
                  self.job([dict(move, timeout_ms=200)]), code=4)
        self.assertLess(time.monotonic() - begin, 20)

    def test_interrupt(self):
        self.tensor("a.npy", (40, 100))
        job = self.job([{"op": "mov", "src": {"file": "a.npy", "type": "fx16"}, "dst": {"file": "b.npy"}}])
        url = self.url("engine=fault:threads,tiny=0,stick=1")
        with subprocess.Popen([MLICTL, "run", "-H", url, job], cwd=self.dir, stderr=subprocess.PIPE) as process:
            await_handler(process, signal.SIGINT)
            time.sleep(0.2)  # most often, the job is on the board then
            process.send_signal(signal.SIGINT)
            self.assertEqual(process.wait(PATIENCE), 4)
        self.compare([json.loads((self.dir / "job.json").read_text())[0]], ["b.npy"])


class Selftest(Board):
    def test_passes(self):
        self.boot("--engine", "threads")
        done = self.ctl("selftest", "-H", self.url(), *FEW, "--json", code=0)
        self.assertEqual([fact["engine"] for fact in done.json], ["threads", "threads:tiny=0"])
        for fact in done.json:
            self.assertEqual((fact["cases"], fact["failures"]), (20, 0))

    def test_finds_planted_corruption(self):
        done = self.ctl("selftest", "-H", self.url(), "--json", *FEW, "--engine", "fault:inline,corrupt_pct=30",
                        code=1)
        fact = done.json[0]
        self.assertGreater(fact["failures"], 1)
        self.assertEqual({f["kind"] for f in fact["first_failures"]}, {"mismatch"})
        again = re.search(r"reproduce: mlictl (selftest .*)", done.err)[1].replace("'", "").split()
        self.assertIn("-H", again)
        self.ctl("run", "-H", self.url(), fact["job"], code=0)

    def test_finds_errors_and_stuck_transfers(self):
        for fault, kind in (("fail_pct=30", "error"), ("stick=3", "stuck")):
            done = self.ctl("selftest", "-H", self.url(), "--json", *FEW, "--timeout", "300ms", "--engine",
                            f"fault:threads,tiny=0,{fault}", code=1)
            self.assertEqual(done.json[0]["first_failures"][0]["kind"], kind, done.err)
            self.boot()


class Lines(Board):
    """On lines with faults, a command takes longer, but its result is never wrong."""
    JOB = [{"op": "mov", "src": {"file": "a.npy", "type": "fx16"}, "dst": {"file": "b.npy"},
            "cfg": {"perm_dim": [1, 0]}}]

    def setUp(self):
        super().setUp()
        self.tensor("a.npy", (80, 90))

    def passes(self, **faults):
        line, url = self.line(**faults)
        self.compare(self.JOB, ["b.npy"], url)
        self.assertGreater(line.lost, 0, "the line had no fault")
        line.close()
        (self.dir / "line.sock").unlink()

    def test_bytes(self):
        for seed, faults in enumerate(({"drop": 0.0005}, {"double": 0.0005}, {"flip": 0.0005}, {"garbage": 0.0005},
                                       {"drop": 0.0007, "double": 0.0007, "flip": 0.0007, "garbage": 0.0007})):
            with self.subTest(**faults):
                self.passes(seed=seed, **faults)

    def test_delays(self):
        line, url = self.line(delay=0.15)
        (self.dir / "a.npy").write_bytes(npy("<i2", (8, 9), ramp(144)))
        self.compare(self.JOB, ["b.npy"], url)

    def test_cut_for_a_while(self):
        self.passes(quiet=(9000, 0.4))

    def test_selftest_on_a_bad_line(self):
        line, url = self.line(drop=0.0003, flip=0.0003)
        self.ctl("selftest", "-H", url, "--seed", "5", "--iterations", "10", code=0)
        self.assertGreater(line.lost, 0)

    def test_cut_for_good(self):
        line, url = self.line(quiet=(9000, 60))
        done = self.ctl("run", "-H", url, self.job(self.JOB), code=3)
        self.assertIn("does not answer", done.err)
        self.assertFalse((self.dir / "b.npy").exists())

    def test_reset_in_the_middle(self):
        line, url = self.line(quiet=(9000, 0.2))
        line.after = lambda: self.agent.send_signal(signal.SIGUSR1)
        done = self.ctl("run", "-H", url, self.job(self.JOB), code=3)
        self.assertIn("the board host was reset", done.err)
        self.compare(self.JOB, ["b.npy"])

    def test_agent_ends(self):
        line, url = self.line(quiet=(9000, 0))
        line.after = self.agent.kill
        done = self.ctl("run", "-H", url, self.job(self.JOB), code=3)
        self.assertRegex(done.err, "the line was cut|does not answer")

    def test_text_and_echo(self):
        board, peer = pty.openpty()
        tty.setraw(board)
        self.addCleanup(os.close, board)
        self.addCleanup(os.close, peer)
        url = f"serial:{os.ttyname(peer)}"
        os.write(board, b"U-Boot 2023.01\r\nautoboot: 3\r\n")

        def boot():
            time.sleep(0.5)
            os.write(board, b"U-Boot 2023.01\r\nautoboot: 3\r\n")

        threading.Thread(target=boot, daemon=True).start()
        done = self.ctl("ping", "-H", url, code=3)
        self.assertIn("the line carries text, but no agent answers", done.err)
        self.assertIn("U-Boot", done.err)


if __name__ == "__main__":
    main()
