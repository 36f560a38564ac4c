/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "cli/job/explained.h"
#include "cli/job/explained_board.h"
#include "cli/job/staging.h"
#include "target/profile/profile_rules.h"

enum { LIST_ALIGNMENT = 64 };

static uint64_t align_up(uint64_t address, uint64_t alignment)
{
    return (address + alignment - 1) / alignment * alignment;
}

/* Returns the largest memory that the DMA controller reaches, or the first memory if it reaches
 * none. */
static const struct profile_memory *largest_memory(const struct target_profile *profile)
{
    const struct profile_memory *largest = &profile->memories[0];

    for (uint32_t i = 1; i < profile->memory_count; i++) {
        const struct profile_memory *memory = &profile->memories[i];
        const bool reached = memory->reached_by & PROFILE_DMA;

        if (reached && (!(largest->reached_by & PROFILE_DMA) || memory->size > largest->size))
            largest = memory;
    }
    return largest;
}

/* Places a job that is not staged. */
static int place(struct explained_board *board, const struct job_board_context *context,
                 const struct resolved *resolved, struct fault *fault)
{
    const uint32_t channels = resolved->job->common.channels;
    struct explained explained;

    if (explained_init(&explained, context->file, resolved, channels, fault))
        return -1;
    return explained_board_init(board, context, resolved, &explained, 0, fault);
}

/* Finds the memory of a tensor: the memory that the job names, else largest_memory(). */
static int find_memory(struct board_place *place, const struct target_profile *profile,
                       const char *name, const char *member, const char *pointer,
                       struct fault *fault)
{
    place->memory = *name ? profile_find_memory(profile, name, member, pointer, fault)
                          : largest_memory(profile);
    return place->memory ? 0 : -1;
}

static struct profile_operand operand_of(const char *side, const struct board_place *place)
{
    return (struct profile_operand){.side = side,
                                    .memory = place->memory,
                                    .in_buffer = place->in_buffer,
                                    .element = 1,
                                    .bytes = place->bytes};
}

/* Checks that the memories can be reached and are large enough. job_rules_check() checks all
 * rules. */
static int check_room(const struct explained_board *board, struct fault *fault)
{
    const struct profile_operand src = operand_of("src", &board->src);
    const struct profile_operand dst = operand_of("dst", &board->dst);

    return profile_check_operands(board->profile, &src, &dst, fault);
}

/* Places a tensor where its buffer is, if the buffer is in a memory of the board. */
static void place_in_buffer(struct board_place *place, const struct job_board_context *context,
                            const struct tensor_spec *spec)
{
    const struct buffer_place *buffer =
        spec->buffer ? &context->buffers->places[spec->buffer_index] : NULL;

    if (!buffer || !buffer->memory)
        return;
    place->in_buffer = true;
    place->memory = buffer->memory;
    place->address = buffer->address + spec->offset;
}

/* Returns the first address after all buffers in a memory. */
static uint64_t end_of_buffers(const struct profile_memory *memory,
                               const struct job_board_context *context)
{
    uint64_t end = memory->base;

    for (size_t i = 0; i < context->file->list.buffer_count; i++) {
        const struct buffer_place *place = &context->buffers->places[i];
        const uint64_t after = place->address + context->file->list.buffers[i].bytes;

        if (place->memory == memory && after > end)
            end = after;
    }
    return end;
}

/* Places a tensor that is in no buffer of the board at the first aligned address from `from` on. */
static int put(struct board_place *place, uint64_t from, const char *side, struct fault *fault)
{
    const struct profile_memory *memory = place->memory;
    const uint64_t end = memory->base + memory->size;
    char pointer[FAULT_POINTER_MAX];

    if (place->in_buffer)
        return 0;
    place->address = align_up(from, memory->alignment);
    if (place->address <= end && place->bytes <= end - place->address)
        return 0;
    snprintf(pointer, sizeof pointer, "/%s/memory", side);
    return fault_set(fault, FAULT_NO_ROOM, pointer,
                     "%s.memory: %" PRIu64 " B are needed, but %s has %" PRIu64
                     " B free behind the buffers of the job file",
                     side, place->bytes, memory->name,
                     place->address < end ? end - place->address : 0);
}

static int place_tensors(struct explained_board *board, const struct resolved *resolved,
                         const struct job_board_context *context, const struct explained *explained,
                         struct fault *fault)
{
    const struct target_profile *profile = board->profile;
    const struct job_spec *job = resolved->job;
    struct board_place *src = &board->src, *dst = &board->dst;
    uint64_t dst_from;

