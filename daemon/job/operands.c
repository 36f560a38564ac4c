/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/job/operands.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/seam.h"
#include "mli_helpers_api.h"
#include "proto/wire/wire_limits.h"

/*
 * Number of per-axis indices that always fit into a reply line. An index needs at most 19 bytes,
 * "-32768,", "-32768," and "-128,"; the rest of the line needs at most 4096 bytes.
 */
enum { REPLY_ENTRIES_MAX = (PROTO_REPLY_MAX - 4096) / 19 };
_Static_assert(3 * REPLY_ENTRIES_MAX + 4096 <= PROTO_REPLY_VALUES_MAX, "clients read the reply");

enum { PAGE_BYTES = 4096 };

static bool is_sa(mli_element_type type)
{
    return type == MLI_EL_SA_8 || type == MLI_EL_SA_32;
}

static bool is_fx(mli_element_type type)
{
    return type == MLI_EL_FX_8 || type == MLI_EL_FX_16;
}

static uint32_t element_size(mli_element_type type)
{
    return (type & 0xff) / 8;
}

/* Extents */

/* Adds a * b to *sum, which saturates at UINT64_MAX. */
static void add_product(uint64_t *sum, uint64_t a, uint64_t b)
{
    uint64_t product;

    if (__builtin_mul_overflow(a, b, &product) || __builtin_add_overflow(*sum, product, sum))
        *sum = UINT64_MAX;
}

/*
 * Sets the first and the last coordinate of dimension d that the move reads. Returns false if the
 * move reads only padding. All numbers are below 2^34.
 */
static bool window(const mli_tensor *src, const mli_mov_cfg_t *cfg, uint32_t d, uint64_t *first,
                   uint64_t *last)
{
    const uint64_t pre = cfg->padding_pre[d], shape = src->shape[d];
    const uint64_t offset = cfg->offset[d], step = cfg->sub_sample_step[d];
    const uint64_t size = cfg->size[d] ? cfg->size[d] : pre + shape + cfg->padding_post[d] - offset;
    const uint64_t skipped = offset < pre ? (pre - offset + step - 1) / step : 0;
    uint64_t count = (size + step - 1) / step;

    if (offset >= pre + shape || skipped >= count)
        return false;
    /* Omit samples in the padding behind the tensor. */
    if (count > (pre + shape - offset + step - 1) / step)
        count = (pre + shape - offset + step - 1) / step;
    if (skipped >= count)
        return false;
    *first = offset + skipped * step - pre;
    *last = offset + (count - 1) * step - pre;
    return true;
}

struct span extent_read(const mli_tensor *src, const mli_mov_cfg_t *cfg)
{
    const uint64_t element = mli_hlp_tensor_element_size(src);
    struct span span = {0, element};
    uint64_t packed = element;

    for (uint32_t d = src->rank; d-- > 0;) {
        const uint64_t stride =
            src->mem_stride[d] ? (uint64_t)src->mem_stride[d] * element : packed;
        uint64_t first, last;

        if (!window(src, cfg, d, &first, &last))
            return (struct span){0, element};
        add_product(&span.begin, first, stride);
        add_product(&span.end, last, stride);
        if (__builtin_mul_overflow(stride, (uint64_t)src->shape[d], &packed))
            packed = UINT64_MAX;
    }
    return span;
}

/* Checks */

/* mli_krn_permute_* has kernels for all types but floats. */
static int check_kernel(const struct job *job, struct fault *fault)
{
    const mli_element_type type = job->src.desc.type;

    if (job->common.op != JOB_OP_PERMUTE || is_sa(type) || is_fx(type))
        return 0;
    fault_set(fault, FAULT_REFUSED, "/src/type", "src.type: no permute kernel moves %s",
              element_type_name(type));
    fault->status = MLI_STATUS_NOT_SUPPORTED;
    return -1;
}

