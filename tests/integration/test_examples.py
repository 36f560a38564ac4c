# SPDX-License-Identifier: BSD-3-Clause
"""The examples run, do what their README says, and give the same bytes by run and by submit."""
import json
import pathlib
import subprocess

from harness import MLICTL, SOURCE, Case, main, needs_numpy, numpy

EXAMPLES = SOURCE / "examples"
JOBS = sorted(path.name for path in EXAMPLES.glob("*.json"))


class Examples(Case):
    def setUp(self):
        super().setUp()
        self.make(self.dir)

    def make(self, directory):
        subprocess.run([EXAMPLES / "make_inputs.sh", MLICTL, directory], check=True)

    def test_there_are_some_and_the_readme_tells_of_each(self):
        self.assertGreaterEqual(len(JOBS), 6)
        readme = (EXAMPLES / "README.md").read_text()
        for name in JOBS:
            self.assertIn(f"| `{name}` |", readme)

    def test_all_are_valid_and_run(self):
        self.ctl("validate", *JOBS, code=0)
        result = self.ctl("run", "--json", *JOBS, code=0)
        self.assertEqual({fact["state"] for fact in result.json}, {"done"})

    def test_run_and_submit_write_the_same_bytes(self):
        with_daemon = self.dir / "submit"
        self.make(with_daemon)
        for name in JOBS:
            before = self.listing().keys()
            self.ctl("run", name, code=0)
            self.submit("submit/" + name, code=0)
            written = self.listing().keys() - before
            outputs = [p for p in written if not p.startswith("submit/")]
            self.assertTrue(outputs or name == "concat.json", name)
            self.assertEqual(sorted(written), sorted(outputs + ["submit/" + p for p in outputs]))
        for path in self.dir.glob("*.*"):
            self.assertEqual(path.read_bytes(), (with_daemon / path.name).read_bytes(), path.name)

    def test_make_inputs_wants_two_arguments(self):
        done = subprocess.run([EXAMPLES / "make_inputs.sh"], capture_output=True)
        self.assertEqual(done.returncode, 2)


@needs_numpy
class WithNumpy(Case):
    """numpy, told the same, agrees."""

    def setUp(self):
        super().setUp()
        subprocess.run([EXAMPLES / "make_inputs.sh", MLICTL, self.dir], check=True)

    def check(self, job, **wanted):
        self.ctl("run", job, code=0)
        for name, value in wanted.items():
            out = numpy.load(self.path(name + ".npy"))
            self.assertEqual((out.dtype, out.shape), (value.dtype, value.shape))
            numpy.testing.assert_array_equal(out, value)

    def load(self, name):
        return numpy.load(self.path(name + ".npy"))

    def test_copy(self):
        self.check("copy.json", copy=self.load("features_hwc"))

    def test_slice(self):
        self.check("slice.json", slice=self.load("features_hwc")[2:6, 3:8])

    def test_concat(self):
        self.check("concat.json", both_hwc=numpy.concatenate(
            [self.load("left_hwc"), self.load("right_hwc")], axis=1))

    def test_subsample(self):
        self.check("subsample.json", subsample=self.load("features_hwc")[::2, ::3])

    def test_permute(self):
        self.check("permute_hwc_to_chw.json", image_chw=self.load("image_hwc").transpose(2, 0, 1))

    def test_pad(self):
        self.check("pad.json", pad=numpy.pad(self.load("map_chw"), ((0, 0), (1, 1), (2, 2))))

    def test_tile_with_halo(self):
        padded = numpy.pad(self.load("map_chw"), ((0, 0), (1, 1), (1, 1)))
        self.check("tile_with_halo.json", tile_0_0=padded[:, :5, :5], tile_0_1=padded[:, :5, 3:8],
                   tile_0_2=padded[:, :5, 6:], tile_1_1=padded[:, 3:8, 3:8])

    def test_combined(self):
        padded = numpy.pad(self.load("map_chw"), ((0, 0), (1, 1), (1, 1)))
        self.check("combined.json", combined=padded[1:3, ::2, 0:7:2].transpose(1, 2, 0))

    def test_weights(self):
        self.check("weights_per_axis.json",
                   weights_nhwc=self.load("weights_hwcn").transpose(3, 0, 1, 2))
        job = json.loads(pathlib.Path(self.path("weights_per_axis.json")).read_text())
        params = json.loads(self.read("weights_nhwc.quant"))
        self.assertEqual((params["axis"], params["scale"]), (0, job["src"]["scale"]))


if __name__ == "__main__":
    main()
