/* SPDX-License-Identifier: BSD-3-Clause */
/* Compares the results of a case with the oracle, and reports differences. */
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "tests/property/random_case.h"
#include "tests/support/describe_move.h"

static const char *const via_names[VIA_COUNT] = {"mli_mov_tensor_sync", "prepare, start, wait",
                                                 "prepare, start twice", "prepare, start, callback",
                                                 "mli_krn_permute"};

static const char *const quant_names[] = {"null", "same", "own memory"};

static void print_place(FILE *to, const char *name, const struct watched *w)
{
    fprintf(to, "  %s memory: flush against the %s page\n", name, w->right ? "upper" : "lower");
}

void case_print(FILE *to, const struct test_case *c)
{
    fprintf(to, "case %" PRIu64 " of seed %" PRIu64 ": %s, %d channel(s), %s%s\n", c->index,
            c->seed, via_names[c->via], c->channels, c->mutation ? "illegal by " : "legal",
            c->mutation ? c->mutation : "");
    describe_tensor(to, c->null_src ? "src (null given)" : "src", &c->src);
    if (c->via == VIA_PERMUTE) {
        fprintf(to, "  cfg of the kernel:");
        describe_u8(to, "perm_dim", c->permute_cfg.perm_dim, MLI_MAX_RANK);
        fprintf(to, "\n");
    }
    describe_cfg(to, &c->cfg, c->src.rank);
    describe_tensor(to, c->null_dst ? "dst (null given)" : "dst", &c->dst);
    print_place(to, "src", &c->lab->src);
    print_place(to, "dst", &c->lab->dst);
    if (case_is_per_axis(c))
        fprintf(to, "  per-axis pointers of dst: %s\n", quant_names[c->quant]);
    fprintf(to, "  expected: %s; at: %s\n", mli_status_name(c->expected.status), c->stage);
}

void case_fail(struct test_case *c, const char *format, ...)
{
    va_list arguments;

    if (!c->failed)
        case_print(stdout, c);
    c->failed = true;
    printf("  FAILED: ");
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    printf("\n");
}

static void check_watched(struct test_case *c, const char *name, const struct watched *w)
{
    size_t at = watched_difference(w);

    if (at == WATCHED_SAME)
        return;
    case_fail(c, "%s byte %td: 0x%02x, expected 0x%02x", name, (ptrdiff_t)at, w->data[at],
              watched_image(w)[at]);
}

void case_check_memory(struct test_case *c)
{
    static const char *const arrays[3] = {"zero_point", "scale", "scale_frac_bits"};

    check_watched(c, "dst", &c->lab->dst);
    check_watched(c, "src", &c->lab->src);
    for (int k = 0; case_is_per_axis(c) && k < 3; k++) {
        check_watched(c, arrays[k], &c->lab->src_q[k]);
        if (c->quant == QUANT_OWN)
            check_watched(c, arrays[k], &c->lab->dst_q[k]);
    }
}

static bool same_array(const mli_data_container *a, const mli_data_container *b)
{
    return a->capacity == b->capacity && a->mem.pi8 == b->mem.pi8;
}

static bool same_arrays(const mli_tensor *a, const mli_tensor *b)
{
    return same_array(&a->el_params.sa.zero_point, &b->el_params.sa.zero_point) &&
           same_array(&a->el_params.sa.scale, &b->el_params.sa.scale) &&
           same_array(&a->el_params.sa.scale_frac_bits, &b->el_params.sa.scale_frac_bits);
}

static bool same_values(const mli_tensor *a, const mli_tensor *b)
{
    const mli_element_params *p = &a->el_params, *q = &b->el_params;

    return p->sa.zero_point.capacity == q->sa.zero_point.capacity &&
           p->sa.scale.capacity == q->sa.scale.capacity &&
           p->sa.scale_frac_bits.capacity == q->sa.scale_frac_bits.capacity &&
           p->sa.zero_point.mem.i16 == q->sa.zero_point.mem.i16 &&
           p->sa.scale.mem.i16 == q->sa.scale.mem.i16 &&
           p->sa.scale_frac_bits.mem.i8 == q->sa.scale_frac_bits.mem.i8;
}

static bool params_as_expected(const struct test_case *c, const mli_tensor *before)
{
    const mli_tensor *dst = &c->dst;

    if (c->src.el_type == MLI_EL_FX_8 || c->src.el_type == MLI_EL_FX_16)
        return dst->el_params.fx.frac_bits == c->src.el_params.fx.frac_bits;
    if (c->src.el_type == MLI_EL_FP_16 || c->src.el_type == MLI_EL_FP_32)
        return true;
    if (dst->el_params.sa.type != c->src.el_params.sa.type)
        return false;
    if (!case_is_per_axis(c))
        return dst->el_params.sa.dim < 0 && same_values(dst, &c->src);
    if (dst->el_params.sa.dim != c->expected.axis)
        return false;
    return same_arrays(dst, c->quant == QUANT_OWN ? before : &c->src);
}

static bool layout_as_expected(const struct test_case *c)
{
    const struct oracle *o = &c->expected;
    const mli_tensor *dst = &c->dst;

    for (uint32_t i = 0; i < o->rank; i++) {
        if (dst->shape[i] != o->shape[i] || dst->mem_stride[i] != (int32_t)o->stride[i])
            return false;
    }
    return dst->rank == o->rank && dst->el_type == c->src.el_type;
}

/* A permute changes only el_params of `out`. */
static bool permute_left_the_rest(const struct test_case *c, const mli_tensor *before)
{
    mli_tensor now;

    memcpy(&now, before, sizeof(now));
    memcpy(&now.el_params, &c->dst.el_params, sizeof(now.el_params));
    return memcmp(&now, &c->dst, sizeof(now)) == 0;
}

void case_check_done(struct test_case *c, const mli_tensor *before)
{
    case_check_memory(c);
    if (c->expected.status != MLI_STATUS_OK) {
        if (memcmp(&c->dst, before, sizeof(c->dst)) != 0)
            case_fail(c, "the refused call changed fields of dst");
        return;
    }
    if (c->dst.data.mem.pi8 != before->data.mem.pi8 ||
        c->dst.data.capacity != before->data.capacity)
        case_fail(c, "dst.data changed");
    if (!params_as_expected(c, before))
        case_fail(c, "dst.el_params wrong");
    if (c->via == VIA_PERMUTE ? !permute_left_the_rest(c, before) : !layout_as_expected(c))
        case_fail(c, "rank, shape, mem_stride or el_type of dst wrong");
}
