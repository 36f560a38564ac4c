#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Repeats the tests of mlid_stalled_fs in random order: a file system that does not answer delays only the user whose
files it has."""
import unittest

import soak
import test_stalled_fs
from harness import main


@unittest.skipIf(test_stalled_fs.UNAVAILABLE, test_stalled_fs.UNAVAILABLE)
class Stalled(unittest.TestCase):
    def test_random_tests(self):
        names = unittest.TestLoader().getTestCaseNames(test_stalled_fs.StalledFs)
        stalled = 0
        for number in soak.rounds(1, 60):
            name = soak.pick_of(self, number).choice(names)
            result = unittest.TestResult()
            test_stalled_fs.StalledFs(name).run(result)
            with self.subTest(again=soak.again(self, number), test=name):
                self.assertEqual(result.errors + result.failures, [])
            stalled += len(result.skipped) == 0
        soak.count("file system that does not answer", stalled)


if __name__ == "__main__":
    main()
