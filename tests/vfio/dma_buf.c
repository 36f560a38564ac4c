/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A client of mlid. Its tensors are in dma-bufs of the Linux driver vgem, which allocates them in
 * the memory of the processor. The program prints each error, and its exit status is the number of
 * errors.
 *
 *     dma_buf SOCKET CARD    for example /run/mlid.sock /dev/dri/card0
 *
 * The numbers of the two ioctl requests are from the kernel's headers drm.h and drm_mode.h, which
 * are not installed on every system.
 */
#include <fcntl.h>
#include <linux/dma-buf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "mli_client.h"
#include "mli_helpers_api.h"

enum {
    ROWS = 60,
    COLUMNS = 100,
    PAGE = 4096,
    SIZE = 3 * PAGE, /* size of a buffer */
    OFFSET = 256,    /* offset of a tensor in its buffer */
    FILL = 0x5a,
};

struct drm_dumb {
    uint32_t height, width, bpp, flags, handle, pitch;
    uint64_t size;
};

struct drm_prime {
    uint32_t handle, flags;
    int32_t fd;
};

#define DRM_CREATE_DUMB  _IOWR('d', 0xb2, struct drm_dumb)
#define DRM_HANDLE_TO_FD _IOWR('d', 0x2d, struct drm_prime)

struct shared {
    int fd; /* the dma-buf */
    uint8_t *bytes;
};

static int errors;

static void complain(const char *scene, const char *what)
{
    printf("%s: %s\n", scene, what);
    errors++;
}

static void give_up(const char *what)
{
    perror(what);
    exit(1);
}

/* Returns a dma-buf of SIZE bytes that is open for `access`. */
static struct shared create(int card, int access)
{
    struct drm_dumb dumb = {.height = SIZE / PAGE, .width = PAGE, .bpp = 8};
    struct drm_prime prime = {.flags = (uint32_t)(access | O_CLOEXEC)};
    struct shared shared;

    if (ioctl(card, DRM_CREATE_DUMB, &dumb) < 0 || dumb.size < SIZE)
        give_up("the driver creates no buffer");
    prime.handle = dumb.handle;
    if (ioctl(card, DRM_HANDLE_TO_FD, &prime) < 0)
        give_up("the driver exports no dma-buf");
    shared.fd = prime.fd;
    shared.bytes = mmap(NULL, SIZE, access == O_RDWR ? PROT_READ | PROT_WRITE : PROT_READ,
                        MAP_SHARED, prime.fd, 0);
    if (shared.bytes == MAP_FAILED)
        give_up("the dma-buf cannot be mapped");
    return shared;
}

static void synchronise(const struct shared *shared, uint64_t flags)
{
    struct dma_buf_sync sync = {.flags = flags};

    if (ioctl(shared->fd, DMA_BUF_IOCTL_SYNC, &sync) < 0)
        give_up("DMA_BUF_IOCTL_SYNC");
}

/* Fills the source with a pattern and the destination with FILL. */
static void fill(const struct shared *src, const struct shared *dst)
{
    synchronise(src, DMA_BUF_SYNC_START | DMA_BUF_SYNC_WRITE);
    synchronise(dst, DMA_BUF_SYNC_START | DMA_BUF_SYNC_WRITE);
    for (uint32_t i = 0; i < SIZE; i++)
        src->bytes[i] = (uint8_t)(i * 7 + i / 251);
    memset(dst->bytes, FILL, SIZE);
    synchronise(dst, DMA_BUF_SYNC_END | DMA_BUF_SYNC_WRITE);
    synchronise(src, DMA_BUF_SYNC_END | DMA_BUF_SYNC_WRITE);
}

/* Compares the whole destination with a transpose, or a copy, of ROWS x COLUMNS elements. */
static void compare(const char *scene, const struct shared *src, const struct shared *dst,
                    bool transposed)
{
    static uint8_t expected[SIZE];

    synchronise(src, DMA_BUF_SYNC_START | DMA_BUF_SYNC_READ);
    synchronise(dst, DMA_BUF_SYNC_START | DMA_BUF_SYNC_READ);
    memset(expected, FILL, SIZE);
    for (uint32_t r = 0; r < ROWS; r++) {
        for (uint32_t c = 0; c < COLUMNS; c++)
            expected[OFFSET + (transposed ? c * ROWS + r : r * COLUMNS + c)] =
                src->bytes[OFFSET + r * COLUMNS + c];
    }
    if (memcmp(expected, dst->bytes, SIZE) != 0)
        complain(scene, "the bytes of the destination are wrong");
    synchronise(dst, DMA_BUF_SYNC_END | DMA_BUF_SYNC_READ);
    synchronise(src, DMA_BUF_SYNC_END | DMA_BUF_SYNC_READ);
}

