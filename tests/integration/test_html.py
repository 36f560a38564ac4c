# SPDX-License-Identifier: BSD-3-Clause
"""Tests the page of `mlictl batch --html`: as a file, and in a headless Chromium over the DevTools protocol."""
import base64
import hashlib
import json
import os
import re
import shutil
import subprocess
import unittest
import xml.etree.ElementTree as ElementTree

from batch_scene import MOVED, MOVED_SHAPE, BatchCase
from browser import CHROMIUM, Browser
from harness import main, npy, wait_for
from states import Batch, case, text_of

HOSTILE = "z</script><script>hacked=1</script><img src=x onerror=hacked=2>'\"&"
REVERSED = b"".join(MOVED[6 * i:6 * i + 6] for i in range(3, -1, -1))
SANITIZED = os.environ.get("MLI_TEST_SLOW")


# Messages of tidy 5.6 that it prints because it does not know these parts of HTML 5.
TIDY_MISSES = r"nothing yet"


class PageCase(BatchCase):
    """Makes a batch with a passed case, differences, errors and hostile names, and its page."""

    def setUp(self):
        super().setUp()
        self.add("conv/good")
        self.add("conv/deep/wrong", golden="bad.npy")
        self.write("reversed.npy", npy("|i1", MOVED_SHAPE, REVERSED))
        self.add("conv/deep/turned", golden="reversed.npy")
        self.add(HOSTILE.replace("/", "_"), golden="bad.npy")
        self.write("cases/broken.json", '{"op": "mov", "src": {"file": "<b>no</b>.npy"}, "dst": {"file": "o.npy"}}')
        with open(os.path.join(os.fsencode(self.path("cases")), b"\xff\xe2\x80\xaegnp.json"), "w", encoding="ascii") as f:
            f.write('{"op": "mov", "src": {"file": "no.npy"}, "dst": {"file": "o.npy"}}')

    def page(self, *arguments, code=1):
        """Runs the batch and returns the page."""
        self.batch("cases", "--html", "report", *arguments, code=code)
        return self.read("report/index.html")

    def read(self, name):
        with open(self.path(name), encoding="utf-8") as file:
            return file.read()


