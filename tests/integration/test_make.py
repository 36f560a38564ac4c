# SPDX-License-Identifier: BSD-3-Clause
"""Tests mlictl make: from every directory, the job that it makes does what the options say."""
import json
import os

from harness import Case, main, npy, ramp


class MakeCase(Case):
    def setUp(self):
        super().setUp()
        self.write_npy("in.npy")

    def make(self, *words, op="mov", **more):
        return self.ctl("make", op, "in.npy", "out.npy", *words, **more)

    def job(self, *words, **more):
        result = self.make(*words, code=0, **more)
        job = json.loads(result.out)
        self.assertEqual((result.err, result.out.count("\n")), ("", len(job) + 2))
        return job


class Options(MakeCase):
    def test_only_given_members_are_written(self):
        self.assertEqual(self.make(code=0).out, '{\n  "op": "mov",\n  "src": {"file": "in.npy"},\n'
                         '  "dst": {"file": "out.npy"}\n}\n')
        self.assertEqual(self.make("--json", code=0).out, '{"op":"mov","src":{"file":"in.npy"},'
                         '"dst":{"file":"out.npy"}}\n')

    def test_each_option(self):
        for words, member, value in (
                (["--slice", "-1:,::2,:"], "slice", "-1:,::2,:"),
                (["--slice=...,1:"], "slice", "...,1:"),
                (["--pad", "0,1,2"], "cfg", {"padding_pre": [0, 1, 2], "padding_post": [0, 1, 2]}),
                (["--pad", "0,1:2,255:0"], "cfg",
                 {"padding_pre": [0, 1, 255], "padding_post": [0, 2, 0]}),
                (["--perm", "2,0,1"], "cfg", {"perm_dim": [2, 0, 1]}),
                (["--perm", "-1,0,-2"], "cfg", {"perm_dim": [2, 0, 1]}),
                (["--at", "0,7,429"], "cfg", {"dst_offset": [0, 7, 429]}),
                (["--type", "sa8"], "src", {"file": "in.npy", "type": "sa8"}),
                (["--expect", "golden.npy"], "expect", {"file": "golden.npy"}),
                (["--expect", "sha256:" + 64 * "0"], "expect", {"digest": "sha256:" + 64 * "0"}),
                (["--channels", "16"], "channels", 16),
                (["--name", "tile-0:a_B.c"], "name", "tile-0:a_B.c"),
                (["--update"], "dst", {"file": "out.npy", "update": True})):
            with self.subTest(words=words):
                job = {"op": "mov", "src": {"file": "in.npy"}, "dst": {"file": "out.npy"}}
                made = self.job(*words)
                self.assertEqual(made, dict(job, **{member: value}))

    def test_all_options_together(self):
        self.assertEqual(self.job("--slice", ":", "--pad", "1,1,1", "--perm", "2,1,0", "--at",
                                  "0,0,3", "--type", "fx8", "--channels", "2", "--name", "n",
                                  "--expect", "g.npy", "-q"), {
            "op": "mov", "name": "n", "slice": ":", "channels": 2,
            "cfg": {"padding_pre": [1, 1, 1], "padding_post": [1, 1, 1], "perm_dim": [2, 1, 0],
                    "dst_offset": [0, 0, 3]},
            "src": {"file": "in.npy", "type": "fx8"}, "dst": {"file": "out.npy"},
            "expect": {"file": "g.npy"}})

    def test_permute(self):
        self.assertEqual(self.job("--perm", "2,0,1", op="permute"), {
            "op": "permute", "src": {"file": "in.npy"}, "dst": {"file": "out.npy"},
            "cfg": {"perm_dim": [2, 0, 1]}})
        self.assertIn("a permute requires --perm", self.make(op="permute", code=2).err)
        for words in (["--slice", ":"], ["--pad", "0,0,0"], ["--at", "0,0,0"]):
            self.assertIn(f"{words[0]}: a permute takes --perm only",
                          self.make("--perm", "2,0,1", *words, op="permute", code=2).err)

    def test_raw_files(self):
        self.write("in.bin", ramp(30))
        words = ("make", "mov", "in.bin", "out.bin", "--type", "fx16", "--shape", "2,7")
        self.assertEqual(self.ctl(*words, "--offset", "2", "--json", code=0).json[0]["src"], {
            "file": "in.bin", "type": "fx16", "shape": [2, 7], "offset": 2})
        self.ctl(*words, "--offset", "2", "--run", code=0)
        self.assertEqual(self.read("out.bin"), ramp(30)[2:])
        self.assertIn("27 B", self.ctl(*words, "--offset", "3", code=2).err)
        for less in (words[:4], words[:6], words[:4] + words[6:]):
            self.assertIn("give --shape and --type", self.ctl(*less, code=2).err)
        for more in (["--shape", "24"], ["--offset", "1"]):
            self.assertIn(more[0] + " describes raw files", self.make(*more, code=2).err)

    def test_tensors_of_archives(self):
        for name in ("none.npz", "none.safetensors"):
            made = self.ctl("make", "mov", name, "out.npy", "--tensor", "conv1/w", "--json", code=0)
            self.assertEqual(made.json[0]["src"], {"file": name, "tensor": "conv1/w"})
            self.assertIn("--shape describes raw files", self.ctl(
                "make", "mov", name, "out.npy", "--shape", "1", code=2).err)
        self.assertIn("in.npy is not an archive or a model",
                      self.make("--tensor", "x", code=2).err)

    def test_a_tensor_of_an_archive(self):
        entry = {"dtype": "I8", "shape": [4, 6], "data_offsets": [0, 24]}
        header = json.dumps({"w": entry, "v": dict(entry, data_offsets=[24, 48])}).encode()
        self.write("m.safetensors", len(header).to_bytes(8, "little") + header + ramp(48))
        words = ("make", "mov", "m.safetensors", "out.npy", "--slice", "-1:,::2", "--run")
        self.ctl(*words, "-t", "v", code=0)
        self.assertEqual(self.read("out.npy"), npy("|i1", (1, 3), ramp(48)[42::2]))
        for more in ([], ["--tensor", "x"]):
            self.assertIn('"w", "v"', self.ctl(*words, *more, code=2).err)

    def test_wrong_usage(self):
        for words in ((), ("mov",), ("mov", "in.npy"), ("mov", "in.npy", "out.npy", "x.npy")):
            self.assertIn("usage: mlictl make", self.ctl("make", *words, code=2).err)
        self.assertIn("mov or permute is needed", self.make(op="copy", code=2).err)
        for text in ("sha256:", "sha256:0", "sha256:" + 63 * "0" + "g"):
            self.assertIn("64 hexadecimal digits are needed",
                          self.make("--expect", text, code=2).err)
        self.make("--expect", "./sha256:0", code=0)
        self.assertIn("requires --output or --run", self.make("-f", code=2).err)

    def test_bad_values(self):
        for words in (["--pad", "256"], ["--pad", "-1"], ["--pad", ""], ["--pad", "1,,2"],
                      ["--pad", "1,2,"], ["--pad", "1:"], ["--pad", "1:2:3"], ["--pad", "x"],
                      ["--pad", "0,0,0,0,0,0,0,0,0"], ["--perm", "0:1"], ["--perm", "8,0,1"],
                      ["--perm", "2 ,0,1"], ["--at", "-1"], ["--at", "4294967296"],
                      ["--at", "99999999999999999999"], ["--at", "+1"]):
            with self.subTest(words=words):
                self.assertIn(f"mlictl: {words[0]} {words[1]}: requires 1 to 8 numbers from ",
                              self.make(*words, code=2).err)
        for perm in ("0,0,1", "1,2,3", "0,1,-1,-1", "-4,0,1"):
            self.assertIn("is needed once", self.make("--perm", perm, code=2).err)
        for words, text in ((["--slice", "3"], "--slice 3: entry 1 is the index 3"),
                            (["--slice", "1:2]"], "--slice 1:2]: character 4 is ']'"),
                            (["--slice", ""], "--slice : the text ends"),
                            (["--slice", " " * 600 + ":"], "at most 512"),
                            (["--type", "int8"], "--type int8: "),
                            (["--type", "fp32"], "elements of 4 B"),
                            (["--channels", "17"], "from 1 to 16"),
                            (["--name", "a b"], "name: a name may contain only"),
                            (["--tensr", "x"], "unknown option")):
            with self.subTest(words=words):
                self.assertIn(text, self.make(*words, code=2).err)


