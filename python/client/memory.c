/* SPDX-License-Identifier: BSD-3-Clause */
#include <Python.h>

#include "python/client/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "python/core/errors.h"

enum {
    SIZE_MIN = 16 * 1024,
    SIZE_STEP = 1024 * 1024,
    IDLE_BYTES_MAX = 256 * 1024 * 1024, /* limit on the unused memory that the pool keeps */
};

static PyTypeObject *memory_type;

/* The connection's list of memories */

static void enlist(struct memory *memory, struct connection *connection)
{
    memory->connection = connection;
    memory->link = &connection->memories;
    memory->next = connection->memories;
    if (memory->next)
        memory->next->link = &memory->next;
    connection->memories = memory;
}

static void delist(struct memory *memory)
{
    *memory->link = memory->next;
    if (memory->next)
        memory->next->link = memory->link;
    memory->connection = NULL;
}

struct memory *memory_at(const struct connection *connection, const void *address)
{
    const uint8_t *byte = address;

    for (struct memory *memory = connection->memories; memory; memory = memory->next) {
        if (byte >= memory->address && byte < memory->address + memory->size)
            return memory->buffer || memory->fd >= 0 ? memory : NULL;
    }
    return NULL;
}

/* Ends the registration, which held a reference to the memory. `buffer` is 0 if the service refused
 * it. */
static void end_registration(struct memory *memory, uint32_t buffer)
{
    memory->registering = false;
    memory->buffer = buffer;
    if (buffer) {
        memory_settle(memory);
    } else if (memory->connection) {
        memory->pooled = false;
        memory->connection->pooled--;
    }
    Py_DECREF((PyObject *)memory);
}

void memory_orphan_all(struct connection *connection)
{
    while (connection->memories) {
        struct memory *memory = connection->memories;

        memory->buffer = 0;
        delist(memory);
        if (memory->registering)
            end_registration(memory, 0);
    }
    for (uint32_t i = 0; i < connection->idle_count; i++)
        munmap(connection->idle[i].address, connection->idle[i].size);
    connection->idle_count = connection->pooled = 0;
}

/* Memories */

static struct memory *create(struct connection *connection, void *address, size_t size)
{
    struct memory *memory = PyObject_New(struct memory, memory_type);

    if (!memory)
        return NULL;
    memory->address = address;
    memory->size = size;
    memory->fd = -1;
    memory->buffer = 0;
    memory->writable = true;
    memory->pooled = memory->registering = false;
    enlist(memory, connection);
    return memory;
}

/* Raises MemoryError, or mli.ServiceError with advice if no descriptor is left. */
static void refuse_resource(const char *call, int error)
{
    struct rlimit limit = {0};

    if (error == ENOMEM) {
        PyErr_NoMemory();
    } else if (error == EMFILE) {
        getrlimit(RLIMIT_NOFILE, &limit);
        raise_client_error(MLI_CLIENT_SYSTEM, "SYSTEM",
                           "this process has all %lld descriptors open that it may have "
                           "(ulimit -n): close files, wait for results before further jobs are "
                           "started, or use arrays in buffers (client.buffer()), whose jobs need "
                           "no descriptors",
                           (long long)limit.rlim_cur);
    } else {
        raise_client_error(MLI_CLIENT_SYSTEM, "SYSTEM", "%s: %s", call, strerror(error));
    }
}

int memory_check_descriptor(void)
{
    const int spare = memfd_create("spare", MFD_CLOEXEC);

    if (spare < 0) {
        refuse_resource("memfd_create", errno);
        return -1;
    }
    close(spare);
    return 0;
}