/*
 * Computes the strides that are 0, if the job gives the shape of the destination; libmli would
 * compute them from the extents of the result. A stride is computed as in libmli: the stride of the
 * next inner dimension (from cfg, else from dst, else computed) times the extent of that dimension.
 */
static int compute_strides(mli_tensor *dst, const struct job *job, struct fault *fault)
{
    const struct tensor_desc *desc = &job->dst.desc;
    uint64_t packed = 1;

    for (uint32_t i = desc->rank; i-- > 0;) {
        const int32_t in_cfg = job->common.cfg.dst_mem_stride[i];
        const int32_t given = in_cfg ? in_cfg : dst->mem_stride[i];
        const uint64_t stride = given ? (uint64_t)given : packed;

        if (stride > INT32_MAX && desc->shape[i] > 1) {
            fault_set(fault, FAULT_REFUSED, "/dst",
                      "dst.strides[%" PRIu32 "]: packed it is stride[%" PRIu32 "] * shape[%" PRIu32
                      "] = %" PRIu64 ", at most %" PRId32 " allowed: use a smaller stride or shape",
                      i, i + 1, i + 1, packed, INT32_MAX);
            fault->status = MLI_STATUS_NOT_ENGH_MEM;
            return -1;
        }
        dst->mem_stride[i] = stride > INT32_MAX ? 0 : (int32_t)stride; /* 0: the extent is 1 */
        packed = stride * desc->shape[i]; /* the product is below 2^63 */
    }
    return 0;
}

static int destination_strides(mli_tensor *dst, const struct job *job, struct fault *fault)
{
    const struct tensor_desc *desc = &job->dst.desc;

    for (uint32_t i = 0; desc->has_strides && i < job->src.desc.rank; i++)
        dst->mem_stride[i] = desc->strides[i];
    return compute_strides(dst, job, fault);
}

static int check_fits_shape(const mli_tensor *dst, const struct tensor_desc *desc,
                            struct fault *fault)
{
    for (uint32_t i = 0; i < desc->rank; i++) {
        if (dst->shape[i] > desc->shape[i])
            return fault_set(fault, FAULT_INVALID_PARAMS, "/cfg/dst_offset",
                             "dst.shape[%" PRIu32 "]: result reaches %" PRIu32
                             ", the destination has %" PRIu32,
                             i, dst->shape[i], desc->shape[i]);
    }
    return 0;
}

static int own_parameters(struct operands *operands, const struct job *job, struct fault *fault)
{
    mli_tensor *dst = &operands->dst;
    struct quant *own = &operands->quant;
    const int32_t axis = is_sa(dst->el_type) ? operands->src.el_params.sa.dim : -1;
    uint32_t count = is_sa(dst->el_type) ? 1 : 0;

    own->axis = -1;
    for (uint32_t i = 0; axis >= 0 && i < dst->rank; i++) {
        if (job->common.cfg.perm_dim[i] == axis) {
            own->axis = (int32_t)i;
            count = dst->shape[i];
        }
    }
    if (count > REPLY_ENTRIES_MAX)
        return fault_set(fault, FAULT_LIMIT, "/cfg/dst_offset",
                         "dst: %" PRIu32 " entries of per-axis parameters; a reply holds %d", count,
                         REPLY_ENTRIES_MAX);
    if (quant_alloc(own, count) < 0)
        return fault_set(fault, FAULT_INTERNAL, NULL, "no memory for per-axis parameters");
    if (axis < 0)
        return job_preset_params(own, &job->dst.desc.quant, 0, fault);
    dst->el_params.sa.scale.mem.pi16 = own->scale;
    dst->el_params.sa.scale.capacity = count * (uint32_t)sizeof *own->scale;
    dst->el_params.sa.zero_point.mem.pi16 = own->zero_point;
    dst->el_params.sa.zero_point.capacity = count * (uint32_t)sizeof *own->zero_point;
    dst->el_params.sa.scale_frac_bits.mem.pi8 = own->scale_frac_bits;
    dst->el_params.sa.scale_frac_bits.capacity = count * (uint32_t)sizeof *own->scale_frac_bits;
    return job_preset_params(own, &job->dst.desc.quant, job->common.cfg.dst_offset[own->axis],
                             fault);
}

