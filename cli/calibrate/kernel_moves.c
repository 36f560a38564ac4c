/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/calibrate/kernel_moves.h"

#include <string.h>
#include <sys/mman.h>

#include "mli_explain.h"
#include "target/tuning/tuning_file.h"

enum { LINE = 64, ROOM = 1 << 20 };

const struct kernel_shape kernel_shapes[] = {
    {.name = "copy", .rank = 1, .shape = {0}},
    {.name = "rows of half an image", .rank = 3, .shape = {0, 128, 64}, .size = {0, 64, 0}},
    {.name = "pad HWC, C=32", .rank = 3, .shape = {0, 28, 32}, .pad = {1, 1, 0}},
    {.name = "pad HWC, C=3", .rank = 3, .shape = {0, 112, 3}, .pad = {1, 1, 0}},
    {.name = "pad CHW", .rank = 3, .shape = {0, 28, 28}, .pad = {0, 1, 1}},
    {.name = "rows of 17 of 64", .rank = 2, .shape = {0, 64}, .size = {0, 17}},
    {.name = "subsample 3", .rank = 2, .shape = {0, 1023}, .step = {1, 3}},
    {.name = "subsample 2, CHW", .rank = 3, .shape = {0, 56, 56}, .step = {1, 2, 2}},
    {.name = "exchange rows", .rank = 4, .shape = {2, 0, 8, 64}, .perm = {0, 2, 1, 3}},
    {.name = "gather columns",
     .rank = 3,
     .shape = {2, 0, 1024},
     .perm = {0, 2, 1},
     .step = {1, 1, 2}},
    {.name = "transpose", .rank = 2, .shape = {0, 387}, .perm = {1, 0}, .odd = true},
    {.name = "transpose, powers of two", .rank = 2, .shape = {0, 512}, .perm = {1, 0}},
    {.name = "transpose, 16 columns", .rank = 2, .shape = {0, 16}, .perm = {1, 0}},
    {.name = "HWC to CHW, C=3", .rank = 3, .shape = {0, 224, 3}, .perm = {2, 0, 1}},
    {.name = "HWC to CHW, C=5 of 6",
     .rank = 3,
     .shape = {0, 224, 6},
     .perm = {2, 0, 1},
     .size = {0, 0, 5}},
    {.name = "HWC to CHW, C=32", .rank = 3, .shape = {0, 56, 32}, .perm = {2, 0, 1}},
    {.name = "HWC to CHW, C=64", .rank = 3, .shape = {0, 28, 64}, .perm = {2, 0, 1}},
    {.name = "CHW to HWC, C=3", .rank = 3, .shape = {3, 0, 224}, .perm = {1, 2, 0}},
    {.name = "CHW to HWC, C=4", .rank = 3, .shape = {4, 0, 224}, .perm = {1, 2, 0}},
    {.name = "CHW to HWC, C=32", .rank = 3, .shape = {32, 0, 56}, .perm = {1, 2, 0}},
    {.name = "NHWC to NCHW, C=32", .rank = 4, .shape = {2, 0, 28, 32}, .perm = {0, 3, 1, 2}},
    {.name = "reverse four dimensions", .rank = 4, .shape = {8, 12, 0, 20}, .perm = {3, 2, 1, 0}},
    {.name = "exchange two pairs", .rank = 4, .shape = {4, 0, 24, 40}, .perm = {1, 0, 3, 2}},
    {.name = "pad, step 2, HWC to CHW",
     .rank = 3,
     .shape = {0, 56, 32},
     .perm = {2, 0, 1},
     .step = {2, 2, 1},
     .pad = {1, 1, 0}},
    {NULL},
};

const struct kernel_shape *kernel_shape_named(const char *name)
{
    for (const struct kernel_shape *shape = kernel_shapes; shape->name; shape++)
        if (strcmp(shape->name, name) == 0)
            return shape;
    return NULL;
}

static uint8_t *map(size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

    return memory == MAP_FAILED ? NULL : memory;
}

int kernel_memory_init(struct kernel_memory *memory, size_t src_bytes, size_t dst_bytes)
{
    *memory = (struct kernel_memory){.src_size = src_bytes + 2 * ROOM,
                                     .dst_size = dst_bytes + 2 * ROOM,
                                     .random = UINT64_C(0x9E3779B97F4A7C15)};
    memory->src = map(memory->src_size);
    memory->dst = map(memory->dst_size);
    if (!memory->src || !memory->dst) {
        kernel_memory_finish(memory);
        return -1;
    }
    /* Write all pages: pages that were never written are all the same page of zeros. */
    memset(memory->src, 0x35, memory->src_size);
    memset(memory->dst, 0x53, memory->dst_size);
    return 0;
}

void kernel_memory_finish(struct kernel_memory *memory)
{
    if (memory->src)
        munmap(memory->src, memory->src_size);
    if (memory->dst)
        munmap(memory->dst, memory->dst_size);
    memory->src = memory->dst = NULL;
}

uint64_t kernel_memory_random(struct kernel_memory *memory)
{
    memory->random ^= memory->random << 13;
    memory->random ^= memory->random >> 7;
    memory->random ^= memory->random << 17;
    return memory->random;
}

