# SPDX-License-Identifier: BSD-3-Clause
"""Replays every example of PROTOCOL.md; every method and every error must have an example."""
import os
import re
import subprocess
import sys
import textwrap

from examples import Malformed, errors, methods, parse, request_of
from replay import Replay, impossible, start
from service import PROTOCOL, Case, main

TEXT = PROTOCOL.read_text()
EXAMPLES = parse(TEXT)
QUICK = 1  # seconds to wait for a line that must not arrive


class Document(Case):
    def test_there_are_examples(self):
        self.assertGreater(len(EXAMPLES), 15)
        self.assertGreater(len(methods(TEXT)), 15)

    def test_every_method_has_an_example(self):
        sent = {request_of(step).get("method") for example in EXAMPLES
                for step in example.texts("send")}
        self.assertEqual(set(methods(TEXT)) - sent, set())

    def test_every_error_has_an_example(self):
        shown = {}
        for example in EXAMPLES:
            for step in example.texts("expect"):
                if "error" in step.value:
                    error = step.value["error"]
                    shown[error["data"]["name"]] = error["code"]
        self.assertEqual(shown, errors(TEXT))

    def test_the_client_in_twenty_lines(self):
        service = self.service()
        service.connect().close()
        code = TEXT.split("\n## A client in twenty lines\n")[1].split("\n## ")[0]
        run = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True,
                             text=True, timeout=60, env=dict(
                                 os.environ, XDG_RUNTIME_DIR=os.path.dirname(service.socket)))
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn(r"b'\x00\x03\x01\x04\x02\x05'", run.stdout)


class Examples(Case):
    """Has one test for each example; the tests are added below."""

    def replay(self, example):
        reason = impossible(example)
        if reason:
            self.skipTest(f"line {example.line}: {reason}")
        service = start(self, example)
        found = Replay(example, service).run()
        self.assertEqual(found, [], "\n" + "\n".join(found) + "\n" + service.text())


for found in EXAMPLES:
    setattr(Examples, f"test_line_{found.line:04}",
            lambda self, example=found: self.replay(example))


class Wrong(Case):
    """Changed, wrong examples must fail: a replay that accepted everything would prove nothing."""

    PING = ('> {"jsonrpc":"2.0","id":1,"method":"daemon.ping"}\n'
            '< {"jsonrpc":"2.0","id":1,"result":{"pong":true}}\n')
    MOVE = ('# fds A=000102030405 B=zeros:6\n'
            '> {"jsonrpc":"2.0","id":1,"method":"job.submit","fds":2,"params":{"op":"mov",\n'
            '   "src":{"fd":0,"type":"fx8","shape":[6]},"dst":{"fd":1}}}\n'
            '< {"jsonrpc":"2.0","id":1,"result":{"job":1,\n'
            '   "dst":{"type":"fx8","shape":[6],"strides":[1],"frac_bits":0},\n'
            '   "cost":{"bytes":6,"channels":1,"engine":"threads","ns_queued":1,"ns_moving":1}}}\n')

    def example(self, text):
        found = parse(textwrap.indent(text, "    "))
        self.assertEqual(len(found), 1)
        return found[0]

    def replayed(self, text):
        example = self.example(text)
        return Replay(example, start(self, example), QUICK).run()

    def malformed(self, text, words):
        with self.assertRaisesRegex(Malformed, words):
            self.example(text)

    def test_malformed(self):
        for text, words in (
                (self.PING + "# wait 3\n", "not among the rules"),
                (self.PING + "what?\n", "neither sent nor said"),
                ("# fds A=00\n" + self.PING.replace("> ", "", 1), "neither sent"),
                ("# fds A=00\n# end\n" + self.PING, "nothing sent with them"),
                ("# fds A\n" + self.PING, "no A before"),
                ("# fds A=0\n" + self.PING, "hex"),
                (self.PING + "# file A 00\n", "no A before"),
                (self.PING + "# truncate A\n", "no A before"),
                (self.PING + "# config [1]\n", "no object"),
                (self.PING.replace("true", "true,"), "line 2"),
                (self.PING.replace('"pong":true', '"pong":true,"pong":true'), "twice"),
                (self.PING.replace('< {"jsonrpc":"2.0","id":1', '< {"jsonrpc":"2.0","id":2'),
                 "to nothing"),
                (self.PING + '> {"jsonrpc":"2.0","id":2,"method":"daemon.ping"}\n', "unanswered"),
                (self.PING.splitlines()[0], "nothing is expected")):
            with self.subTest(text=text):
                self.malformed(text, words)

    def test_blocks(self):
        """Empty lines separate conversations; blocks without arrows are not examples."""
        text = textwrap.indent(f"{self.PING}\n{self.PING}\nprint(1)\n\n{{}}\n", "    ")
        self.assertEqual([example.line for example in parse("text\n\n" + text)], [3, 6])
        self.assertEqual(parse(self.PING), [])

    def test_correct_examples(self):
        self.assertEqual(self.replayed(self.PING), [])
        self.assertEqual(self.replayed(self.MOVE + "# file B 000102030405\n"), [])

    def test_wrong_values(self):
        for right, wrong, words in (
                ('"pong":true', '"pong":false', "/result/pong: False expected"),
                ('"pong":true', '"pong":1', "/result/pong: 1 expected"),
                ('"pong":true', '"pong":true,"more":1', "/result/more: did not come"),
                ('"pong":true', '', "/result/pong: not expected")):
            found = self.replayed(self.PING.replace(right, wrong))
            self.assertRegex("\n".join(found), words)

    def test_wrong_results(self):
        for right, wrong, words in (
                ('"shape":[6],"strides"', '"shape":[7],"strides"', "/result/dst/shape/0: 7"),
                ('"strides":[1]', '"strides":[1,1]', "/result/dst/strides: 2 expected"),
                ('"ns_moving":1', '"ns_moving":"1"', "/result/cost/ns_moving: '1'"),
                ('"job":1', '"job":2', "/result/job: 2")):
            found = self.replayed(self.MOVE.replace(right, wrong))
            self.assertRegex("\n".join(found), words)
        self.assertRegex("\n".join(self.replayed(self.MOVE + "# file B 000102030406\n")), "B holds")

    def test_wrong_order(self):
        ghost = '< {"jsonrpc":"2.0","method":"event","params":{}}\n'
        self.assertRegex(self.replayed(self.PING + ghost)[0], "does not come")
        self.assertRegex(self.replayed(self.PING + "# end\n")[0], "does not end")
        self.assertTrue(self.replayed(self.PING.replace('"method"', '"fds":1,"method"')))
        self.assertRegex("\n".join(self.replayed(f"# fds A=00\n{self.PING}")), "not shown|Closed")
        answered = self.MOVE.splitlines(True)
        more = "".join(answered[:3]) + "# end\n" + "".join(answered[3:])
        self.assertTrue(self.replayed(more))

    def test_messages(self):
        text = ('> {"jsonrpc":"2.0","id":1,"method":"daemon.pin"}\n'
                '< {"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"*",\n'
                '   "data":{"name":"METHOD_NOT_FOUND","pointer":"/method"}}}\n')
        self.assertEqual(self.replayed(text), [])
        found = self.replayed(text.replace('"*"', '"no"'))
        self.assertTrue(re.search("/error/message: 'no' expected", found[0]), found)


if __name__ == "__main__":
    main()
