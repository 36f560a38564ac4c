# SPDX-License-Identifier: BSD-3-Clause
"""Tests mlictl explain --c: compiles the C functions of random jobs, which must write what the jobs write."""
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import unittest

from harness import SOURCE, Case, main, npy, ramp

BUILD = pathlib.Path(os.environ["MLI_BUILD"]) if "MLI_BUILD" in os.environ else None
COMPILER = shutil.which("cc") or shutil.which("gcc")
# A program without sanitizers cannot load a library that has them; MLI_PLAIN_FS is set only in builds without
# sanitizers.
LIBRARY = BUILD / "libmli/libmli.so" if BUILD and "MLI_PLAIN_FS" in os.environ else None
TYPES = {"fx8": "|i1", "sa8": "|i1", "fx16": "<i2", "sa32": "<i4", "fp16": "<f2", "fp32": "<f4"}
BYTES = {"|i1": 1, "<i2": 2, "<i4": 4, "<f2": 2, "<f4": 4}
JOBS = 40

PROGRAM = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *read_file(const char *path, long skip)
{
    FILE *file = fopen(path, "rb");
    static char bytes[1 << 20];
    size_t size = file ? fread(bytes, 1, sizeof bytes, file) : 0;

    if (!file || size < (size_t)skip)
        exit(3);
    fclose(file);
    return memcpy(malloc(size - skip), bytes + skip, size - skip);
}

static int failed;