class File(PageCase):
    def test_policy_allows_only_the_own_style_and_script(self):
        page = self.page()
        policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page)[1]
        allowed = dict(part.strip().split(" ", 1) for part in policy.split(";"))
        self.assertEqual(allowed["default-src"], "'none'")
        for tag in ("style", "script"):
            inside = re.findall(rf"<{tag}>(.*?)</{tag}>", page, re.S)
            self.assertEqual(len(inside), 1)
            digest = base64.b64encode(hashlib.sha256(inside[0].encode()).digest()).decode()
            self.assertEqual(allowed[f"{tag}-src"], f"'sha256-{digest}'")

    def test_nothing_from_elsewhere(self):
        page = self.page()
        outside = re.sub(r"<(style|script)>.*?</\1>", "", page, flags=re.S)
        self.assertNotRegex(outside, r'<(img|link|iframe|object|embed|base)\b|\b(src|srcset|action)="')
        self.assertNotRegex(outside, r'href="(?!#)|\bon[a-z]+="|javascript:')
        self.assertEqual(re.findall(r"https?://[^\"'\s<]*", outside),
                         ["http://www.w3.org/2000/svg"] * page.count("<svg role"))

    def test_cases_and_evidence(self):
        page = self.page()
        self.assertIn("<h1>mlictl batch: 3 failed, 2 errors of 6 cases</h1>", page)
        self.assertIn("<strong>1</strong>", page)
        self.assertEqual(len(re.findall(r'<tr class="', page)), 6)
        turned = page.split(">conv/deep/turned</span>")[1].split("</details>")[0]
        for part in ("<b>Diagnosis:</b>", "24 of 24 elements differ", "mlictl run batch-failed/conv/deep/turned/job.json",
                     '&quot;perm_dim&quot;: [2, 0, 1]', "from src[", "<svg role"):
            self.assertIn(part, turned)
        cells = json.loads(re.search(r'<script type="application/json">(.*?)</script>', turned)[1])
        self.assertEqual((cells["shape"], cells["all"], len(cells["got"])), ([4, 2, 3], True, 24))
        self.assertEqual((bytes(cells["got"]), bytes(cells["wanted"])), (MOVED, REVERSED))

    def test_quantisation_parameters(self):
        wanted = {"axis": 0, "scale": [1, 2, 3, 4]}
        for name, golden, params in (("scales", "good.npy", dict(wanted, scale=[1, 2, 4, 3])),
                                     ("elements", "bad.npy", wanted)):
            job = self.job(golden, "../")
            job["src"] = {"file": "../in.npy", "type": "sa8", "axis": 2, "scale": [1, 2, 3, 4]}
            job["expect"]["params"] = params
            self.write(f"cases/{name}.json", job)
        page = self.page()
        for name, texts in (("scales", ("<p>the same</p>", "differ in scale[2] and 1 more: got 3, expected 4")),
                            ("elements", ("1 of 24 elements differ", "<p>the same</p>"))):
            shown = page.split(f">{name}</span>")[1].split("</details>")[0].split("<h4>Elements</h4>")[1]
            elements, params = shown.split("<h4>Quantisation parameters</h4>")
            self.assertIn(texts[0], elements)
            self.assertIn(texts[1], params)

    def test_drawings_are_valid(self):
        drawings = re.findall(r"<svg role.*?</svg>", self.page(), re.S)
        self.assertEqual(len(drawings), 3)
        ids = [name for drawing in drawings for name in re.findall(r'\bid="([^"]*)"', drawing)]
        self.assertEqual(len(ids), len(set(ids)), "ids are unique in a page")
        for drawing in drawings:
            for name in re.findall(r"url\(#([^)]*)\)", drawing):
                self.assertIn(f'id="{name}"', drawing)
            ElementTree.fromstring(drawing)
            if shutil.which("xmllint"):
                subprocess.run(["xmllint", "--noout", "-"], input=drawing.encode(), check=True)

    def test_without_kept_cases(self):
        page = self.page("--keep", "none")
        self.assertIn("conv/deep/wrong", page)
        self.assertNotIn("<h4>", page)

    def test_missing_and_hostile_kept_files(self):
        self.batch("cases", "--resume", "state.jsonl", code=1)
        kept = self.path("batch-failed/conv/deep")
        os.remove(f"{kept}/wrong/given.npy")
        for name, content in (("job.json", b"{"), ("golden.npy", b"\x93NUMPY")):
            with open(f"{kept}/turned/{name}", "wb") as file:
                file.write(content)
        self.batch("merge", "state.jsonl", "--html", "report", code=1)
        page = self.read("report/index.html")
        self.assertIn("The elements are not shown: ", page)
        self.assertIn("The kept case cannot be read: ", page)

    def test_merge_makes_the_same_failures(self):
        direct = self.page("--resume", "state.jsonl")
        self.batch("merge", "state.jsonl", "--html", "merged", code=1)
        parts = [re.sub(r"duration</span> [^<]*|(id=\"|url\(#)f\d+|aria-label=\"[^\"]*\"", "",
                        "".join(sorted(re.findall(r'<details class="failure.*?</details>', page, re.S),
                                       key=lambda part: re.search('name">([^<]*)', part)[1])))
                 for page in (direct, self.read("merged/index.html"))]
        self.assertEqual(*parts)
        self.batch("merge", "state.jsonl", "--resume", "x", "--html", "merged", code=2)

    def test_missing_shards_are_failures(self):
        self.batch("cases", "--shard", "1/2", "--resume", "1.jsonl", "--keep", "none")
        self.batch("merge", "1.jsonl", "--html", "report", code=1)
        self.assertRegex(self.read("report/index.html"), r'<details class="failure error"[^§]*shard 2 of 2')

    def test_all_good(self):
        self.batch("cases/conv/good.json", "--html", "report", code=0)
        page = self.read("report/index.html")
        self.assertIn("all cases are good", page)
        self.assertIn("There are none.", page)

    def test_refused_places(self):
        self.write("in.txt", "a text")
        self.assertIn("--html in.txt/index.html: ", self.batch("cases", "--html", "in.txt", code=2).err)
        self.assertIn("--html no/where: ", self.batch("cases", "--html", "no/where", code=2).err)
        self.write("report/index.html", "{}")
        self.assertIn("is not a report", self.batch("cases", "--html", "report", code=2).err)
        self.assertEqual(self.read("report/index.html"), "{}")

    @unittest.skipUnless(shutil.which("tidy"), "needs tidy")
    def test_another_parser(self):
        self.page()
        done = subprocess.run(["tidy", "-quiet", "-errors", "--show-info", "no", "--mute",
                               "PROPRIETARY_ATTRIBUTE,PROPRIETARY_ELEMENT", "-utf8", self.path("report/index.html")],
                              capture_output=True, text=True, timeout=60, check=False)
        left = [line for line in done.stderr.splitlines() if not re.search(TIDY_MISSES, line)]
        self.assertEqual(left, [])