class Checks(MakeCase):
    """make reports an error in the job if the existing files show it."""

    def assert_wrong(self, text, *words):
        for more in ([], ["--run"], ["-o", "job.json"]):
            result = self.make(*words, *more, "--json", code=2)
            self.assertIn(text, result.err)
            self.assertIn(text, result.json[0]["error"]["message"])
            self.assertFalse(self.exists("job.json") or self.exists("out.npy"))

    def test_against_the_tensor(self):
        self.assert_wrong("slice: nothing is selected of dimension 0", "--slice", "2:")
        self.assert_wrong("slice: 4 entries given, but the source has 3", "--slice", ":,:,:,:")
        self.assert_wrong("cfg.perm_dim: 2 entries given", "--perm", "1,0")
        self.assert_wrong("cfg.padding_pre: 1 entries given", "--pad", "1")
        self.assert_wrong("src.type: fx16 has elements of 2 B", "--type", "fx16")

    def test_against_the_other_files(self):
        self.write_npy("golden.npy", shape=(4, 3, 2))
        self.assert_wrong("expect: shapes differ", "--expect", "golden.npy")
        self.make("--expect", "golden.npy", "--perm", "2,1,0", code=0)
        self.write_npy("out2.npy", shape=(2, 3, 3))
        result = self.ctl("make", "mov", "in.npy", "out2.npy", "--update", code=2)
        self.assertIn("the result ends at 4", result.err)
        self.assertIn("same file as src.file", self.ctl("make", "mov", "in.npy", "./in.npy",
                                                       code=2).err)

    def test_files_that_do_not_exist_yet(self):
        for words in (["none.npy", "out.npy", "--slice", "1:", "--pad", "0,1"],
                      ["in.npy", "out.npy", "--expect", "none.npy"],
                      ["in.npy", "none.npy", "--update"], ["in.npy", "none/out.npy"],
                      ["none.npy", "none/out.npy", "--expect", "none.npy", "--update"]):
            with self.subTest(words=words):
                self.ctl("make", "mov", *words, code=0)

    def test_inconsistent_lists_without_a_tensor(self):
        words = ("make", "mov", "none.npy", "out.npy")
        for more, text in ((["--pad", "1,1", "--perm", "2,0,1"],
                            "cfg.perm_dim: 3 entries given, but cfg.padding_pre has 2"),
                           (["--perm", "1,0", "--at", "1"],
                            "cfg.dst_offset: 1 entries given, but cfg.perm_dim has 2"),
                           (["--slice", ":,:,:", "--at", "1,2"],
                            "slice: 3 entries given, but cfg.dst_offset has 2")):
            self.assertIn(text, self.ctl(*words, *more, code=2).err)
        self.ctl(*words, "--slice", ":,...", "--at", "1,2", code=0)
        self.assertIn("slice: 2 entries given, but src.shape has 1",
                      self.ctl("make", "mov", "none.bin", "out.npy", "--type", "fx8", "--shape",
                               "7", "--slice", ":,:", code=2).err)

    def test_names_that_json_cannot_hold(self):
        self.assertIn("not UTF-8", self.ctl("make", "mov", b"\xff.npy", "out.npy", code=2).err)


