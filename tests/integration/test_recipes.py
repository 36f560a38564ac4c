# SPDX-License-Identifier: BSD-3-Clause
"""Runs the commands with which docs/library.md compiles libmli without meson, and a program with it."""
import re
import shutil
import subprocess
import unittest

from harness import SOURCE, Case, main

PROGRAM = r"""
#include <stdint.h>
#include <stdio.h>

#include "mli_api.h"

int main(void)
{
    int8_t from[2][3] = {{1, 2, 3}, {4, 5, 6}}, to[3][2] = {{0}};
    mli_tensor src = {.data = {.mem = {.pi8 = &from[0][0]}, .capacity = sizeof from}, .rank = 2,
                      .shape = {2, 3}, .mem_stride = {3, 1}, .el_type = MLI_EL_FX_8};
    mli_tensor dst = {.data = {.mem = {.pi8 = &to[0][0]}, .capacity = sizeof to}};
    mli_mov_cfg_t cfg = {0};

    mli_mov_cfg_for_copy(&cfg);
    cfg.perm_dim[0] = 1, cfg.perm_dim[1] = 0;
    if (mli_mov_tensor_sync(&src, &cfg, &dst) != MLI_STATUS_OK)
        return puts(mli_last_error()), 1;
    printf("%s:", mli_version());
    for (int i = 0; i < 6; i++)
        printf(" %d", (&to[0][0])[i]);
    return puts("") < 0;
}
"""


def recipes(document, heading):
    """Returns the indented blocks below a heading that call the compiler."""
    text = (SOURCE / document).read_text()
    part = re.split(r"(?m)^#", text.split(f"# {heading}\n", 1)[1])[0]
    blocks = ["".join(line[4:] for line in block.splitlines(True))
              for block in re.findall(r"(?m)(?:^    .*\n)+", part)]
    return [block for block in blocks if re.search(r"(?m)^ *cc ", block)]


@unittest.skipUnless(shutil.which("cc") and shutil.which("ar"), "there is no compiler")
class Recipes(Case):
    def test_library_without_meson(self):
        library, program = recipes("docs/library.md", "Without meson, for a target")
        (self.dir / "libmli").symlink_to(SOURCE / "libmli")
        self.write("app.c", PROGRAM.encode())
        for recipe in (library, program):
            done = subprocess.run(["sh", "-e", "-c", recipe], cwd=self.dir, capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""), recipe)
        version = self.ctl("--version", code=0).out.split()[1]
        done = subprocess.run([self.dir / "app"], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout), (0, f"{version}: 1 4 2 5 3 6\n"))


if __name__ == "__main__":
    main()