static mli_client_job describe(bool transposed)
{
    mli_client_job job;

    mli_client_job_init(&job);
    job.src = (mli_tensor){.rank = 2, .shape = {ROWS, COLUMNS}, .el_type = MLI_EL_FX_8};
    job.src_memory.offset = job.dst_memory.offset = OFFSET;
    if (transposed)
        mli_mov_cfg_for_permute(&job.cfg, (const uint8_t[4]){1, 0});
    return job;
}

static void submit(const char *scene, mli_client *client, const mli_client_job *job)
{
    mli_client_error error;

    if (mli_client_submit(client, job, NULL, &error) < 0)
        complain(scene, error.message);
}

static void move_by_descriptors(mli_client *client, const struct shared *src,
                                const struct shared *dst, bool transposed)
{
    const char *scene = transposed ? "transpose by descriptors" : "copy by descriptors";
    mli_client_job job = describe(transposed);

    job.src_memory.fd = src->fd;
    job.dst_memory.fd = dst->fd;
    fill(src, dst);
    submit(scene, client, &job);
    compare(scene, src, dst, transposed);
}

static void move_by_buffers(mli_client *client, const struct shared *src, const struct shared *dst)
{
    static const char scene[] = "copy by buffers";
    mli_client_job job = describe(false);
    mli_client_buffer from, to;
    mli_client_error error;

    if (mli_client_buffer_register(client, src->fd, 0, MLI_CLIENT_READ, &from, &error) < 0 ||
        mli_client_buffer_register(client, dst->fd, 0, MLI_CLIENT_WRITE, &to, &error) < 0) {
        complain(scene, error.message);
        return;
    }
    if (to.size < SIZE || !to.sealed)
        complain(scene, "the size of the buffer is wrong, or it is not sealed");
    job.src_memory.buffer = from.id;
    job.dst_memory.buffer = to.id;
    for (int i = 0; i < 3; i++) { /* the service maps each buffer only once */
        fill(src, dst);
        submit(scene, client, &job);
        compare(scene, src, dst, false);
    }
    if (mli_client_buffer_release(client, &from, &error) < 0 ||
        mli_client_buffer_release(client, &to, &error) < 0)
        complain(scene, error.message);
}

static void refuse(const char *scene, mli_client *client, const mli_client_job *job)
{
    mli_client_error error;

    if (mli_client_submit(client, job, NULL, &error) == 0)
        complain(scene, "the job should be refused");
    else
        printf("%s: %s\n", scene, error.message);
}

static void refuse_wrong_buffers(mli_client *client, int card, const struct shared *src,
                                 const struct shared *dst)
{
    const struct shared readable = create(card, O_RDONLY);
    mli_client_job job = describe(false);

    job.src_memory.fd = src->fd;
    job.dst_memory.fd = readable.fd;
    refuse("destination that is open for reading", client, &job);
    job.dst_memory.fd = dst->fd;
    job.src_memory.offset = SIZE - ROWS * COLUMNS + 1;
    refuse("source beyond the end of its dma-buf", client, &job);
    /* both buffers are as the last successful job has left them */
    compare("refused jobs", src, dst, false);
}

int main(int argc, char **argv)
{
    const int card = argc == 3 ? open(argv[2], O_RDWR | O_CLOEXEC) : -1;
    mli_client_error error;
    mli_client *client;
    struct shared src, dst;

    if (card < 0)
        give_up("the card cannot be opened");
    if (mli_client_connect(argv[1], &client, &error) < 0) {
        puts(error.message);
        return 1;
    }
    src = create(card, O_RDWR);
    dst = create(card, O_RDWR);
    move_by_descriptors(client, &src, &dst, true);
    move_by_descriptors(client, &src, &dst, false);
    move_by_buffers(client, &src, &dst);
    refuse_wrong_buffers(client, card, &src, &dst);
    mli_client_close(client);
    return errors;
}
