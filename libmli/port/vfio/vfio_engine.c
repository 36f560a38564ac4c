/* SPDX-License-Identifier: BSD-3-Clause */
#include "libmli/port/vfio/vfio.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

static const struct vfio_controller *const controllers[] = {&vfio_edu};
enum { CONTROLLERS = sizeof(controllers) / sizeof(*controllers) };

enum {
    TIMEOUT_DEFAULT_MS = 10000,
    TIMEOUT_MAX_MS = 600000,
    /* Bytes that the processor moves between two checks for a cancel. The thread of the channel has
       nothing else to do. */
    PIECE_CPU = 256 * 1024
};

/* Options. The pool calls the option functions, probe, open and close on one thread at a time. */
static vfio_address address_option;
static int timeout_option = TIMEOUT_DEFAULT_MS;
static vfio_why why; /* reason of the last failure of probe or open */

/* The controller that probe found. Atomic, because any thread may call caps. */
static const struct vfio_controller *_Atomic found;

/* The only channel: its device, its thread, and the work item between submit and done. */
static struct {
    struct vfio_device device;
    const struct vfio_controller *controller;
    bool stuck;           /* the device did not finish, so its access to memory is disabled */
    unsigned char *zeros; /* source of fills: one page, or the longest run if that is longer */
    struct iova_range *zeros_range;
    struct vfio_memory memory;
    pthread_t thread;

    pthread_mutex_t mutex; /* protects the members below */
    pthread_cond_t changed;
    struct mli_work *work;
    bool closing;
} lane = {
    .memory.mutex = PTHREAD_MUTEX_INITIALIZER,
    .mutex = PTHREAD_MUTEX_INITIALIZER,
    .changed = PTHREAD_COND_INITIALIZER,
};

static int attach(mli_mov_memory *attached)
{
    return vfio_memory_attach(&lane.memory, attached);
}

static void detach(const mli_mov_memory *attached)
{
    vfio_memory_detach(&lane.memory, attached);
}

/* Moving */

/*
 * Stops a device that does not finish: without bus mastering it cannot access memory, so the memory
 * can be used again.
 */
static void stop_device(void)
{
    lane.stuck = true;
    (void)vfio_device_set_master(&lane.device, false);
}

/* Returns whether the device works, after a reset if it was stuck. */
static bool is_usable(void)
{
    if (lane.stuck && lane.controller->reset(lane.device.registers) &&
        vfio_device_set_master(&lane.device, true))
        lane.stuck = false;
    return !lane.stuck;
}

/* Moves one run, and sleeps until the controller has moved it. */
static bool move_run(uint64_t src, uint64_t dst, size_t bytes)
{
    struct vfio_copy copy = {.src = src, .dst = dst, .bytes = (uint32_t)bytes};
    enum vfio_progress progress = VFIO_RUNNING;

    lane.controller->start(lane.device.registers, &copy);
    while (progress == VFIO_RUNNING) {
        if (!vfio_device_wait(&lane.device, timeout_option)) {
            stop_device();
            return false;
        }
        progress = lane.controller->handle(lane.device.registers, &copy);
    }
    return progress == VFIO_DONE;
}

static void caps(uint32_t channel, struct mli_channel_caps *caps)
{
    const struct vfio_controller *controller = atomic_load(&found);

    (void)channel;
    if (!controller)
        return;
    caps->run_max = controller->run_max;
    caps->run_min = controller->run_min;
    caps->piece_min = controller->run_min;
    caps->piece_cpu = PIECE_CPU;
}

static bool move_piece(struct mli_work *work, const struct mli_descriptor *piece,
                       const struct vfio_window *src, const struct vfio_window *dst)
{
    uint64_t from;

    if (piece->flags & MLI_PIECE_CPU) {
        mli_work_invalidate(work);
        mli_piece_move(work, piece);
        mli_work_clean(work);
        return true;
    }
    from = piece->box.src ? vfio_window_bus(src, piece->box.src) : lane.zeros_range->iova;
    return move_run(from, vfio_window_bus(dst, piece->box.dst), piece->bytes);
}