class Outputs(MakeCase):
    def test_paths_in_text_are_relative_to_the_working_directory(self):
        (self.dir / "sub").mkdir()
        self.assertEqual(self.make("-o", "sub/job.json", code=0).out, "sub/job.json: mov in.npy -> out.npy\n")
        self.assertEqual(json.loads(self.read("sub/job.json"))["src"], {"file": "../in.npy"})

    def test_the_file_is_written_atomically(self):
        result = self.make("-o", "job.json", code=0)
        self.assertEqual(result.out, "job.json: mov in.npy -> out.npy\n")
        before = self.read("job.json")
        self.assertIn("job.json exists; --force replaces it",
                      self.make("--channels", "2", "-o", "job.json", code=2).err)
        self.assertEqual(self.read("job.json"), before)
        self.make("--channels", "2", "-o", "job.json", "--force", "-q", code=0)
        self.assertEqual(json.loads(self.read("job.json"))["channels"], 2)
        self.assertIn("must exist", self.make("-o", "none/job.json", code=2).err)
        self.assertEqual(sorted(os.listdir(self.dir)), ["in.npy", "job.json"])

    def test_the_job_does_not_overwrite_its_own_files(self):
        before = self.read("in.npy")
        for target in ("in.npy", "./in.npy", "out.npy", "golden.npy"):
            for more in ([], ["--force"]):
                self.assertIn("the job reads or writes this file", self.make(
                    "--expect", "golden.npy", "-o", target, *more, code=2).err)
        self.assertEqual((os.listdir(self.dir), self.read("in.npy")), (["in.npy"], before))

    def test_json(self):
        job = json.loads(self.make(code=0).out)
        self.assertEqual(self.make("--json", code=0).json, [job])
        self.assertEqual(self.make("--json", "-o", "job.json", code=0).json,
                         [{"file": "job.json", "job": job}])
        self.assertEqual(json.loads(self.make("-o", "-", code=0).out), job)

    def test_the_printed_job_runs(self):
        text = self.make("--perm", "2,0,1", code=0).out
        self.ctl("run", "-", stdin=text, code=0)
        self.assertEqual(self.read("out.npy")[:128], npy("|i1", (4, 2, 3), b""))

    def test_names_are_relative_to_the_job(self):
        """The job names the right files, even if directories are links."""
        os.makedirs(self.path("a/b/c"))
        os.symlink("a/b", self.path("link"))
        os.symlink("../..", self.path("a/b/top"))
        self.write_npy("a/in.npy", data=bytes(24))
        for cwd, source, out, target, wanted in (
                (".", "in.npy", "out.npy", "job.json", "in.npy"),
                (".", "./in.npy", ".//out.npy", "./job.json", "in.npy"),
                (".", "in.npy", "out.npy", "a/job.json", "../in.npy"),
                (".", "a/in.npy", "a/out.npy", "a/job.json", "in.npy"),
                (".", "a/in.npy", "a/b/out.npy", "a/b/c/job.json", "../../in.npy"),
                (".", "in.npy", "out.npy", "link/job.json", "../../in.npy"),
                (".", "link/../in.npy", "link/out.npy", "job.json", "link/../in.npy"),
                (".", "link/../in.npy", "link/out.npy", "link/job.json", "../../link/../in.npy"),
                (".", "link/top/in.npy", "link/top/out.npy", "a/job.json", "../link/top/in.npy"),
                ("a/b", "../in.npy", "../out.npy", "../job.json", "in.npy"),
                ("a/b", "../../in.npy", "../c.npy", "c/job.json", "../../../in.npy"),
                ("link", "../in.npy", "../out.npy", "../../job.json", "a/in.npy"),
                ("a", "../in.npy", self.path("abs.npy"), "b/job.json", "../../in.npy")):
            with self.subTest(cwd=cwd, source=source, target=target):
                directory = os.path.realpath(os.path.join(self.dir, cwd))
                self.ctl("--json", "make", "mov", source, out, "-o", target, "-f", code=0,
                         cwd=directory)
                job = os.path.join(directory, target)
                with open(job) as file:
                    self.assertEqual(json.load(file)["src"]["file"], wanted)
                self.ctl("run", job, code=0)
                with open(os.path.join(directory, source), "rb") as a:
                    with open(os.path.join(directory, out), "rb") as b:
                        self.assertEqual(a.read(), b.read())
                os.unlink(os.path.join(directory, out))

    def test_golden_files_are_relative_and_absolute_names_stay(self):
        os.mkdir(self.path("jobs"))
        golden = self.write_npy("golden.npy")
        for name, wanted in (("golden.npy", "../golden.npy"), (golden, golden)):
            self.make("--expect", name, "-o", "jobs/job.json", "-f", code=0)
            job = json.loads(self.read("jobs/job.json"))
            self.assertEqual(job["expect"], {"file": wanted})
            self.assertEqual(job["dst"], {"file": "../out.npy"})
        self.ctl("run", "jobs/job.json", code=0)