    src->bytes = explained->move.read.end;
    dst->bytes = explained->move.written.end;
    place_in_buffer(src, context, &job->src);
    place_in_buffer(dst, context, &job->dst);
    if ((!src->in_buffer &&
         find_memory(src, profile, job->src.memory, "src.memory", "/src/memory", fault)) ||
        (!dst->in_buffer &&
         find_memory(dst, profile, job->dst.memory, "dst.memory", "/dst/memory", fault)) ||
        check_room(board, fault) || put(src, end_of_buffers(src->memory, context), "src", fault))
        return -1;
    dst_from = end_of_buffers(dst->memory, context);
    if (dst->memory == src->memory && !src->in_buffer)
        dst_from = src->address + src->bytes;
    return put(dst, dst_from, "dst", fault);
}

/* Replaces the addresses of a plan by addresses on the board. */
static void rebase(struct mli_plan *plan, const struct explained_board *board,
                   const struct explained *explained)
{
    const uint64_t src = board->src.address - (uintptr_t)explained->src_base;
    const uint64_t dst = board->dst.address - (uintptr_t)explained->dst_base;

    plan->box.src = (const uint8_t *)(uintptr_t)((uintptr_t)plan->box.src + src);
    plan->box.dst = (uint8_t *)(uintptr_t)((uintptr_t)plan->box.dst + dst);
    for (size_t i = 0; i < plan->slabs; i++)
        plan->slab[i].dst = (uint8_t *)(uintptr_t)((uintptr_t)plan->slab[i].dst + dst);
}

static void split(struct explained_board *board, const struct explained *explained)
{
    const uint32_t have = board->profile->dma.channels;

    const uint32_t wanted = board->kernel ? 1 : explained->channels;

    board->channels = (uint32_t)mli_plan_split(&explained->move.plan, wanted < have ? wanted : have,
                                               0, board->part);
    for (uint32_t i = 0; i < board->channels; i++)
        rebase(&board->part[i], board, explained);
}

/* Places the descriptors of each channel after the descriptors of the previous channel. */
static void place_lists(struct explained_board *board)
{
    struct descriptor_list list;
    uint64_t at = board->zeros + CONTROLLER_ZEROS_SIZE;

    for (uint32_t i = 0; i < board->channels && board->shown > 0; i++) {
        board->list_address[i] = align_up(at, LIST_ALIGNMENT);
        list_init(&list, board->profile, &board->part[i], board->list_address[i], board->zeros);
        at = i + 1 < board->channels ? list_end(&list) : 0;
    }
}

static void compute_cost(struct explained_board *board)
{
    struct cost_channel channels[MLI_MOV_MAX_CHANNELS];
    const struct cost_memories memories = {board->src.memory, board->dst.memory};

    for (uint32_t i = 0; i < board->channels; i++) {
        const struct list_count count = list_count(board->profile, &board->part[i]);

        channels[i] = (struct cost_channel){&board->part[i], count.descriptors, count.core,
                                            count.core_bytes, count.fills};
        board->count.descriptors += count.descriptors;
        board->count.least += count.least;
        board->count.core += count.core;
        board->count.core_bytes += count.core_bytes;
    }
    cost_of_move(&board->cost, board->profile, &memories, channels, board->channels);
}

/* Returns whether a kernel of the core does the job: a permute of operands in vector memory. */
static bool is_kernel(const struct explained_board *board, const struct job_spec *job)
{
    return job->common.op == JOB_OP_PERMUTE && board->src.memory->vector &&
           board->dst.memory->vector && !board->profile->measured.present;
}

static void compute_kernel_cost(struct explained_board *board, uint32_t element)
{
    const struct cost_memories memories = {board->src.memory, board->dst.memory};

    board->work = kernel_work(board->profile, &board->part[0], element);
    cost_of_kernel(&board->cost, board->profile, &memories, &board->part[0], element);
}

/* Returns the first address after all buffers and both tensors in the source's memory. */
static uint64_t end_of_tensors(const struct explained_board *board,
                               const struct job_board_context *context)
{
    uint64_t end = end_of_buffers(board->src.memory, context);

    if (board->src.address + board->src.bytes > end)
        end = board->src.address + board->src.bytes;
    if (board->dst.memory == board->src.memory && board->dst.address + board->dst.bytes > end)
        end = board->dst.address + board->dst.bytes;
    return end;
}

static void __attribute__((format(printf, 3, 4)))
remark(struct board_remarks *remarks, enum board_remark_kind kind, const char *format, ...)
{
    struct board_remark *next = &remarks->list[remarks->count++];
    va_list args;

    next->kind = kind;
    va_start(args, format);
    vsnprintf(next->text, sizeof next->text, format, args);
    va_end(args);
}

