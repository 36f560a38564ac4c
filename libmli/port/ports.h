/* SPDX-License-Identifier: BSD-3-Clause */
/* The engines of devices in this build, in addition to the library's own. */
#pragma once

/** Adds all engines. Call it once, at the start of main(). */
void ports_add(void);