/* Moves a plan by the device, or by the processor if `src` and `dst` are null. */
static struct mli_work_end move_plan(struct mli_work *work, const struct vfio_window *src,
                                     const struct vfio_window *dst)
{
    struct mli_work_end end = {.status = MLI_STATUS_OK};
    struct mli_channel_caps limits = {0};
    struct mli_legaliser rest;
    struct mli_descriptor piece;

    caps(0, &limits);
    if (!src)
        limits.run_min = SIZE_MAX;
    mli_legalise_init(&rest, work->plan, &limits);
    mli_work_clean(work);
    while (end.status == MLI_STATUS_OK && mli_legalise_next(&rest, &piece)) {
        if (mli_work_cancelled(work))
            end.status = MLI_STATUS_CANCELLED;
        else if (!move_piece(work, &piece, src, dst))
            end.status = MLI_STATUS_DMA_ERROR;
        if (end.status == MLI_STATUS_OK) {
            end.bytes += piece.bytes;
            mli_work_progress(work, (size_t)end.bytes);
        } else {
            end.descriptor = piece.index;
            end.row = piece.row;
        }
    }
    mli_work_invalidate(work);
    return end;
}

static struct mli_work_end execute(struct mli_work *work)
{
    struct mli_work_end end = {.status = MLI_STATUS_DMA_ERROR};
    struct vfio_window src, dst;
    int error;

    end.descriptor = work->plan->box.run == 0; /* 1, a slab of zeros, if nothing is copied */
    if (!is_usable())
        return end;
    error = vfio_windows_open(&lane.memory, work->plan, &src, &dst);
    if (vfio_memory_cannot_be_pinned(error))
        return move_plan(work, NULL, NULL);
    if (error < 0)
        return end;
    end = move_plan(work, &src, &dst);
    vfio_window_close(&lane.memory, &dst);
    vfio_window_close(&lane.memory, &src);
    return end;
}

/* Waits for a work item. Returns NULL if the thread must stop. */
static struct mli_work *receive(void)
{
    struct mli_work *work;

    pthread_mutex_lock(&lane.mutex);
    while (!lane.work && !lane.closing)
        pthread_cond_wait(&lane.changed, &lane.mutex);
    work = lane.work;
    lane.work = NULL;
    pthread_mutex_unlock(&lane.mutex);
    return work;
}

static void *serve(void *context)
{
    struct mli_work *work;

    prctl(PR_SET_NAME, "mli-vfio");
    while ((work = receive())) {
        const struct mli_work_end end = execute(work);

        work->done(work, &end);
    }
    return context;
}

static void submit(uint32_t channel, struct mli_work *work)
{
    (void)channel;
    pthread_mutex_lock(&lane.mutex);
    lane.work = work;
    pthread_cond_signal(&lane.changed);
    pthread_mutex_unlock(&lane.mutex);
}

/* Opening and closing */

static const struct vfio_controller *find_controller(void)
{
    uint16_t vendor, device;

    if (address_option[0] == '\0') {
        snprintf(why, sizeof(why),
                 "vfio: the option device is required, as in vfio:device=0000:00:04.0");
        return NULL;
    }
    if (vfio_device_find(address_option, &vendor, &device, why) < 0)
        return NULL;
    for (size_t i = 0; i < CONTROLLERS; i++) {
        if (controllers[i]->vendor == vendor && controllers[i]->device == device)
            return controllers[i];
    }
    snprintf(why, sizeof(why), "vfio: %s is %04x:%04x, for which there is no driver in this build",
             address_option, vendor, device);
    return NULL;
}

static uint32_t probe(void)
{
    const struct vfio_controller *controller;

    why[0] = '\0';
    controller = find_controller();
    atomic_store(&found, controller);
    return controller ? 1 : 0;
}

static const char *reason(void)
{
    return why;
}