struct memory *memory_map(struct connection *connection, int fd, size_t size, uint32_t buffer,
                          bool writable)
{
    const int access = writable ? PROT_READ | PROT_WRITE : PROT_READ;
    void *address = mmap(NULL, size, access, MAP_SHARED, fd, 0);
    struct memory *memory;

    if (address == MAP_FAILED) {
        refuse_resource("mmap", errno);
        close(fd);
        return NULL;
    }
    memory = create(connection, address, size);
    if (!memory) {
        munmap(address, size);
        close(fd);
        return NULL;
    }
    memory->fd = fd;
    memory->buffer = buffer;
    memory->writable = writable;
    if (buffer) /* jobs name it by its number */
        memory_settle(memory);
    return memory;
}

void memory_settle(struct memory *memory)
{
    if (memory->fd >= 0)
        close(memory->fd);
    memory->fd = -1;
}

/* The pool */

static size_t idle_bytes(const struct connection *connection)
{
    size_t bytes = 0;

    for (uint32_t i = 0; i < connection->idle_count; i++)
        bytes += connection->idle[i].size;
    return bytes;
}

static void forget_idle(struct connection *connection, uint32_t at)
{
    const struct idle idle = connection->idle[at];

    for (uint32_t i = at + 1; i < connection->idle_count; i++)
        connection->idle[i - 1] = connection->idle[i];
    connection->idle_count--;
    connection->pooled--;
    munmap(idle.address, idle.size);
    connection_unwant(connection, "buffer.release", idle.buffer);
}

/* Keeps the mapping of a memory that is destroyed. Returns false if the pool is full. */
static bool keep(struct connection *connection, const struct memory *memory)
{
    if (memory->size > IDLE_BYTES_MAX / 2)
        return false;
    while (connection->idle_count > 0 && (connection->idle_count == POOL_MAX ||
                                          idle_bytes(connection) + memory->size > IDLE_BYTES_MAX))
        forget_idle(connection, 0);
    connection->idle[connection->idle_count++] =
        (struct idle){memory->address, memory->size, memory->buffer};
    return true;
}

/* Returns the smallest idle region for a size that is not much too large; -1: none. */
static int find_idle(const struct connection *connection, size_t size)
{
    int best = -1;

    for (uint32_t i = 0; i < connection->idle_count; i++) {
        const size_t there = connection->idle[i].size;

        if (there >= size && there / 4 <= size + SIZE_MIN &&
            (best < 0 || there < connection->idle[best].size))
            best = (int)i;
    }
    return best;
}

static struct memory *take_idle(struct connection *connection, int at)
{
    const struct idle idle = connection->idle[at];
    struct memory *memory = create(connection, idle.address, idle.size);

    if (!memory)
        return NULL;
    connection->idle[at] = connection->idle[--connection->idle_count];
    memory->buffer = idle.buffer;
    memory->pooled = true;
    return memory;
}

static size_t round_up(size_t size)
{
    size_t rounded = SIZE_MIN;

    if (size > SIZE_STEP)
        return (size + SIZE_STEP - 1) / SIZE_STEP * SIZE_STEP;
    while (rounded < size)
        rounded *= 2;
    return rounded;
}

