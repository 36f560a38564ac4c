# SPDX-License-Identifier: BSD-3-Clause
"""Tests of completion for all shells: every option of every command, with the values that its help names."""
import json
import re

# Words that an option takes. The key is the name of the option's value in the help; if this name
# has several meanings, the command and the option.
WORDS = {
    "TYPE": "fx8 fx16 sa8 sa32 fp16 fp32", "FIGURE": "time traffic", "WORD": "pass fail", "WHEN": "auto always never",
    "STATES": "waiting queued running done failed cancelled", "npy|raw": "npy raw",
    "DTYPE": "int8 int16 int32 int64 uint8 uint16 uint32 uint64 bool float16 float32 float64 complex64 complex128 "
             "void8 void16 void32 void64 void128",
    "gen --pattern": "zeros ones index ramp checker random", "selftest --mode": "sync poll wait callback mixed",
    "import --format": "onnx tflite",
    "show --format": "npy npz safetensors raw pb onnx tflite", "diff --format": "npy npz safetensors raw pb onnx tflite",
}
FILES = {"FILE", "PATH", "GOLDEN", "STATE", "W.npy", "IN2.npy"}
OPTION = re.compile(r"^  (?:(-\w), |    )(--[a-z-]+)(?: (\S+))?", re.M)


class Completions:
    """Tests for every shell. Its class defines complete_all(lines), which returns the words that the shell offers at the
    end of each line, and fails if the shell or the script prints anything else."""

    def complete(self, line):
        return self.complete_all([line])[0]

    def commands(self):
        out = self.ctl("--help", code=0).out.split("exit codes:")[0]
        return set(re.findall(r"^  ([a-z]+) ", out, re.M))

    def options(self, command):
        """Returns (letter or "", name, name of the value or "") of each option in the help."""
        return OPTION.findall(self.ctl(command, "--help", code=0).out)

    def profiles(self):
        lines = self.ctl("profile", "list", "--json", code=0).out.splitlines()
        return {json.loads(line)["name"] for line in lines}

    def expected(self, command, name, value):
        """Returns the offered values of an option."""
        words = WORDS.get(f"{command} {name}", WORDS.get(value))
        if words:
            return set(words.split())
        if (name, value) == ("--profile", "NAME"):
            return self.profiles()
        if value == "SPEC":
            return self.engines
        if value in ("JOB.json", "JOBS.json") or (command, name) == ("optimise", "--output"):
            return {"a.json", "deep"}
        return {"deep"} if value == "DIR" else {"a.json", "a.npy", "deep"} if value in FILES else set()

    def write_files(self):
        for name in ("a.json", "a.npy", "deep/c.json"):
            self.write(name, b"")

    def test_options_of_every_command_are_those_of_its_help(self):
        commands = sorted(self.commands())
        for command, found in zip(commands, self.complete_all([f"mlictl {command} --" for command in commands]),
                                  strict=True):
            self.assertEqual(found, {name for _, name, _ in self.options(command)}, command)

    def test_every_value_of_every_option(self):
        self.write_files()
        self.engines = self.complete("mlictl run --engine ")
        self.assertLessEqual({"threads", "inline", "fault"}, self.engines)
        cases = []
        for command in sorted(self.commands()):
            for letter, name, value in self.options(command):
                if value:
                    expected = self.expected(command, name, value)
                    cases += [(f"mlictl {command} {given}", expected) for given in
                              [f"{name} ", f"{name}=", f"{letter} "][:3 if letter else 2]]
        self.assertGreater(len(cases), 400)
        for (line, expected), found in zip(cases, self.complete_all([line for line, _ in cases]), strict=True):
            prefix = line.split(" ")[-1]  # fish offers "--name=value", the others the value
            self.assertEqual({word.removeprefix(prefix).rstrip("/") for word in found}, expected, line)

    def test_arguments_after_every_option_without_a_value(self):
        """After an option without a value, the shell offers the same arguments as without the
        option."""
        self.write_files()
        lines = []
        for command in sorted(self.commands() - {"batch", "make", "profile"}):  # their first arguments are verbs
            lines += [f"mlictl {command} "]
            lines += [f"mlictl {command} {given} " for letter, name, value in self.options(command)
                      for given in (letter, name) if given and not value]
        without = set()
        for line, found in zip(lines, self.complete_all(lines), strict=True):
            without = found if line.count(" ") == 2 else without
            found = {word for word in found if not word.startswith("-")}
            self.assertEqual(found, {word for word in without if not word.startswith("-")}, line)

    def test_profiles(self):
        """The shell offers profiles by name, and files only if no profile begins with the word."""
        self.write("vendor.json", b"{}")
        self.write_files()
        profiles = self.profiles()
        self.assertIn("vpx5-nsim", profiles)
        for line in ("run --profile ", "submit --profile ", "tile --profile ", "batch --profile ", "profile show ",
                     "profile check "):
            line = f"mlictl {line}"
            self.assertEqual(self.complete(line), profiles, line)
            self.assertEqual(self.complete(f"{line}v"), {"vpx5-nsim"}, line)
            self.assertEqual(self.complete(f"{line}ve"), {"vendor.json"}, line)
            self.assertEqual({word.removeprefix("deep/") for word in self.complete(f"{line}deep/")}, {"c.json"}, line)
            self.assertEqual(self.complete(f"{line}nothing"), set(), line)

    def test_verbs_or_files(self):
        self.write_files()
        found = {word.rstrip("/") for word in self.complete("mlictl batch ")}
        self.assertEqual(found, {"merge", "enqueue", "collect", "status"} | {"a.json", "a.npy", "deep"})
