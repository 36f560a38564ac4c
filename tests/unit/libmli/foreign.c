/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program compiled with embARC MLI 2.0's own headers: some of its prototypes differ from this
 * library's, and its handle has 12 bytes. test_foreign_link.py checks that it does not link with
 * this library.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct foreign_handle {
    int dma_ch, num_ch, state;
};
struct foreign_tensor;
struct foreign_cfg;

int mli_mov_prepare(struct foreign_handle *h, const struct foreign_tensor *src,
                    const struct foreign_cfg *cfg, struct foreign_tensor *dst);
int mli_mov_registercallback(struct foreign_handle *h, void (*cb)(int32_t), int32_t cookie);
int mli_mov_start(struct foreign_handle *h, const struct foreign_tensor *src,
                  const struct foreign_cfg *cfg, struct foreign_tensor *dst);
bool mli_mov_isdone(struct foreign_handle *h);
int mli_mov_wait(struct foreign_handle *h);
int mli_mov_acquire_handle(int num_ch, struct foreign_handle *h);
int mli_mov_release_handle(struct foreign_handle *h);
int mli_mov_cfg_all(struct foreign_cfg *cfg, int *offsets, int *sizes, int *subsample_step,
                    int *dst_offsets, int *dst_mem_stride, uint8_t *perm_dim, uint8_t padleft,
                    uint8_t padright, uint8_t padtop, uint8_t padbot);
int32_t mli_hlp_tensor_scale(const struct foreign_tensor *in, uint32_t scale_idx);
int32_t mli_hlp_tensor_scale_shift(const struct foreign_tensor *in, uint32_t scale_idx);
int16_t mli_hlp_tensor_zero_offset(const struct foreign_tensor *in, uint32_t zero_idx);

int main(void)
{
    struct foreign_handle h = {0, 0, 0};
    int zero[4] = {0};
    uint8_t perm[4] = {0};
    int sum = mli_mov_acquire_handle(1, &h);

    sum += mli_mov_prepare(&h, NULL, NULL, NULL) + mli_mov_registercallback(&h, NULL, 0);
    sum += mli_mov_start(&h, NULL, NULL, NULL) + mli_mov_isdone(&h) + mli_mov_wait(&h);
    sum += mli_mov_release_handle(&h);
    sum += mli_mov_cfg_all(NULL, zero, zero, zero, zero, zero, perm, 0, 0, 0, 0);
    sum += mli_hlp_tensor_scale(NULL, 0) + mli_hlp_tensor_scale_shift(NULL, 0);
    return sum + mli_hlp_tensor_zero_offset(NULL, 0);
}