@unittest.skipUnless(CHROMIUM, "needs chromium")
@unittest.skipIf(SANITIZED, "the browser needs no second build")
class InBrowser(PageCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.browser = Browser()

    @classmethod
    def tearDownClass(cls):
        cls.browser.close()
        super().tearDownClass()

    def show(self, *arguments, scripts=True, fragment=""):
        self.page(*arguments)
        self.browser.open(self.path("report/index.html"), scripts, fragment)

    def check_quiet(self):
        """The page causes no message on the console, and no request except that for the page itself."""
        self.assertEqual(self.browser.problems, [])
        self.assertEqual(len(self.browser.requests), 1, self.browser.requests)

    def visible(self, selector):
        return self.browser.run(f"[...document.querySelectorAll('{selector}')].filter(e => e.checkVisibility()).length")

    def filter(self, text):
        self.browser.run(f"search.value = {json.dumps(text)}; search.dispatchEvent(new Event('input'))")

    def test_hostile_texts_stay_texts(self):
        self.show()
        self.browser.run("document.querySelectorAll('details').forEach(d => d.open = true)")
        self.assertIsNone(self.browser.run("window.hacked"))
        self.assertEqual(self.browser.run("document.images.length + document.scripts.length"),
                         1 + self.browser.run("document.querySelectorAll('.cells').length"))
        self.assertIn(HOSTILE.replace("/", "_"), self.browser.text())
        self.assertIn("<b>no</b>.npy", self.browser.text())
        self.assertIn("\ufffdgnp", self.browser.text())
        self.check_quiet()

    def test_filter_sort_and_keys(self):
        self.show()
        self.assertEqual(self.visible(".failure"), 5)
        self.filter("DEEP/")
        self.assertEqual((self.visible(".failure"), self.visible(".cases tbody tr")), (2, 2))
        self.assertIn("2 of 6 cases", self.browser.text())
        self.filter("")
        self.browser.run("document.querySelector('[data-verdict=passed]').click()")
        self.assertEqual((self.visible(".failure"), self.visible(".cases tbody tr")), (0, 1))
        self.browser.run("document.querySelector('[data-verdict=passed]').click()")
        self.browser.run("const choice = document.querySelector('[aria-label=Directory]');"
                         "choice.value = 'conv'; choice.dispatchEvent(new Event('change'))")
        self.assertEqual(self.visible(".cases tbody tr"), 3)
        times = "[...document.querySelectorAll('.cases td:nth-child(3)')].map(c => Number(c.dataset.ns))"
        self.browser.run("document.querySelector('[data-key=ns]').click()")
        found = self.browser.run(times)
        self.assertEqual(found, sorted(found, reverse=True))
        self.browser.press("/")
        self.assertEqual(self.browser.run("document.activeElement.id"), "search")
        self.browser.press("Escape")
        self.browser.press("j")
        self.assertEqual(self.browser.run("document.querySelector('.current .name').textContent"), "conv/deep/turned")
        self.assertTrue(self.browser.run("document.querySelector('.current').open"))
        self.check_quiet()

    def test_map_of_elements(self):
        self.show()
        self.browser.press("j")
        self.filter("turned")
        self.browser.press("j")
        self.assertTrue(wait_for(lambda: self.visible(".current .map canvas") == 1))
        self.browser.run("document.querySelector('.current canvas').focus()")
        self.browser.press("ArrowRight")
        self.assertEqual(self.browser.run("document.querySelector('.current output').textContent"),
                         f"[0, 0, 1]: got {MOVED[1]}, expected {REVERSED[1]}")
        self.browser.press("PageDown")
        self.assertRegex(self.browser.run("document.querySelector('.current output').textContent"), r"^\[1, 0, 1\]: got")
        self.check_quiet()

    def test_link_theme_and_command(self):
        self.show(fragment="#f1")
        self.assertTrue(self.browser.run("document.getElementById('f1').open"))
        colour = "getComputedStyle(document.body).backgroundColor"
        light = self.browser.run(colour)
        self.browser.run("const theme = document.querySelector('[aria-label=Theme]');"
                         "theme.value = 'dark'; theme.dispatchEvent(new Event('change'))")
        self.assertNotEqual(self.browser.run(colour), light)
        self.browser.run("theme.value = 'auto'; theme.dispatchEvent(new Event('change'))")
        self.assertEqual(self.visible(".copy"), self.browser.run(
            "[...document.querySelectorAll('details[open] .command')].length"))
        self.check_quiet()

    def test_without_scripts(self):
        self.show(scripts=False)
        # The DevTools protocol evaluates expressions even if the scripts of the page are disabled.
        self.assertEqual((self.visible(".failure"), self.visible(".cases tbody tr"), self.visible(".controls")), (5, 6, 0))
        self.browser.run("document.querySelectorAll('details').forEach(d => d.open = true)")
        text = self.browser.text()
        for part in ("Diagnosis:", "got", "from src[", "mlictl run batch-failed", '"perm_dim": [2, 0, 1]'):
            self.assertIn(part, text)
        self.check_quiet()

    def test_accessible(self):
        """Tests the landmarks, headings, names of controls, and the contrast of texts, in both themes."""
        self.show()
        for scheme in ("light", "dark"):
            self.browser.media(scheme)
            self.browser.run("document.querySelectorAll('details').forEach(d => d.open = true)")
            self.assertEqual(self.browser.run("['header', 'nav', 'main', 'footer', 'h1'].map("
                                              "t => document.querySelectorAll(t).length)"), [1, 1, 1, 1, 1])
            self.assertEqual(self.browser.run(
                "[...document.querySelectorAll('button, select, input, canvas, svg')].filter(e => "
                "!(e.ariaLabel || e.textContent.trim() || e.closest('[aria-hidden]'))).length"), 0)
            self.assertEqual(self.browser.run(CONTRAST), [], scheme)
        self.browser.media()

    def test_ten_thousand_cases(self):
        cases = [case(f"conv/layer_{i % 40}/tile_{i:05}", ns=1000 * i,
                      status="failed" if i % 10 == 0 else "passed") for i in range(10000)]
        self.write("state.jsonl", text_of(Batch(cases).state()))
        self.batch("merge", "state.jsonl", "--html", "report", "-q", code=1)
        size = os.path.getsize(self.path("report/index.html"))
        self.assertLess(size, 5.5 * 2**20)
        seconds = self.browser.open(self.path("report/index.html"))
        print(f"10000 cases: {size} bytes, {seconds:.2f} s")
        self.assertLess(seconds, 20, "usually below 2 s, on a machine without other work")
        self.check_quiet()


# Returns the texts whose contrast to their background is below 4.5, by the formula of WCAG 2.
CONTRAST = """(() => {
  const channel = (c) => c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
  const parse = (text) => text.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => 0.2126 * channel(r / 255) + 0.7152 * channel(g / 255) + 0.0722 * channel(b / 255);
  const background = (e) => {
    for (; e; e = e.parentElement) {
      const colour = parse(getComputedStyle(e).backgroundColor);
      if (colour.length === 3 || colour[3] === 1) return colour;
    }
    return [255, 255, 255];
  };
  const bad = new Set();
  for (const e of document.querySelectorAll('body *:not(svg *)')) {
    const own = [...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim());
    if (!own || !e.offsetParent || e.closest('svg') || e.tagName === 'SCRIPT') continue;
    const a = light(parse(getComputedStyle(e).color)), b = light(background(e));
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) bad.add(`${e.tagName}.${e.className}: ${ratio.toFixed(2)}`);
  }
  return [...bad];
})()"""


if __name__ == "__main__":
    main()
