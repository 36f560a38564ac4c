/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A double-buffered tiling loop, as on a DSP: while the processor computes on tile n in one half of
 * its fast memory, the DMA moves tile n + 1 into the second half.
 *
 *     feature map (HWC, 8 bit)        fast memory
 *     +----+----+----+----+           +--------+--------+
 *     |    |tile|    |    |  -------> | half 0 | half 1 |  planes of a tile with its halo: CHW
 *     +----+----+----+----+  a move   +--------+--------+
 *          with its halo              the processor: a 3x3 box filter over each plane
 *
 * A move crops a tile with a border of one element and permutes HWC to CHW. For the inner tiles,
 * the program prepares one job for each half, and starts it with the offset of each tile. The halo
 * of a tile at the edge is partly zeros: each such tile is a separate job. The program compares
 * the result with the filter over the whole map, element by element.
 *
 *     tiling [SOCKET]        (default: $MLID_SOCKET, or mlid's default)
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mli_client.h"

enum {
    HEIGHT = 96,
    WIDTH = 128,
    CHANNELS = 4,
    TILE = 16,
    HALO = 1,
    SPAN = TILE + 2 * HALO, /* width of a tile with its halo */
    HALF = CHANNELS * SPAN * SPAN,
    MAP = HEIGHT * WIDTH * CHANNELS,
    ROWS = HEIGHT / TILE,
    COLUMNS = WIDTH / TILE,
    TILE_CHANNELS = 2 /* number of DMA channels for each move */
};

struct tiling {
    mli_client *client;
    mli_client_buffer map, halves; /* memory shared with the service */
    mli_client_prepared inner[2];  /* the move of an inner tile into half 0 and into half 1 */
    mli_client_error error;
    int16_t result[CHANNELS][HEIGHT][WIDTH];
};

static bool is_inner(int row, int column)
{
    return row > 0 && row < ROWS - 1 && column > 0 && column < COLUMNS - 1;
}

/* Describes the move of a tile with its halo; the map is padded with a border of zeros. */
static void describe(const struct tiling *t, mli_client_job *job, int row, int column, int half)
{
    mli_client_job_init(job);
    job->src = (mli_tensor){.rank = 3, .shape = {HEIGHT, WIDTH, CHANNELS}, .el_type = MLI_EL_FX_8};
    job->src_memory.buffer = t->map.id;
    job->dst_memory.buffer = t->halves.id;
    job->dst_memory.offset = (uint64_t)half * HALF;
    for (int i = 0; i < 2; i++)
        job->cfg.padding_pre[i] = job->cfg.padding_post[i] = HALO;
    job->cfg.offset[0] = (uint32_t)(row * TILE);
    job->cfg.offset[1] = (uint32_t)(column * TILE);
    job->cfg.size[0] = job->cfg.size[1] = SPAN;
    job->cfg.perm_dim[0] = 2;
    job->cfg.perm_dim[1] = 0;
    job->cfg.perm_dim[2] = 1;
    job->channels = TILE_CHANNELS;
}

/* Prepares the move of an inner tile: the source is one tile, and each start gives its offset. */
static int prepare(struct tiling *t)
{
    mli_client_job job;

    for (int half = 0; half < 2; half++) {
        mli_client_job_init(&job);
        job.src = (mli_tensor){.rank = 3,
                               .shape = {SPAN, SPAN, CHANNELS},
                               .mem_stride = {WIDTH * CHANNELS, CHANNELS, 1},
                               .el_type = MLI_EL_FX_8};
        job.src_memory.buffer = t->map.id;
        job.dst_memory.buffer = t->halves.id;
        job.dst_memory.offset = (uint64_t)half * HALF;
        job.cfg.perm_dim[0] = 2;
        job.cfg.perm_dim[1] = 0;
        job.cfg.perm_dim[2] = 1;
        job.channels = TILE_CHANNELS;
        if (mli_client_prepare(t->client, &job, &t->inner[half], &t->error))
            return -1;
    }
    return 0;
}

/* Starts the move of a tile without waiting. */
static int fetch(struct tiling *t, int tile, mli_client_ticket *ticket)
{
    int row = tile / COLUMNS, column = tile % COLUMNS, half = tile % 2;
    int status;

    if (is_inner(row, column)) {
        mli_client_start_args args = {.prepared = t->inner[half].id};
        int first = ((row * TILE - HALO) * WIDTH + column * TILE - HALO) * CHANNELS;

        args.src.has_offset = true;
        args.src.offset = (uint64_t)first;
        status = mli_client_start(t->client, &args, NULL, NULL, ticket, &t->error);
    } else {
        mli_client_job job;

        describe(t, &job, row, column, half);
        status = mli_client_submit_async(t->client, &job, NULL, NULL, ticket, &t->error);
    }
    return status ? status : mli_client_flush(t->client, &t->error);
}

/* Computes the sum of the 3x3 neighbours in each plane of a tile. */
static void compute(struct tiling *t, int tile)
{
    int row = tile / COLUMNS * TILE, column = tile % COLUMNS * TILE;
    const int8_t *plane = (const int8_t *)t->halves.address + tile % 2 * HALF;

    for (int c = 0; c < CHANNELS; c++, plane += SPAN * SPAN) {
        for (int y = 0; y < TILE; y++) {
            for (int x = 0; x < TILE; x++) {
                int sum = 0;

                for (int i = 0; i < 9; i++)
                    sum += plane[(y + i / 3) * SPAN + x + i % 3];
                t->result[c][row + y][column + x] = (int16_t)sum;
            }
        }
    }
}

/* Starts the move of the next tile before computing on the current tile. */
static int run(struct tiling *t)
{
    mli_client_ticket now, next = 0;

    if (fetch(t, 0, &now))
        return -1;
    for (int tile = 0; tile < ROWS * COLUMNS; tile++) {
        if (tile + 1 < ROWS * COLUMNS && fetch(t, tile + 1, &next))
            return -1;
        if (mli_client_wait(t->client, now, -1, NULL, &t->error))
            return -1;
        compute(t, tile);
        now = next;
    }
    return 0;
}

/* Computes the filter over the whole map; returns the number of elements that differ. */
static int check(const struct tiling *t)
{
    const int8_t *map = t->map.address;
    int different = 0;

    for (int c = 0; c < CHANNELS; c++) {
        for (int y = 0; y < HEIGHT; y++) {
            for (int x = 0; x < WIDTH; x++) {
                int sum = 0;

                for (int i = 0; i < 9; i++) {
                    int ny = y + i / 3 - 1, nx = x + i % 3 - 1;

                    if (ny >= 0 && ny < HEIGHT && nx >= 0 && nx < WIDTH)
                        sum += map[(ny * WIDTH + nx) * CHANNELS + c];
                }
                different += sum != t->result[c][y][x];
            }
        }
    }
    return different;
}

static int set_up(struct tiling *t, const char *path)
{
    if (mli_client_connect(path, &t->client, &t->error) ||
        mli_client_buffer_alloc(t->client, MAP, &t->map, &t->error) ||
        mli_client_buffer_alloc(t->client, 2 * HALF, &t->halves, &t->error))
        return -1;
    int8_t *map = t->map.address;
    uint32_t random = 1;

    for (int i = 0; i < MAP; i++) {
        random = random * 1664525 + 1013904223;
        map[i] = (int8_t)(random >> 24);
    }
    return prepare(t);
}

static void tear_down(struct tiling *t)
{
    if (!t->client)
        return;
    for (int half = 0; half < 2; half++) {
        if (t->inner[half].id)
            mli_client_prepared_release(t->client, &t->inner[half], NULL);
    }
    if (t->halves.id)
        mli_client_buffer_release(t->client, &t->halves, NULL);
    if (t->map.id)
        mli_client_buffer_release(t->client, &t->map, NULL);
    mli_client_close(t->client);
}

int main(int argc, char **argv)
{
    static struct tiling t;
    int different = -1;

    if (set_up(&t, argc > 1 ? argv[1] : NULL) == 0 && run(&t) == 0)
        different = check(&t);
    if (different < 0)
        fprintf(stderr, "tiling: %s: %s\n", t.error.name, t.error.message);
    else
        printf("%d tiles, %d elements differ\n", ROWS * COLUMNS, different);
    tear_down(&t);
    return different != 0;
}
