/* SPDX-License-Identifier: BSD-3-Clause */
/* The controllers of this folder, for controller.c. */
#ifndef TARGET_CONTROLLERS_H
#define TARGET_CONTROLLERS_H

#include "target/controller/controller.h"

extern const struct controller controller_zdma;
extern const struct controller controller_bcm2835;
extern const struct controller controller_pdma;
extern const struct controller controller_pl330;
extern const struct controller controller_hexagon;
extern const struct controller controller_aie;

#endif /* TARGET_CONTROLLERS_H */
