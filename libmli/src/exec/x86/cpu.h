/* SPDX-License-Identifier: BSD-3-Clause */
/* Instruction sets that the processor has, with registers that the system saves. */
#ifndef MLI_EXEC_X86_CPU_H
#define MLI_EXEC_X86_CPU_H

#include <stdbool.h>

bool cpu_has_avx2(void);
/** Requires the instruction sets F, BW, VL, VBMI, and BMI2. */
bool cpu_has_avx512(void);

#endif /* MLI_EXEC_X86_CPU_H */