class Runs(MakeCase):
    def test_run(self):
        result = self.make("--slice", "1:,:,::2", "--run", code=0)
        self.assertRegex(result.out, r"^make: mov \(2, 3, 4\) -> \(1, 3, 2\) fx8, 6 B in ")
        self.assertEqual(self.read("out.npy"), npy("|i1", (1, 3, 2), bytes(range(12, 24, 2))))
        self.assertEqual(self.make("--run", "-q", "--force", code=0).out, "")
        fact = self.make("--run", "--json", "--name", "n", "-f", code=0).json[0]
        self.assertEqual((fact["state"], fact["name"], fact["file"]), ("done", "n", "make"))

    def test_run_and_keep_the_job(self):
        self.make("--run", "-o", "job.json", code=0)
        self.assertEqual(sorted(os.listdir(self.dir)), ["in.npy", "job.json", "out.npy"])

    def test_only_force_replaces_the_output(self):
        self.write("out.npy", "precious")
        before = self.listing()
        for more in ((), ("-o", "job.json"), ("--json",)):
            result = self.make("--run", *more, code=2)
            self.assertIn("out.npy exists; --force replaces it", result.err)
            self.assertEqual(self.listing(), before)
        self.make(code=0)  # prints the job, and writes no file
        self.make("--run", "--force", code=0)
        self.assertEqual(self.read("out.npy"), self.read("in.npy"))
        self.assertIn("--force requires --output or --run", self.make("--force", code=2).err)

    def test_an_output_may_have_any_name(self):
        self.ctl("make", "mov", "in.npy", "make", "--run", code=0)
        self.ctl("run", "-", code=0, stdin=self.ctl("make", "mov", "in.npy", "stdin", code=0).out)
        self.assertEqual(self.read("make"), self.read("stdin"))

    def test_update_at_a_place(self):
        self.write_npy("out.npy", shape=(2, 3, 8), data=bytes(48))
        self.make("--update", "--at", "0,0,4", "--run", code=0)
        got = self.read("out.npy")[128:]
        self.assertEqual([got[i:i + 8] for i in range(0, 48, 8)],
                         [bytes(4) + ramp(24)[i:i + 4] for i in range(0, 24, 4)])

    def test_expect(self):
        self.make("--expect", "in.npy", "--run", code=0)
        self.write_npy("golden.npy", data=bytes(24))
        self.assertIn(": expect: 23 of 24", self.make("--expect", "golden.npy", "--run",
                                                     "--force", code=1).err)

    def test_channels(self):
        fact = self.make("--channels", "16", "--run", "--json", code=0).json[0]
        self.assertEqual(fact["state"], "done")

    def test_a_missing_file(self):
        result = self.ctl("make", "mov", "none.npy", "out.npy", "--run", code=2)
        self.assertIn("none.npy: No such file", result.err)


if __name__ == "__main__":
    main()