/* Returns the number of bytes that storage transfers for `elements` in `span`: whole pages if the
 * elements are far apart. */
static uint64_t bytes_touched(const struct span *span, uint64_t elements)
{
    const uint64_t bytes = span->end - span->begin;
    uint64_t pages;

    return !__builtin_mul_overflow(elements, PAGE_BYTES, &pages) && pages < bytes ? pages : bytes;
}

static void measure(struct operands *operands, const struct job *job)
{
    const mli_tensor *dst = &operands->dst;
    uint64_t elements, read, written;

    operands->read = extent_read(&operands->src, &job->common.cfg);
    operands->written = (struct span){0, dst->data.capacity};
    operands->bytes = element_size(dst->el_type);
    for (uint32_t i = 0; i < dst->rank; i++) {
        operands->written.begin += (uint64_t)job->common.cfg.dst_offset[i] *
                                   (uint64_t)dst->mem_stride[i] * element_size(dst->el_type);
        operands->bytes *= dst->shape[i] - job->common.cfg.dst_offset[i];
    }
    elements = operands->bytes / element_size(dst->el_type);
    read = bytes_touched(&operands->read, elements);
    written = bytes_touched(&operands->written, elements);
    operands->touched = read > written ? read : written;
}

static void operands_finish(struct operands *operands)
{
    quant_alloc(&operands->quant, 0);
}

int operands_init(struct operands *operands, const struct job *job, struct fault *fault)
{
    mli_status status;

    *operands = (struct operands){0};
    if (check_kernel(job, fault) < 0)
        return -1;
    tensor_desc_to_mli(&job->src.desc, &operands->src);
    if (destination_strides(&operands->dst, job, fault) < 0)
        return -1;
    status = mli_mov_layout(&operands->src, &job->common.cfg, &operands->dst);
    if (status != MLI_STATUS_OK)
        return fault_set_refused(fault, status, mli_last_error());
    if (check_fits_shape(&operands->dst, &job->dst.desc, fault) < 0 ||
        own_parameters(operands, job, fault) < 0) {
        operands_finish(operands);
        return -1;
    }
    measure(operands, job);
    return 0;
}

void operands_result(struct operands *operands, struct tensor_desc *desc)
{
    const mli_tensor *dst = &operands->dst;
    struct quant *quant = &operands->quant;

    *desc = (struct tensor_desc){
        .has_type = true,
        .type = dst->el_type,
        .rank = dst->rank,
        .has_strides = true,
        .stride_count = dst->rank,
    };
    memcpy(desc->shape, dst->shape, sizeof dst->shape);
    memcpy(desc->strides, dst->mem_stride, sizeof dst->mem_stride);
    if (is_fx(dst->el_type)) {
        quant->has_frac_bits = true;
        quant->frac_bits = dst->el_params.fx.frac_bits;
    } else if (is_sa(dst->el_type) && quant->axis < 0) {
        quant->scale[0] = dst->el_params.sa.scale.mem.i16;
        quant->zero_point[0] = dst->el_params.sa.zero_point.mem.i16;
        quant->scale_frac_bits[0] = dst->el_params.sa.scale_frac_bits.mem.i8;
    }
    desc->quant = *quant;
}

/* Work */

struct work *work_create(void)
{
    struct work *work = seam.calloc(1, sizeof *work);

    if (!work)
        return NULL;
    work->holders = 1;
    job_init(&work->job);
    return work;
}

struct work *work_hold(struct work *work)
{
    work->holders++;
    return work;
}

void work_drop(struct work *work)
{
    if (!work || --work->holders > 0)
        return;
    operands_finish(&work->operands);
    job_finish(&work->job);
    free(work);
}
