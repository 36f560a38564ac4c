/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/job/explained.h"
#include "cli/term/clock_ns.h"
#include "mli_helpers_api.h"

enum { PAGE = 4096 };

/* Returns an address at which there is no memory. Its offset in a page is the one that the first
 * element would have if the file were mapped. */
static uint8_t *base_of(uint64_t offset)
{
    return (uint8_t *)(uintptr_t)(PAGE + offset % PAGE);
}

static uint32_t capacity_of(uint64_t bytes)
{
    return bytes < UINT32_MAX ? (uint32_t)bytes : UINT32_MAX;
}

/* `rank`, `shape` and `strides`: those of the tensor on the wire. */
static void take_file(struct explained_side *side, const struct tensor_spec *spec,
                      const struct tensor_file *file, uint32_t rank, const uint32_t *shape,
                      const int32_t *strides)
{
    side->file = spec->file;
    side->buffer = spec->buffer;
    side->rank = rank;
    memcpy(side->shape, shape, sizeof(side->shape));
    memcpy(side->strides, strides, sizeof(side->strides));
    side->offset = file->header.data_offset;
    side->bytes = file->header.data_size;
}

/* Returns whether the move writes into existing bytes. */
static bool is_update(const struct resolved *r)
{
    return r->job->dst.update || r->dst_buffer;
}

/* Returns whether the output is an existing raw file or buffer without shape: its data ends with
 * the file or buffer. */
static bool is_shapeless(const struct resolved *r)
{
    return is_update(r) && r->before.header.rank == 0;
}

static void take_files(struct explained *e, const struct resolved *r)
{
    const struct job_spec *job = r->job;
    const struct tensor_desc *src = &r->wire.src.desc, *dst = &r->wire.dst.desc;

    take_file(&e->src, &job->src, &r->src, src->rank, src->shape, src->strides);
    if (r->before.header.rank > 0)
        take_file(&e->dst, &job->dst, &r->whole, dst->rank, dst->shape, dst->strides);
    else
        take_file(&e->dst, &job->dst, &r->whole, r->result.rank, r->result.shape,
                  r->result.mem_stride);
    e->src.offset = r->wire.src.offset;
    e->src.bytes -= r->wire.src.offset - r->src.header.data_offset;
    if (npy_folds(&r->src.header)) {
        e->whole = &r->src.header;
        e->whole_dst = &r->whole.header;
    }
    e->src.path = r->src_path;
    e->dst.path = r->dst_path;
    if (is_shapeless(r))
        e->dst.bytes = (uint64_t)r->whole.stat.st_size - e->dst.offset;
    e->update = is_update(r);
    e->src_base = base_of(e->src.offset);
    e->dst_base = base_of(e->dst.offset);
}

int explained_own_parameters(const struct resolved *r, struct quant *own, struct fault *fault)
{
    const struct quant *given = &r->wire.src.desc.quant;

    *own = (struct quant){.axis = -1};
    if (given->count == 0 || given->axis < 0)
        return 0;
    for (uint32_t i = 0; i < r->result.rank; i++) {
        if (r->wire.common.cfg.perm_dim[i] == given->axis)
            own->axis = (int32_t)i;
    }
    return quant_alloc(own, r->result.shape[own->axis]) ? fault_no_memory(fault) : 0;
}

int explained_move(mli_explanation *move, const struct resolved *r, uint64_t dst_bytes,
                   const struct quant *own, struct fault *fault)
{
    mli_tensor src = {0}, dst = {0};

    tensor_desc_to_mli(&r->wire.src.desc, &src);
    src.data.mem.pi8 = (int8_t *)base_of(r->wire.src.offset);
    src.data.capacity =
        capacity_of(r->src.header.data_size + r->src.header.data_offset - r->wire.src.offset);
    dst.data.mem.pi8 = (int8_t *)base_of(r->whole.header.data_offset);
    dst.data.capacity = capacity_of(dst_bytes);
    memcpy(dst.mem_stride, r->result.mem_stride, sizeof(dst.mem_stride));
    if (own->axis >= 0) {
        const uint32_t halves = capacity_of((uint64_t)own->count * sizeof(int16_t));

        dst.el_params.sa.scale.mem.pi16 = own->scale;
        dst.el_params.sa.scale.capacity = halves;
        dst.el_params.sa.zero_point.mem.pi16 = own->zero_point;
        dst.el_params.sa.zero_point.capacity = halves;
        dst.el_params.sa.scale_frac_bits.mem.pi8 = own->scale_frac_bits;
        dst.el_params.sa.scale_frac_bits.capacity = own->count;
    }
    const mli_status status = mli_mov_explain_unplaced(&src, &r->wire.common.cfg, &dst, move);
    return status == MLI_STATUS_OK ? 0 : fault_set_refused(fault, status, mli_last_error());
}