static void check(mli_status (*function)(const void *, void *), const char *name, long bytes)
{
    char path[64];
    void *src, *expected, *dst = calloc(1, bytes);

    snprintf(path, sizeof path, "in%s.npy", name);
    src = read_file(path, 128);
    snprintf(path, sizeof path, "out%s.npy", name);
    expected = read_file(path, 128);
    if (function(src, dst) != MLI_STATUS_OK || memcmp(dst, expected, bytes) != 0) {
        printf("%s differs: %s\\n", name, mli_last_error());
        failed = 1;
    }
    free(src), free(expected), free(dst);
}
"""


@unittest.skipUnless(COMPILER and LIBRARY and LIBRARY.exists(), "no compiler, or no shared library without sanitizers")
class Functions(Case):
    def draw(self, rng, number):
        """Writes the input of a random job and returns the job."""
        kind = rng.choice(sorted(TYPES))
        rank = rng.randrange(1, 5)
        shape = [rng.randrange(1, 7) for _ in range(rank)]
        size = BYTES[TYPES[kind]]
        for extent in shape:
            size *= extent
        self.write(f"in{number}.npy", npy(TYPES[kind], tuple(shape), ramp(size)))
        job = {"op": "mov", "name": f"job-{number}" if number % 5 == 0 else f"job{number}",
               "src": {"file": f"in{number}.npy", "type": kind}, "dst": {"file": f"out{number}.npy"}}
        perm = rng.sample(range(rank), rank)
        if kind in ("fx8", "fx16", "sa8", "sa32") and rng.random() < 0.25:
            job["op"] = "permute"
            job["cfg"] = {"perm_dim": perm}
        else:
            job["cfg"] = self.draw_cfg(rng, shape, perm)
        if kind.startswith("sa"):
            self.draw_parameters(rng, job, shape)
        elif kind.startswith("fx") and rng.random() < 0.5:
            job["src"]["frac_bits"] = rng.randrange(-3, 9)
        return job

    @staticmethod
    def draw_cfg(rng, shape, perm):
        rank = len(shape)
        pre = [rng.randrange(3) for _ in range(rank)]
        post = [rng.randrange(3) for _ in range(rank)]
        padded = [pre[d] + shape[d] + post[d] for d in range(rank)]
        offset = [rng.randrange(extent) for extent in padded]
        size = [rng.randrange(padded[d] - offset[d] + 1) for d in range(rank)]
        return {"padding_pre": pre, "padding_post": post, "offset": offset, "size": size,
                "sub_sample_step": [rng.randrange(1, 4) for _ in range(rank)], "perm_dim": perm}

    @staticmethod
    def draw_parameters(rng, job, shape):
        if rng.random() < 0.5:
            job["src"].update(scale=rng.randrange(1, 99), zero_point=rng.randrange(-9, 9),
                              scale_frac_bits=rng.randrange(9))
        else:
            axis = rng.randrange(len(shape))
            job["src"].update(axis=axis, scale=[rng.randrange(1, 99) for _ in range(shape[axis])],
                              zero_point=[rng.randrange(-9, 9) for _ in range(shape[axis])])

    def compile_and_run(self, text, *flags):
        (self.dir / "jobs.c").write_text(text)
        command = [COMPILER, "-std=c11", "-Wall", "-Wextra", "-Werror", *flags,
                   f"-I{SOURCE}/libmli/include", "jobs.c", "-o", "jobs", str(LIBRARY),
                   f"-Wl,-rpath,{LIBRARY.parent}"]
        done = subprocess.run(command, cwd=self.dir, capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)
        done = subprocess.run(["./jobs"], cwd=self.dir, capture_output=True, text=True, timeout=60)
        self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)

    def test_random_jobs(self):
        seed = int(os.environ.get("MLI_TEST_SEED", random.randrange(1 << 32)))
        rng = random.Random(seed)
        jobs = [self.draw(rng, number) for number in range(JOBS)]
        self.write("jobs.json", json.dumps(jobs).encode())
        self.ctl("run", "jobs.json", code=0)
        text = self.ctl("explain", "--c", "jobs.json", code=0).out
        lines = []
        for number, job in enumerate(jobs):
            name = f"{number}_job_{number}" if "-" in job["name"] else "_" + job["name"]
            bytes_ = (self.dir / f"out{number}.npy").stat().st_size - 128
            lines.append(f'    check(move{name}, "{number}", {bytes_});')
        main_ = "\nint main(void)\n{\n" + "\n".join(lines) + "\n    return failed;\n}\n"
        try:
            for flags in ((), ("-DMLI_EMBARC_COMPAT",)):
                self.compile_and_run(text + PROGRAM + main_, *flags)
        except AssertionError as error:
            raise AssertionError(f"seed {seed}: {error}") from error

    def test_all_jobs_of_a_file(self):
        """move_all() runs the jobs in the order that "after" requires, and passes bytes through buffers."""
        self.write("a.npy", npy("|i1", (6, 5, 4), ramp(120)))
        tile = {"type": "sa8", "shape": [3, 5, 4]}
        jobs = []
        for i in (0, 1):
            jobs += [{"op": "mov", "name": f"store{i}", "src": {"buffer": "turned", "type": "sa8", "shape": [4, 3, 5]},
                      "dst": {"file": f"out{i}.npy"}, "after": [f"turn{i}"]},
                     {"op": "permute", "name": f"turn{i}", "cfg": {"perm_dim": [2, 0, 1]},
                      "src": dict(tile, buffer="tile"), "dst": {"buffer": "turned"}, "after": [f"load{i}"]},
                     {"op": "mov", "name": f"load{i}", "cfg": {"offset": [3 * i, 0, 0], "size": [3, 5, 4]},
                      "src": {"file": "a.npy", "type": "sa8"}, "dst": {"buffer": "tile"},
                      "after": ["store0"] if i else []}]
        self.write("jobs.json", json.dumps({"buffers": [{"name": "tile", "bytes": 60}, {"name": "turned", "bytes": 64}],
                                            "jobs": jobs}).encode())
        text = self.ctl("explain", "--c", "jobs.json", code=0).out
        self.assertIn("static uint8_t buffer_1[64]", text)
        self.assertLess(text.index("status = move_load1("), text.index("status = move_turn1("))
        self.ctl("run", "jobs.json", code=0)
        calls = "".join(f"    memcpy(expected, read_file(\"out{i}.npy\", 128), 60);\n"
                        f"    failed |= memcmp(expected, out{i}, 60) != 0;\n" for i in (0, 1))
        program = PROGRAM + ("int main(void)\n{\n    static uint8_t out0[60], out1[60], expected[60];\n"
                             '    uint8_t *const files[] = {read_file("a.npy", 128), out0, out1};\n\n'
                             "    failed |= move_all(files) != MLI_STATUS_OK;\n" + calls +
                             "    (void)check;\n    return failed;\n}\n")
        self.compile_and_run(text + program)
        # On a board, buffers have addresses. A file with a single job gets no function move_all().
        for line in json.loads((self.dir / "jobs.json").read_text())["buffers"]:
            self.assertIn(line["name"], text)
        placed = json.loads((self.dir / "jobs.json").read_text())
        placed["buffers"][0]["memory"] = placed["buffers"][1]["memory"] = "vccm"
        self.write("jobs.json", json.dumps(placed).encode())
        text = self.ctl("explain", "--c", "--profile", "vpx5-nsim", "jobs.json", code=0).out
        self.assertIn("(uint8_t *)(uintptr_t)0x90000000u /* tile */", text)
        self.assertNotIn("static uint8_t buffer_", text)
        self.assertNotIn("move_all", self.ctl("explain", "--c", "--job", "load0", "jobs.json", "--profile",
                                              "vpx5-nsim", code=0).out)

    def test_a_staged_job_without_a_name(self):
        self.write("a.npy", npy("|i1", (6, 5, 4), ramp(120)))
        self.write("job.json", json.dumps({"op": "permute", "stage": "vccm", "cfg": {"perm_dim": [2, 0, 1]},
                                           "src": {"file": "a.npy", "type": "sa8"}, "dst": {"file": "b.npy"}}).encode())
        text = self.ctl("explain", "--c", "--profile", "vpx5-nsim", "job.json", code=0).out
        for number in range(3):
            self.assertIn(f"mli_status move_{number}(", text)
            self.assertIn(f"status = move_{number}(", text)
        self.assertIn("(uint8_t *)(uintptr_t)0x90000000u /* stage.in */", text)

    def test_make(self):
        """`make --c` prints the function that `explain --c` prints for the job that it makes."""
        self.write("a.npy", npy("|i1", (4, 3), ramp(12)))
        words = ("make", "mov", "a.npy", "b.npy", "--perm", "1,0", "--pad", "1,0")
        made = self.ctl(*words, "--c", "-o", "job.json", code=0).out
        explained = self.ctl("explain", "--c", "job.json", code=0).out
        self.assertEqual(made, explained.replace("mlictl explain", "mlictl make"))
        self.assertIn("mli_status move_0(const void *src, void *dst)", made)
        for more, message in ((("--run",), "--run"), (("--json",), "--json")):
            self.assertIn(message, self.ctl(*words, "--c", *more, code=2).err)
        self.assertIn("a2.npy does not exist", self.ctl("make", "mov", "a2.npy", "b.npy", "--c", code=2).err)
        # explain accepts missing files that a run will write later.
        self.ctl(*words, "--c", "--expect", "none.npy", code=0)

    def test_names_and_comments(self):
        self.write("a.npy", npy("|i1", (4,), ramp(4)))
        jobs = [{"op": "mov", "name": name, "src": {"file": "a.npy"}, "dst": {"file": f"{i}.npy"}}
                for i, name in enumerate(("int", "a-b", "a_b", "x.y:z", "7"))]
        jobs.append({"op": "mov", "src": {"file": "a.npy"}, "dst": {"file": "*.npy"}})
        self.write("jobs.json", json.dumps(jobs).encode())
        text = self.ctl("explain", "--c", "jobs.json", code=0).out
        for name in ("move_int(", "move1_a_b(", "move_a_b(", "move3_x_y_z(", "move4_7(", "move_5("):
            self.assertIn(name, text)
        (self.dir / "names.c").write_text(text)
        subprocess.run([COMPILER, "-std=c11", "-Wall", "-Wextra", "-Werror", "-c",
                        f"-I{SOURCE}/libmli/include", "names.c"], cwd=self.dir, check=True,
                       timeout=60)

    def test_names_of_functions_are_unique(self):
        self.write("a.npy", npy("|i1", (4,), ramp(4)))
        names = [{"name": name} for name in ("all", "all_1", "4", "a-b", "a_b_3", "move")] + [{}]
        for path in ("one.json", "two.json"):
            self.write(path, json.dumps([dict(more, op="mov", src={"file": "a.npy"}, dst={"file": f"{i}.npy"})
                                         for i, more in enumerate(names)]).encode())
        for files in (("one.json",), ("one.json", "two.json")):
            text = self.ctl("explain", "--c", *files, code=0).out
            found = re.findall(r"^mli_status (\w+)\(", text, re.MULTILINE)
            self.assertEqual((len(set(found)), len(found)), (8 * len(files),) * 2)
            self.assertIn("move_a_b_3", found)
            (self.dir / "unique.c").write_text(text)
            subprocess.run([COMPILER, "-std=c11", "-Wall", "-Wextra", "-Werror", "-c", f"-I{SOURCE}/libmli/include",
                            "unique.c"], cwd=self.dir, check=True, timeout=60)

    def test_usage(self):
        self.write("a.npy", npy("|i1", (4,), ramp(4)))
        self.write("job.json", b'{"op": "mov", "src": {"file": "a.npy"}, "dst": {"file": "b.npy"}}')
        for options in (("--json",), ("--svg", "-")):
            self.assertIn("cannot be combined", self.ctl("explain", "--c", *options, "job.json", code=2).err)


if __name__ == "__main__":
    main()
