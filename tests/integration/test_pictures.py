# SPDX-License-Identifier: BSD-3-Clause
"""Tests the drawings of mlictl explain (valid XML, correct counts, renderable) and its pictures of characters (they
fit the terminal). tests/unit/explain tests the cells."""
import math
import os
import re
import shutil
import struct
import subprocess
import unittest
import xml.etree.ElementTree as ElementTree
import zlib

from harness import MLICTL, SOURCE, Case, main, mov, sampled
from screen import Screen

SVG = "{http://www.w3.org/2000/svg}"
RSVG = shutil.which("rsvg-convert")
ESCAPE = re.compile(r"\033\[[0-9;?]*[a-zA-Z]")
MOVED = "moved, the same colour on both sides"

SHAPE = (2, 3, 4, 5)


def figures():
    """Returns (name, shape of the source, cfg) of the moves that the specification has drawings of, for every rank."""
    for rank in range(1, 5):
        shape = SHAPE[-rank:]
        cfgs = {
            "copy": {},
            "slice": {"offset": [0, 1, 1, 1][-rank:], "size": [2, 2, 3, 3][-rank:]},
            "concat": {"dst_offset": [shape[0]] + [0] * (rank - 1)},
            "subsample": {"sub_sample_step": [1, 2, 3, 2][-rank:]},
            "permute": {"perm_dim": [*range(1, rank), 0]},
            "pad": {"padding_pre": [0, 0, 1, 2][-rank:], "padding_post": [0, 1, 1, 0][-rank:]},
        }
        for name, cfg in cfgs.items():
            yield f"{name}_{rank}", shape, cfg


# Moves that are hard to draw: (shape, cfg).
HARD = {
    "image": ((224, 224, 3), {"padding_pre": [1, 1, 0], "padding_post": [1, 1, 0],
                              "size": [58, 58, 3], "perm_dim": [2, 0, 1]}),
    "wide": ((96, 4088), {"offset": [16, 1024], "size": [64, 512]}),
    "weights": ((3, 3, 64, 128), {"perm_dim": [3, 0, 1, 2]}),
    "in_padding": ((5, 6), {"padding_pre": [3, 3], "size": [3, 6]}),
    "ones": ((1, 1, 8, 1), {"perm_dim": [3, 2, 1, 0]}),
    "one": ((1,), {}),
    "step_1000": ((3000, 50), {"offset": [7, 0], "sub_sample_step": [1000, 3]}),
    "everything": ((20, 30, 16), {"padding_pre": [2, 2, 0], "padding_post": [2, 2, 0],
                                  "offset": [0, 5, 0], "size": [12, 20, 16],
                                  "sub_sample_step": [2, 2, 1], "perm_dim": [2, 0, 1]}),
}


def pixels(png):
    """Returns the rows of a PNG without undoing their filters, which is enough to see whether the picture is empty."""
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    data, at = b"", 8
    while at < len(png):
        length, kind = struct.unpack_from(">I4s", png, at)
        if kind == b"IHDR":
            width, height = struct.unpack_from(">II", png, at + 8)
        if kind == b"IDAT":
            data += png[at + 8:at + 8 + length]
        at += length + 12
    data = zlib.decompress(data)
    stride = len(data) // height
    assert stride * height == len(data)
    return width, height, [data[i * stride:(i + 1) * stride] for i in range(height)]