static int explain_move(struct explained *e, const struct resolved *r, struct fault *fault)
{
    struct quant own;

    if (explained_own_parameters(r, &own, fault))
        return -1;
    e->src.quant_axis = own.axis < 0 ? -1 : r->wire.src.desc.quant.axis;
    e->dst.quant_axis = own.axis;
    const int status = explained_move(&e->move, r, e->dst.bytes, &own, fault);
    quant_alloc(&own, 0);
    return status;
}

struct mli_copy_box explained_box(const struct mli_plan *plan, size_t index)
{
    if (index == 0)
        return plan->box;
    const struct mli_fill_slab *slab = &plan->slab[index - 1];
    struct mli_copy_box box = {.dst = slab->dst, .run = slab->run, .loops = slab->loops};

    for (size_t i = 0; i < slab->loops; i++)
        box.loop[i] = (struct mli_copy_loop){slab->loop[i].count, 0, slab->loop[i].step};
    return box;
}

static uint64_t rows_of(const struct mli_plan *plan)
{
    uint64_t rows = 0;

    for (size_t index = plan->box.run == 0; index <= plan->slabs; index++) {
        const struct mli_copy_box box = explained_box(plan, index);
        uint64_t product = 1;

        for (size_t i = 0; i < box.loops; i++)
            product *= box.loop[i].count;
        rows += product;
    }
    return rows;
}

static void explain_channels(struct explained *e, uint32_t channels)
{
    struct mli_plan parts[MLI_MOV_MAX_CHANNELS];
    e->engine = mli_mov_engine_name();
    mli_mov_engine_caps(&e->caps);
    e->channels = channels;
    e->parts = (uint32_t)mli_plan_split(&e->move.plan, channels, e->caps.tiny, parts);
    for (uint32_t i = 0; i < e->parts; i++)
        e->part[i] =
            (struct explained_part){.bytes = parts[i].bytes,
                                    .rows = rows_of(&parts[i]),
                                    .descriptors = mli_legalise_count(&parts[i], &e->caps)};
}

int explained_init(struct explained *e, const struct job_file *file, const struct resolved *r,
                   uint32_t channels, struct fault *fault)
{
    const struct job_spec *job = r->job;
    *e = (struct explained){.file = file->path,
                            .pointer = job->pointer,
                            .name = job->common.name,
                            .op = job->common.op == JOB_OP_PERMUTE ? "permute" : "mov",
                            .type = element_type_name(r->wire.src.desc.type)};
    take_files(e, r);
    if (explain_move(e, r, fault))
        return -1;
    explain_channels(e, channels);
    return 0;
}

#define STEP_WORD(name, word, member)   [STEP_##name] = (word),
#define STEP_MEMBER(name, word, member) [STEP_##name] = (member),

const char *explained_step_word(enum step step)
{
    static const char *const words[] = {STEP_TABLE(STEP_WORD)};
    return words[step];
}

const char *explained_step_member(enum step step)
{
    static const char *const members[] = {STEP_TABLE(STEP_MEMBER)};
    return members[step];
}

/* Returns the extent of a source dimension after a step. */
static uint64_t extent_after(const mli_explained_axis *axis, enum step step)
{
    switch (step) {
    case STEP_PAD:
        return axis->padded;
    case STEP_CROP:
        return axis->size;
    default:
        return axis->count;
    }
}

static bool changes(const mli_explained_axis *axis, uint32_t d, enum step step)
{
    switch (step) {
    case STEP_PAD:
        return axis->padded != axis->extent;
    case STEP_CROP:
        return axis->size != axis->padded;
    case STEP_SUBSAMPLE:
        return axis->step != 1;
    case STEP_PERMUTE:
        return axis->dst_dim != d;
    default:
        return axis->dst_offset != 0;
    }
}

bool explained_step_shape(const mli_explanation *move, enum step step, uint64_t shape[MLI_MAX_RANK])
{
    bool changed = false;
    for (uint32_t d = 0; d < move->rank; d++) {
        const mli_explained_axis *axis = &move->axis[d];
        uint32_t to = step >= STEP_PERMUTE ? axis->dst_dim : d;
        shape[to] = extent_after(axis, step);
        if (step == STEP_PLACE)
            shape[to] += axis->dst_offset;
        changed = changed || changes(axis, d, step);
    }
    return changed;
}

