/* SPDX-License-Identifier: BSD-3-Clause */
/* What the processor has, and the system saves when it switches threads. */
#ifndef MLI_EXEC_X86_CPU_H
#define MLI_EXEC_X86_CPU_H

#include <stdbool.h>

bool cpu_has_avx2(void);
/** F, BW, VL, VBMI, and BMI2 */
bool cpu_has_avx512(void);

#endif /* MLI_EXEC_X86_CPU_H */