class Pictures(Case):
    def job(self, shape, cfg, name="job", **more):
        """Writes a job file; its source is a sparse file of the required size."""
        os.truncate(self.write(f"{name}-in.raw", b""), math.prod(shape))
        src = {"file": f"{name}-in.raw", "type": "fx8", "shape": list(shape)}
        more.setdefault("dst", "dst.raw")
        return self.write(name + ".json", mov(src=src, name=name, **cfg, **more))

    def explain(self, *arguments, code=0):
        return self.ctl("explain", "--no-memcpy", *arguments, code=code)

    def drawing(self, job):
        """Returns the root element of the drawing of a job, and the --json output of the job."""
        fact, = self.explain(job, "--svg", "job.svg", "--json").json
        return self.parsed(self.read("job.svg")), fact

    def parsed(self, text):
        root = ElementTree.fromstring(text)
        self.assertEqual(root.tag, SVG + "svg")
        box = [int(root.get(side)) for side in ("width", "height")]
        self.assertEqual(root.get("viewBox"), f"0 0 {box[0]} {box[1]}")
        self.assertTrue(100 < box[0] < 1800 and 100 < box[1] < 1300, box)
        for element in root.iter():
            self.assertIn(element.tag.removeprefix(SVG),
                          ("svg", "defs", "pattern", "g", "rect", "text", "title", "path", "circle", "line"))
            for name, value in element.attrib.items():
                self.assertNotIn("href", name)
                self.assertFalse(re.search(r"(?i)http:|https:|javascript|url\((?!#)", value), value)
        return root

    def side(self, root, name):
        found, = [group for group in root.iter(SVG + "g") if group.get("class") == name]
        return found

    def cells(self, side, state):
        return sum(len(group.findall(SVG + "rect")) for group in side.iter(SVG + "g")
                   if group.get("class") == state)

    def claims(self, root, words):
        """Returns the number of cells of the tensor, and the number of cells that the drawing shows."""
        texts = [text.text for text in root.iter(SVG + "text") if text.text.startswith(words + ": ")]
        if not texts:
            return 0, 0
        numbers = [int(n) for n in re.findall(r"\d+", texts[0])]
        return numbers[0], numbers[-1]

    def check_drawing(self, root, fact):
        dst = self.side(root, "dst")
        samples = math.prod(axis["count"] for axis in fact["axes"])
        copied = math.prod(axis["hi"] - axis["lo"] for axis in fact["axes"])
        moved, zeros = self.claims(root, MOVED), self.claims(root, "zeros")
        self.assertEqual(moved[0], copied)
        self.assertEqual(zeros[0], samples - copied)
        self.assertEqual(self.cells(dst, "written"), moved[1])
        self.assertEqual(self.cells(dst, "zero"), zeros[1])
        self.assertTrue(copied == 0 or moved[1] > 0)
        self.assertLess(len(list(root.iter(SVG + "rect"))), 4000)
        return moved, zeros

    def check_rendered(self, svg):
        """Expects that rsvg-convert renders the drawing, and that the picture shows more than a frame."""
        done = subprocess.run([RSVG, svg], capture_output=True)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        width, height, rows = pixels(done.stdout)
        self.assertGreater(len({bytes(row) for row in rows}), height // 8)
        return width, height


class Drawings(Pictures):
    def test_figures(self):
        for name, shape, cfg in figures():
            with self.subTest(name):
                root, fact = self.drawing(self.job(shape, cfg, name))
                moved, zeros = self.check_drawing(root, fact)
                self.assertEqual(moved[0], moved[1], "small enough to be shown as a whole")
                src, dst = self.side(root, "src"), self.side(root, "dst")
                self.assertEqual(self.cells(src, "taken"), moved[1])
                self.assertEqual(self.cells(src, "outside") > 0, name.startswith("slice"))
                self.assertEqual(self.cells(src, "skipped") > 0, name.startswith("subsample"))
                self.assertEqual(self.cells(dst, "empty") > 0, name.startswith("concat"))
                self.assertEqual(zeros[1] > 0, name.startswith("pad"))

    def test_difficult_moves(self):
        for name, (shape, cfg) in HARD.items():
            with self.subTest(name):
                root, fact = self.drawing(self.job(shape, cfg, name))
                self.check_drawing(root, fact)

    def test_update(self):
        self.write("dst.raw", bytes(60))
        job = self.job((2, 4), {"dst_offset": [3, 1], "dst_mem_stride": [6, 1]},
                       dst={"file": "dst.raw", "update": True, "shape": [10, 6]})
        root, fact = self.drawing(job)
        self.check_drawing(root, fact)
        self.assertEqual(self.cells(self.side(root, "dst"), "there"), 60 - 8)
        self.assertEqual(self.cells(self.side(root, "dst"), "empty"), 0)

    def test_numbers_are_legible(self):
        """Numbers are white on a dark cell, where white has a contrast of 3 or more, else dark."""
        def luminance(colour):
            channels = [int(colour[i:i + 2], 16) / 255 for i in (1, 3, 5)]
            linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
            return sum(share * c for share, c in zip((0.2126, 0.7152, 0.0722), linear))

        text = self.explain("--svg", "-", self.job((3, 8, 9), {"padding_pre": [0, 1, 1]})).out
        found = re.findall(r'fill="(#......)"><title>[^<]*</title></rect>\s*<text [^>]*fill="(#......)"', text)
        self.assertEqual(len(found), 2 * 3 * 8 * 9)
        self.assertEqual(len({ink for cell, ink in found}), 2)
        for cell, ink in found:
            white = 1.05 / (luminance(cell) + 0.05)
            if abs(white - 3) > 0.05:
                self.assertEqual(ink == "#ffffff", white > 3, (cell, ink, white))

    def test_an_image_is_drawn_by_height_and_width(self):
        """The drawing and the picture of characters have the same planes: one for each channel."""
        job = self.job((32, 40, 3), {"offset": [4, 4, 0], "size": [8, 10, 0]})
        texts = [text.text for text in self.drawing(job)[0].iter(SVG + "text")]
        for plane in "[:, :, 0]", "[:, :, 1]", "[:, :, 2]":
            self.assertEqual(texts.count(plane), 2)
            self.assertIn(plane, self.explain(job).out)

    def test_labels_are_apart(self):
        """The number of planes left out is beside the coordinates of the rows, not on top of them."""
        self.ctl("gen", "old.npy", "--shape", "40,1200,9", "--dtype", "int8", code=0)
        self.ctl("gen", "part.npy", "--shape", "6,10,5", "--dtype", "int8", code=0)
        self.write("job.json", mov("part.npy", {"file": "old.npy", "update": True}, dst_offset=[30, 1050, 2]))
        root = ElementTree.fromstring(self.explain("--svg", "-", "job.json").out)
        side, = (group for group in root.iter(SVG + "g") if group.get("class") == "dst")
        boxes = []
        for text in side.findall(SVG + "text"):
            size = int(text.get("font-size"))
            width = len(text.text) * size * 0.6
            left = int(text.get("x")) - width * {"start": 0, "middle": 0.5, "end": 1}[text.get("text-anchor")]
            boxes.append((text.text, left, left + width, int(text.get("y")) - size * 0.7, int(text.get("y"))))
        for name in "4", "more", "1053":
            self.assertIn(name, [box[0] for box in boxes])
        for i, (a, a_left, a_right, a_top, a_low) in enumerate(boxes):
            for b, b_left, b_right, b_top, b_low in boxes[:i]:
                self.assertFalse(a_left < b_right and b_left < a_right and a_top < b_low and b_top < a_low, (a, b))

    def test_strides(self):
        root, fact = self.drawing(self.job((3, 4), {"dst_mem_stride": [6, 1]}))
        self.check_drawing(root, fact)
        self.assertEqual(self.cells(self.side(root, "dst"), "gap"), 3 * 2)

    def test_names(self):
        """Names of jobs and files are escaped like other texts."""
        self.write("in<b>&.raw", bytes(4))
        src = {"file": "in<b>&.raw", "type": "fx8", "shape": [4]}
        self.write("job.json", mov(src=src, dst="\u00e4\"'.raw"))
        text = self.explain("job.json", "--svg", "-").out
        texts = [t.text for t in self.parsed(text).iter(SVG + "text")]
        self.assertIn("in<b>&.raw", texts)
        self.assertIn("\u00e4\"'.raw", texts)

    def test_the_same_job_gives_the_same_drawing(self):
        job = self.job((20, 30, 16), {"perm_dim": [2, 0, 1]})
        self.assertEqual(*(self.explain(job, "--svg", "-").out for _ in range(2)))

    def test_replaced(self):
        """Drawings and empty files are replaced; job files and tensors are kept."""
        job = self.job((4,), {})
        for name in ("p.svg", "p.svg", self.write("empty", "")):
            self.explain(job, "--svg", name)
        self.write("other.json", mov())
        self.write("other.npy", b"\x93NUMPY")
        before = self.listing()
        for name in ("other.json", "other.npy"):
            self.assertIn("only an empty file", self.explain(job, "--svg", name, code=2).err)
        self.assertEqual(self.listing(), before)

    @unittest.skipUnless(RSVG, "there is no rsvg-convert (librsvg2-bin)")
    def test_rendered(self):
        inputs = subprocess.run([SOURCE / "examples" / "make_inputs.sh", MLICTL, self.dir],
                                capture_output=True)
        self.assertEqual(inputs.returncode, 0, inputs.stderr)
        jobs = sorted(str(path) for path in self.dir.glob("*/*.json") if path.parent.name != "negative")
        self.assertGreater(len(jobs), 7)
        for name, (shape, cfg) in HARD.items():
            self.job(shape, cfg, name)
            jobs.append(name + ".json")
        self.explain(*jobs, "--svg", "all.svg")
        drawn = sorted(self.dir.glob("all.*.svg"))
        self.assertGreaterEqual(len(drawn), len(jobs))
        for svg in sampled(drawn):
            with self.subTest(svg.name):
                root = self.parsed(svg.read_bytes())
                self.assertEqual(self.check_rendered(svg), (int(root.get("width")), int(root.get("height"))))


class Characters(Pictures):
    def picture(self, text):
        """Returns the lines of the picture: the last paragraph of the output, without empty lines."""
        return text[text.index("\nsource (") + 1:].splitlines()

    def test_piped(self):
        for name, (shape, cfg) in HARD.items():
            for locale in ("C", "C.UTF-8"):
                with self.subTest(name, locale=locale):
                    done = subprocess.run([MLICTL, "explain", "--no-memcpy", self.job(shape, cfg, name)],
                                          env=dict(self.environment(), LC_ALL=locale),
                                          capture_output=True)
                    text = done.stdout.decode()
                    self.assertTrue(all(len(line) <= 80 for line in self.picture(text)), text)
                    self.assertNotRegex(text, ESCAPE)
                    self.assertTrue(locale != "C" or text.isascii())

    def test_no_picture(self):
        self.assertNotIn("\nsource (", self.explain(self.job((4,), {}), "--no-picture").out)
        self.assertEqual(self.explain(self.job((4,), {}), "-q").out, "")

    def screen(self, columns, **environment):
        shape, cfg = HARD["everything"]
        screen = Screen(self, "explain", "--no-memcpy", self.job(shape, cfg), columns=columns,
                        LC_ALL="C.UTF-8", **environment)
        text, code = screen.end()
        self.assertEqual(code, 0)
        return text

    def test_terminal(self):
        for columns in (30, 60, 100, 200):
            with self.subTest(columns=columns):
                text = self.screen(columns)
                self.assertRegex(text, ESCAPE)
                lines = self.picture(ESCAPE.sub("", text))
                self.assertTrue(all(len(line) <= columns for line in lines), lines)
        self.assertGreater(max(map(len, lines)), 80)

    def test_no_colour(self):
        self.assertNotRegex(self.screen(100, NO_COLOR="1"), ESCAPE)


if __name__ == "__main__":
    main()