/* Returns whether a row of the tensor begins at an odd address. Elements have 1 byte. */
static bool has_odd_rows(uint64_t first, const mli_explanation *move, bool read)
{
    bool odd = first % 2 != 0;

    for (uint32_t d = 0; d < move->rank; d++) {
        const mli_explained_axis *axis = &move->axis[d];
        const uint64_t stride = read ? axis->src_stride * axis->step : axis->dst_stride;
        const bool within_row = (read ? axis->src_stride : axis->dst_stride) == 1;

        odd |= axis->count > 1 && !within_row && stride % 2 != 0;
    }
    return odd;
}

/* "For the best performance vector load and store access for such data must use even byte
 * addresses" (ARC VPX Specific Details, on 8-bit elements). */
static void remark_on_addresses(struct board_remarks *remarks, const struct board_place *place,
                                const mli_explanation *move, bool read)
{
    const mli_byte_range *range = read ? &move->read : &move->written;

    if (move->elem == 1 && place->memory->vector && range->begin < range->end &&
        has_odd_rows(place->address + range->begin, move, read))
        remark(remarks, BOARD_REMARK_EVEN_ADDRESS,
               "%s: rows begin at odd addresses of %s, which is slower for 1-byte elements; use "
               "even shapes or strides",
               read ? "src" : "dst", place->memory->name);
}

static uint64_t bank_cycle(const struct profile_memory *memory)
{
    return (uint64_t)memory->banks * memory->bank_bytes;
}

static void remark_on_rows(struct board_remarks *remarks, const struct board_place *place,
                           const struct traffic *traffic, bool read)
{
    if (traffic->conflicts > 0)
        remark(remarks, BOARD_REMARK_BANK_CONFLICT,
               "%s: %" PRIu64 " of %" PRIu64
               " rows begin in the bank of the row before; a stride that is not a multiple of "
               "%" PRIu64 " B avoids that",
               read ? "src" : "dst", traffic->conflicts, traffic->rows, bank_cycle(place->memory));
}

enum { ROWS_COMPARED = 4096 };

static uint64_t bank_of(const struct profile_memory *memory, uint64_t address)
{
    return address % bank_cycle(memory) / memory->bank_bytes;
}

/* Returns how many of the first `rows` rows begin in one bank both in source and destination. */
static uint64_t count_same(const struct mli_copy_box *box, const struct profile_memory *memory,
                           uint64_t rows)
{
    uint64_t same = 0;

    for (uint64_t row = 0; row < rows; row++) {
        uint64_t src = (uintptr_t)box->src, dst = (uintptr_t)box->dst, rest = row;

        for (size_t i = box->loops; i-- > 0; rest /= box->loop[i].count) {
            const uint64_t at = rest % box->loop[i].count;

            src += at * box->loop[i].src_step;
            dst += at * box->loop[i].dst_step;
        }
        same += bank_of(memory, src) == bank_of(memory, dst);
    }
    return same;
}

/* A kernel reads and writes at the same time: operands in one bank slow each other down. */
static void remark_on_operands(struct board_remarks *remarks, const struct explained_board *board,
                               uint32_t elem)
{
    const struct mli_copy_box *box = &board->part[0].box;
    const struct profile_memory *memory = board->src.memory;
    uint64_t rows = box->run > 0 ? 1 : 0, same;

    if (memory != board->dst.memory || memory->banks < 2)
        return;
    for (size_t i = 0; i < box->loops && rows < ROWS_COMPARED; i++)
        rows *= box->loop[i].count;
    rows = rows < ROWS_COMPARED ? rows : ROWS_COMPARED;
    same = count_same(box, memory, rows);
    if (same > 0 && same >= rows - same)
        remark(remarks, BOARD_REMARK_SAME_BANK,
               "%" PRIu64 " of %" PRIu64 " row%s of src and dst begin%s in the same bank of %s; an "
               "offset of %" PRIu32 " B in a buffer of the job file avoids that",
               same, rows, rows == 1 ? "" : "s", same == 1 ? "s" : "", memory->name,
               memory->bank_bytes > elem ? memory->bank_bytes : elem);
}

/* Makes the remarks on a move whose cost is known. `kernel`: the job is a permute. */
static void board_remarks_make(struct board_remarks *remarks, const struct explained_board *board,
                               const mli_explanation *move, bool kernel)
{
    *remarks = (struct board_remarks){0};
    remark_on_addresses(remarks, &board->src, move, true);
    remark_on_addresses(remarks, &board->dst, move, false);
    remark_on_rows(remarks, &board->src, &board->cost.read, true);
    remark_on_rows(remarks, &board->dst, &board->cost.written, false);
    if (kernel)
        remark_on_operands(remarks, board, move->elem);
    if (board->count.core > 0)
        remark(remarks, BOARD_REMARK_CORE,
               "the core moves %" PRIu64 " B in %" PRIu64
               " piece%s, which the controller cannot move",
               board->count.core_bytes, board->count.core, board->count.core == 1 ? "" : "s");
}

