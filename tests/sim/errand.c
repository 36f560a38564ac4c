/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/sim/errand.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cli/selftest/random_move.h"
#include "tests/property/move_oracle.h"
#include "tests/sim/kernel.h"
#include "tests/sim/real.h"
#include "tests/sim/world.h"

enum { WORD = 8 };

static void fill(unsigned char *bytes, size_t size)
{
    for (size_t i = 0; i < size; i += WORD) {
        const uint64_t word = world_random();

        memcpy(bytes + i, &word, size - i < WORD ? size - i : WORD);
    }
}

void place_open(struct place *place, struct process *process, bool on_disk)
{
    place->process = process;
    place->fd = kernel_file(process, PLACE_BYTES, on_disk);
    if (place->fd < 0)
        world_fail("a client has no descriptors left");
    place->bytes = real_mmap(NULL, PLACE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED,
                             kernel_real_file(process, place->fd), 0);
    if (place->bytes == MAP_FAILED)
        world_fail("mmap of a client's file failed");
}

/* The process may have been killed, which closes its descriptors. */
void place_close(struct place *place)
{
    real_munmap(place->bytes, PLACE_BYTES);
    if (place->process->fds[place->fd].object)
        close(place->fd);
}

void errand_open(struct errand *errand, struct process *process, bool on_disk)
{
    if (errand->open)
        return;
    place_open(&errand->src, process, on_disk);
    place_open(&errand->dst, process, on_disk);
    errand->open = true;
}

void errand_close(struct errand *errand)
{
    if (errand->open) {
        place_close(&errand->src);
        place_close(&errand->dst);
    }
    errand->open = false;
}

static void use_quantisation_of_tensor(mli_tensor *tensor)
{
    if (tensor->el_type == MLI_EL_SA_8 || tensor->el_type == MLI_EL_SA_32)
        tensor->el_params.sa.dim = -1;
}

static void judge(const mli_client_job *job, struct oracle *oracle, unsigned char *src,
                  unsigned char *dst)
{
    mli_tensor from = job->src, to = job->dst;

    from.data.mem.pi8 = (int8_t *)src;
    to.data.mem.pi8 = (int8_t *)dst;
    from.data.capacity = to.data.capacity = PLACE_BYTES;
    oracle_judge(oracle, &from, &job->cfg, &to);
}

static void expect(struct errand *errand)
{
    static unsigned char ones[PLACE_BYTES], trace[PLACE_BYTES];
    struct oracle oracle;

    judge(&errand->job, &oracle, errand->src.bytes, errand->expected);
    if (oracle.status != MLI_STATUS_OK)
        world_fail("the oracle refuses a move: %d", (int)oracle.status);
    memcpy(errand->before, errand->dst.bytes, PLACE_BYTES);
    memcpy(errand->expected, errand->before, PLACE_BYTES);
    oracle_move(&oracle, &errand->job.src, &errand->job.cfg, errand->src.bytes, errand->expected);
    memset(ones, 1, sizeof ones);
    memset(trace, 2, sizeof trace);
    oracle_move(&oracle, &errand->job.src, &errand->job.cfg, ones, trace);
    errand->bytes = 0;
    for (size_t i = 0; i < PLACE_BYTES; i++) {
        errand->written[i] = trace[i] != 2;
        errand->bytes += errand->written[i];
    }
}

void errand_refresh(struct errand *errand)
{
    fill(errand->src.bytes, PLACE_BYTES);
    fill(errand->dst.bytes, PLACE_BYTES);
    expect(errand);
}

void errand_prepare_copy(struct errand *errand, uint32_t size)
{
    mli_client_job_init(&errand->job);
    errand->job.src.el_type = MLI_EL_FX_8;
    errand->job.src.rank = 1;
    errand->job.src.shape[0] = size;
    errand->job.src_memory.fd = errand->src.fd;
    errand->job.dst_memory.fd = errand->dst.fd;
    errand_refresh(errand);
}

void errand_prepare(struct errand *errand, uint32_t size)
{
    const struct move_rules rules = {
        .max_bytes = size, .combined_percent = 60, .short_percent = 70};
    struct draw draw = draw_init(world_random(), 0);
    struct random_move move;

    mli_client_job_init(&errand->job);
    memset(&move, 0, sizeof move);
    move.cfg = errand->job.cfg;
    random_move_draw(&move, &draw, &rules);
    errand->job.src = move.src;
    errand->job.dst = move.dst;
    errand->job.cfg = move.cfg;
    errand->job.dst.rank =
        move.src.rank; /* the library sends strides only for tensors that exist */
    memcpy(errand->job.dst.shape, move.dst_shape, sizeof move.dst_shape);
    use_quantisation_of_tensor(&errand->job.src);
    use_quantisation_of_tensor(&errand->job.dst);
    errand->job.src_memory.fd = errand->src.fd;
    errand->job.dst_memory.fd = errand->dst.fd;
    errand_refresh(errand);
}

void errand_check_done(const struct errand *errand, const char *how)
{
    for (size_t i = 0; i < PLACE_BYTES; i++) {
        if (errand->dst.bytes[i] != errand->expected[i])
            world_fail("%s: byte %zu of the destination is %d, expected %d (%s)", how, i,
                       errand->dst.bytes[i], errand->expected[i],
                       errand->written[i] ? "of the move" : "outside the move");
    }
}

void errand_check_failed(const struct errand *errand, const char *how)
{
    for (size_t i = 0; i < PLACE_BYTES; i++) {
        if (!errand->written[i] && errand->dst.bytes[i] != errand->before[i])
            world_fail("%s: byte %zu outside the move has changed", how, i);
    }
}