bool explained_read_box(const mli_explanation *move, uint64_t first[MLI_MAX_RANK],
                        uint64_t last[MLI_MAX_RANK])
{
    if (move->samples_read == 0)
        return false;
    for (uint32_t d = 0; d < move->rank; d++) {
        const mli_explained_axis *axis = &move->axis[d];
        first[d] = axis->first;
        last[d] = axis->first + (axis->hi - 1 - axis->lo) * axis->step;
    }
    return true;
}

void explained_written_box(const mli_explanation *move, uint64_t first[MLI_MAX_RANK],
                           uint64_t last[MLI_MAX_RANK])
{
    for (uint32_t d = 0; d < move->rank; d++) {
        const mli_explained_axis *axis = &move->axis[d];
        first[axis->dst_dim] = axis->dst_offset;
        last[axis->dst_dim] = axis->dst_offset + axis->count - 1;
    }
}

enum {
    PART = 16 * 1024 * 1024, /* maximum size of a measured copy; larger than common caches */
    RUNS = 9,
    RUN_BYTES = 256 * 1024, /* repeat small copies up to this size: the clock is coarse */
    REPEATS_MAX = 1024,
    ENOUGH_NS = 200 * 1000 * 1000 /* start no further run after this time */
};

/* Returns the time of one run, which makes `repeats` copies, in ns. */
static uint64_t copy(uint8_t *to, const uint8_t *from, size_t bytes, size_t repeats)
{
    uint64_t begin = clock_ns();
    for (size_t i = 0; i < repeats; i++) {
        memcpy(to, from, bytes);
        __asm__ volatile("" : : "r"(to) : "memory"); /* keeps the compiler from removing copies */
    }
    return clock_ns() - begin;
}

static int compare(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return (left > right) - (left < right);
}

/* Returns the median time of a copy, in ns. */
static double median(uint8_t *to, const uint8_t *from, size_t bytes)
{
    size_t repeats = RUN_BYTES / bytes < REPEATS_MAX ? RUN_BYTES / bytes : REPEATS_MAX;
    if (repeats == 0)
        repeats = 1;
    uint64_t times[RUNS], begin = clock_ns();
    size_t count = 0;
    copy(to, from, bytes, 1); /* run once before measuring, for the page faults and cache misses */
    do {
        times[count++] = copy(to, from, bytes, repeats);
    } while (count < RUNS && clock_ns() - begin < ENOUGH_NS);
    qsort(times, count, sizeof(times[0]), compare);
    size_t middle = count / 2;
    return (double)times[middle] / (double)repeats;
}

/* Returns the time of a memcpy of `bytes` bytes, in ns, or 0 if memory is short. Above PART bytes,
 * measures a copy of PART bytes and extrapolates. */
static uint64_t memcpy_time(uint64_t bytes)
{
    size_t part = bytes < PART ? (size_t)bytes : PART;
    if (part == 0)
        return 0;
    uint8_t *memory = malloc(2 * part);
    if (!memory)
        return 0;
    memset(memory, 1, 2 * part);
    double ns = median(memory + part, memory, part) * ((double)bytes / (double)part);
    free(memory);
    return ns < 1 ? 1 : (uint64_t)(ns + 0.5);
}

void explained_time_memcpy(struct explained *e)
{
    e->memcpy_ns = memcpy_time(e->move.plan.bytes);
    e->timed = e->memcpy_ns > 0;
}

int explained_check_apart(const struct explained *explained, const struct resolved *resolved,
                          struct fault *fault)
{
    const mli_byte_range *read = &explained->move.read, *written = &explained->move.written;
    const uint64_t src = resolved->job->src.offset, dst = resolved->job->dst.offset;

    /* A staged job reads its source before it writes its destination. */
    if (is_staged(resolved->job))
        return 0;
    if (!resolved->src_buffer || resolved->src_buffer != resolved->dst_buffer ||
        read->begin == read->end || src + read->end <= dst + written->begin ||
        dst + written->end <= src + read->begin)
        return 0;
    fault_set(fault, FAULT_REFUSED, "/dst",
              "dst: bytes %" PRIu64 " to %" PRIu64 " of buffer %s are written, but %" PRIu64
              " to %" PRIu64 " of the same buffer are read as src",
              dst + written->begin, dst + written->end, resolved->dst_buffer->name,
              src + read->begin, src + read->end);
    fault->status = MLI_STATUS_INCOMPATEBLE_TENSORS;
    return -1;
}