int explained_board_init(struct explained_board *board, const struct job_board_context *context,
                         const struct resolved *resolved, const struct explained *explained,
                         uint64_t shown, struct fault *fault)
{
    *board = (struct explained_board){.profile = context->profile, .shown = shown};
    if (place_tensors(board, resolved, context, explained, fault) < 0)
        return -1;
    board->zeros = align_up(end_of_tensors(board, context), CONTROLLER_ZEROS_SIZE);
    board->kernel = is_kernel(board, resolved->job);
    split(board, explained);
    if (board->kernel) {
        compute_kernel_cost(board, explained->move.elem);
    } else {
        place_lists(board);
        compute_cost(board);
    }
    board_remarks_make(&board->remarks, board, &explained->move,
                       resolved->job->common.op == JOB_OP_PERMUTE);
    return 0;
}

void explained_board_append(struct explained_board *sum, const struct explained_board *next)
{
    const profile_cost left = UINT64_MAX - sum->cost.total;

    sum->stage.memory = sum->dst.memory;
    sum->stage.bytes += sum->dst.bytes;
    sum->dst = next->dst;
    sum->count.descriptors += next->count.descriptors;
    sum->cost.written.bytes += next->cost.written.bytes;
    sum->cost.total += next->cost.total < left ? next->cost.total : left;
    sum->cost.bus +=
        next->cost.bus < UINT64_MAX - sum->cost.bus ? next->cost.bus : UINT64_MAX - sum->cost.bus;
    sum->cost.memcpy_total = next->cost.memcpy_total;
    if (next->channels > sum->channels)
        sum->channels = next->channels;
}

static const char *const words[] = {
#define REMARK_WORD(name, word, about_addresses) word,
    BOARD_REMARK_TABLE(REMARK_WORD)
#undef REMARK_WORD
};

static const bool addresses[] = {
#define REMARK_ADDRESSES(name, word, about_addresses) about_addresses,
    BOARD_REMARK_TABLE(REMARK_ADDRESSES)
#undef REMARK_ADDRESSES
};

void board_remarks_retain_addresses(struct board_remarks *remarks)
{
    uint32_t left = 0;

    for (uint32_t i = 0; i < remarks->count; i++)
        if (addresses[remarks->list[i].kind])
            remarks->list[left++] = remarks->list[i];
    remarks->count = left;
}

const char *board_remark_word(enum board_remark_kind kind)
{
    return words[kind];
}

void board_remarks_json(struct jsonw *w, const char *key, const struct board_remarks *remarks)
{
    jsonw_array_begin(w, key);
    for (uint32_t i = 0; i < remarks->count; i++) {
        jsonw_object_begin(w, NULL);
        jsonw_string(w, "rule", words[remarks->list[i].kind]);
        jsonw_string(w, "message", remarks->list[i].text);
        jsonw_object_end(w);
    }
    jsonw_array_end(w);
}

static int add_step(struct explained_board *sum, const struct job_board_context *context,
                    const struct staging *stage, int step, struct fault *fault)
{
    struct explained_board board;
    struct resolved resolved;
    int status =
        resolved_plan(&resolved, &stage->file, &stage->jobs[step], context->produced, fault);

    if (status == 0)
        status = place(&board, context, &resolved, fault);
    resolved_finish(&resolved);
    if (status)
        return -1;
    if (step == STAGING_LOAD)
        *sum = board;
    else
        explained_board_append(sum, &board);
    if (step == STAGING_PERMUTE)
        sum->remarks = board.remarks;
    return 0;
}

static int add_steps(struct explained_board *sum, const struct job_board_context *context,
                     const struct resolved *resolved, struct fault *fault)
{
    static const struct produced nothing = {0};
    struct buffer_places places = {0};
    struct staging stage;
    const struct job_board_context steps = {.profile = context->profile,
                                            .file = &stage.file,
                                            .buffers = &places,
                                            .produced =
                                                context->produced ? context->produced : &nothing};
    int status = staging_init(&stage, context->file, resolved, fault);

    if (status == 0)
        status = buffer_places_init(&places, context->profile, &stage.file, fault);
    for (int step = 0; step < STAGING_STEPS && status == 0; step++)
        status = add_step(sum, &steps, &stage, step, fault);
    buffer_places_finish(&places);
    staging_finish(&stage);
    return status;
}

int job_board_init(struct explained_board *board, const struct job_board_context *context,
                   const struct resolved *resolved, struct fault *fault)
{
    return is_staged(resolved->job) ? add_steps(board, context, resolved, fault)
                                    : place(board, context, resolved, fault);
}