/* Gives the device zeros to copy from. */
static bool make_zeros(void)
{
    const size_t page = lane.memory.space.page;
    const size_t size = (lane.controller->run_max + page - 1) / page * page;
    void *zeros = NULL;

    if (posix_memalign(&zeros, page, size) != 0)
        return false;
    memset(zeros, 0, size);
    lane.zeros = zeros;
    lane.zeros_range = vfio_memory_map(&lane.memory, zeros, size);
    return lane.zeros_range != NULL;
}

static void close_device(void)
{
    vfio_memory_end(&lane.memory);
    free(lane.zeros);
    lane.zeros = NULL;
    lane.zeros_range = NULL;
}

/* Blocks all signals in the new thread, because they are for the program's threads. */
static bool start_thread(void)
{
    sigset_t blocked, before;
    int error;

    sigfillset(&blocked);
    pthread_sigmask(SIG_SETMASK, &blocked, &before);
    error = pthread_create(&lane.thread, NULL, serve, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error == 0;
}

static bool prepare_device(void)
{
    vfio_memory_begin(&lane.memory, &lane.device, lane.controller->address_bits);
    if (!lane.controller->reset(lane.device.registers))
        snprintf(why, sizeof(why), "vfio: the device %s at %s does not answer",
                 lane.controller->name, address_option);
    else if (!make_zeros())
        snprintf(why, sizeof(why),
                 "vfio: memory cannot be mapped for the device; "
                 "is the limit of locked memory (ulimit -l) too low?");
    else if (!start_thread())
        snprintf(why, sizeof(why), "vfio: cannot start a thread for the channel");
    else
        return true;
    return false;
}

static bool open_channel(uint32_t channel)
{
    (void)channel;
    why[0] = '\0';
    lane.controller = find_controller();
    if (!lane.controller)
        return false;
    if (!vfio_device_open(&lane.device, address_option, lane.controller, why))
        return false;
    lane.stuck = false;
    lane.closing = false;
    if (!prepare_device()) {
        close_device();
        return false;
    }
    vfio_memory_allow(&lane.memory);
    return true;
}

static void close_channel(uint32_t channel)
{
    (void)channel;
    pthread_mutex_lock(&lane.mutex);
    lane.closing = true;
    pthread_cond_signal(&lane.changed);
    pthread_mutex_unlock(&lane.mutex);
    pthread_join(lane.thread, NULL);
    close_device();
}

static bool is(const char *key, size_t length, const char *name)
{
    return strlen(name) == length && memcmp(name, key, length) == 0;
}

/* A key of length 0 resets all options to their defaults. */
static bool option(const char *key, size_t length, uint64_t value)
{
    if (length == 0) {
        address_option[0] = '\0';
        timeout_option = TIMEOUT_DEFAULT_MS;
        return true;
    }
    if (!is(key, length, "timeout_ms") || value < 1 || value > TIMEOUT_MAX_MS)
        return false;
    timeout_option = (int)value;
    return true;
}

/* Accepts an address of the form 0000:00:04.0, because it becomes part of paths. */
static bool option_text(const char *key, size_t length, const char *value, size_t value_length)
{
    static const char form[] = "xxxx:xx:xx.x";

    if (!is(key, length, "device") || value_length != sizeof(form) - 1)
        return false;
    for (size_t i = 0; i < value_length; i++) {
        const bool digit = value[i] && strchr("0123456789abcdef", value[i]);

        if (form[i] == 'x' ? !digit : value[i] != form[i])
            return false;
    }
    memcpy(address_option, value, value_length);
    address_option[value_length] = '\0';
    return true;
}

const struct mli_engine vfio_engine = {
    .size = sizeof(struct mli_engine),
    .name = "vfio",
    .probe = probe,
    .caps = caps,
    .submit = submit,
    .open = open_channel,
    .close = close_channel,
    .option = option,
    .attach = attach,
    .detach = detach,
    .option_text = option_text,
    .reason = reason,
};