/* Returns a memfd, whose pages exist, or -1 with an exception. */
static int create_file(size_t size)
{
    const int fd = memfd_create("mli", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    int error;

    if (fd < 0) {
        refuse_resource("memfd_create", errno);
        return -1;
    }
    do
        error = posix_fallocate(fd, 0, (off_t)size);
    while (error == EINTR && PyErr_CheckSignals() == 0);
    if (error == 0)
        return fd;
    close(fd);
    if (PyErr_Occurred())
        return -1;
    refuse_resource("fallocate", error);
    return -1;
}

static void on_registered(mli_client *Py_UNUSED(client), mli_client_ticket Py_UNUSED(ticket),
                          const char *line, size_t Py_UNUSED(length), int fd,
                          const mli_client_error *error, void *user)
{
    if (fd >= 0)
        close(fd);
    end_registration(user, error ? 0 : number_in_reply(line, "\"buffer\":"));
}

/* Requests that the service register a memory of the pool. Returns 0 or -1. */
static int register_memory(struct connection *connection, struct memory *memory)
{
    const mli_client_attachment attachment = {.fd = memory->fd};
    mli_client_ticket ticket;

    if (mli_client_call_async(connection->client, "buffer.register", "{\"fd\":0}", &attachment, 1,
                              on_registered, memory, &ticket, NULL))
        return -1;
    memory->registering = true;
    Py_INCREF((PyObject *)memory);
    return 0;
}

struct memory *memory_take(struct connection *connection, size_t size)
{
    const int at = find_idle(connection, size);
    struct memory *memory;
    int fd;

    if (at >= 0)
        return take_idle(connection, at);
    if (size > UINT32_MAX) {
        raise_refused(MLI_STATUS_NOT_SUPPORTED, "src", NULL,
                      "the service moves less than 4 GiB at a time; split the move, or use "
                      "mli.move()");
        return NULL;
    }
    size = round_up(size);
    fd = create_file(size);
    memory = fd < 0 ? NULL : memory_map(connection, fd, size, 0, true);
    if (!memory || connection->inlined || size > IDLE_BYTES_MAX / 2)
        return memory;
    if (connection->pooled == POOL_MAX && connection->idle_count > 0)
        forget_idle(connection, 0);
    if (connection->pooled < POOL_MAX && register_memory(connection, memory) == 0) {
        memory->pooled = true;
        connection->pooled++;
    }
    PyErr_Clear(); /* a memory that is not registered is sent as a descriptor */
    return memory;
}

static void memory_dealloc(struct memory *self)
{
    PyTypeObject *type = Py_TYPE((PyObject *)self);
    struct connection *connection = self->connection;
    bool kept = false;

    if (connection) {
        delist(self);
        kept = self->pooled && self->buffer && keep(connection, self);
        if (!kept && self->pooled)
            connection->pooled--;
        if (!kept && self->buffer)
            connection_unwant(connection, "buffer.release", self->buffer);
    }
    if (!kept)
        munmap(self->address, self->size);
    memory_settle(self);
    PyObject_Free(self);
    Py_DECREF((PyObject *)type);
}

static int memory_get_buffer(struct memory *self, Py_buffer *buffer, int flags)
{
    return PyBuffer_FillInfo(buffer, (PyObject *)self, self->address, (Py_ssize_t)self->size,
                             !self->writable, flags);
}

PyDoc_STRVAR(release_doc, "release($self, /)\n--\n\n"
                          "Make the service forget the memory. The mapping stays as long as arrays "
                          "use it.");

static PyObject *memory_release(struct memory *self, PyObject *Py_UNUSED(unused))
{
    if (self->connection && self->buffer)
        connection_unwant(self->connection, "buffer.release", self->buffer);
    self->buffer = 0;
    memory_settle(self);
    return Py_NewRef(Py_None);
}

static PyObject *memory_get_id(struct memory *self, void *Py_UNUSED(unused))
{
    return PyLong_FromUnsignedLong(self->connection ? self->buffer : 0);
}

static PyMethodDef methods[] = {
    {"release", (PyCFunction)memory_release, METH_NOARGS, release_doc},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef members[] = {
    {"id", (getter)memory_get_id, NULL, "Number of the buffer at the service; 0: released.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

PyDoc_STRVAR(memory_doc, "Memory that this process and the service have mapped.");

static PyType_Slot slots[] = {
    {Py_tp_doc, (void *)(uintptr_t)memory_doc},
    {Py_tp_dealloc, memory_dealloc},
    {Py_tp_methods, methods},
    {Py_tp_getset, members},
    {Py_bf_getbuffer, memory_get_buffer},
    {0, NULL},
};

static PyType_Spec spec = {
    .name = "mli._client.Memory",
    .basicsize = sizeof(struct memory),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = slots,
};

int memory_init(PyObject *module)
{
    memory_type = (PyTypeObject *)PyType_FromSpec(&spec);
    return memory_type ? PyModule_AddType(module, memory_type) : -1;
}