static uint32_t or_one(uint32_t number)
{
    return number ? number : 1;
}

/* Returns the number of samples that the move takes along a dimension. */
static uint32_t samples(const struct kernel_shape *shape, uint32_t d, uint32_t extent)
{
    const uint32_t padded = extent + 2 * shape->pad[d],
                   window = shape->size[d] ? shape->size[d] : padded;

    return (window + or_one(shape->step[d]) - 1) / or_one(shape->step[d]);
}

/* Returns the extent of dimension d that gives `wanted` samples. */
static uint32_t extent_for(const struct kernel_shape *shape, uint32_t d, uint64_t wanted)
{
    const uint64_t all = (wanted ? wanted : 1) * or_one(shape->step[d]),
                   pads = 2 * (uint64_t)shape->pad[d];
    const uint64_t extent = all > pads ? all - pads : 1;

    return (uint32_t)(shape->odd ? extent | 1 : extent);
}

static void set_shape(struct kernel_move *move, size_t bytes)
{
    const struct kernel_shape *shape = move->shape;
    uint64_t others = move->elem;
    uint32_t grows = 0;

    for (uint32_t d = 0; d < shape->rank; d++) {
        move->src.shape[d] = shape->shape[d];
        if (shape->shape[d] == 0)
            grows = d;
        else
            others *= samples(shape, d, shape->shape[d]);
    }
    move->src.shape[grows] = extent_for(shape, grows, bytes / others);
}

static void set_cfg(struct kernel_move *move)
{
    const struct kernel_shape *shape = move->shape;

    mli_mov_cfg_for_copy(&move->cfg);
    for (uint32_t d = 0; d < shape->rank; d++) {
        move->cfg.size[d] = shape->size[d];
        move->cfg.sub_sample_step[d] = or_one(shape->step[d]);
        move->cfg.padding_pre[d] = move->cfg.padding_post[d] = shape->pad[d];
    }
    if (shape->perm[0] || shape->perm[1])
        memcpy(move->cfg.perm_dim, shape->perm, shape->rank);
}

void kernel_move_init(struct kernel_move *move, const struct kernel_shape *shape, uint32_t elem,
                      size_t bytes)
{
    int64_t pitch = 1;

    memset(move, 0, sizeof *move);
    move->shape = shape;
    move->elem = move->bytes = elem;
    move->src.rank = shape->rank;
    move->src.el_type = elem == 1 ? MLI_EL_FX_8 : elem == 2 ? MLI_EL_FX_16 : MLI_EL_FP_32;
    set_shape(move, bytes);
    set_cfg(move);
    for (uint32_t d = shape->rank; d-- > 0;) {
        move->bytes *= samples(shape, d, move->src.shape[d]);
        move->src.mem_stride[d] = (int32_t)pitch;
        pitch *= move->src.shape[d] + (d + 1 == shape->rank ? shape->gap : 0);
    }
    move->src_bytes = (size_t)pitch * elem;
}

bool kernel_move_place(struct kernel_move *move, struct kernel_memory *memory)
{
    const size_t src_at = kernel_memory_random(memory) % (ROOM / LINE) * LINE,
                 dst_at = kernel_memory_random(memory) % (ROOM / LINE) * LINE;

    if (move->src_bytes > memory->src_size - ROOM || move->bytes > memory->dst_size - ROOM)
        return false;
    move->src.data.mem.pi8 = (int8_t *)memory->src + src_at;
    move->src.data.capacity = (uint32_t)move->src_bytes;
    move->dst.data.mem.pi8 = (int8_t *)memory->dst + dst_at;
    move->dst.data.capacity = (uint32_t)move->bytes;
    move->again = move->dst;
    return true;
}

int kernel_move_run(struct kernel_move *move)
{
    move->dst = move->again;
    return mli_mov_tensor_sync(&move->src, &move->cfg, &move->dst) == MLI_STATUS_OK ? 0 : -1;
}

static bool streams(const struct kernel_move *move)
{
    mli_explanation explained;
    char text[MLI_KERNEL_TEXT_MAX];

    return mli_mov_explain(&move->src, &move->cfg, &move->again, &explained) == MLI_STATUS_OK &&
           strstr(mli_plan_kernel(&explained.plan, 0, text), "streamed") != NULL;
}

size_t kernel_move_threshold(const struct kernel_move *move)
{
    mli_tuning tuning = {.size = sizeof tuning};

    (void)mli_tuning_default(&tuning, NULL);
    for (size_t i = 0; i < TUNING_FIELDS; i++)
        if (tuning_field_is_threshold(i))
            tuning_field_set(&tuning, i, UINT64_MAX);
    for (size_t i = 0; i < TUNING_FIELDS; i++) {
        if (!tuning_field_is_threshold(i))
            continue;
        tuning_field_set(&tuning, i, 0);
        if (mli_tuning_set(&tuning) == MLI_STATUS_OK && streams(move))
            return i;
        tuning_field_set(&tuning, i, UINT64_MAX);
    }
    return TUNING_FIELDS;
}
