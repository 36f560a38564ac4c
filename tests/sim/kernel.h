/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The simulated kernel: processes and their descriptors, and what descriptors refer to. The service
 * and the clients call it by the names of the C library (real.h).
 *
 *   descriptors.c  processes, numbers of descriptors, close, fcntl, dup
 *   sockets.c      stream sockets with descriptors on their way, a listener, pipes
 *   readiness.c    epoll, poll, eventfd
 *   files.c        files in memory: real memfds behind simulated descriptors; mappings
 *   threads.c      pthread_*: fibers
 *   allocations.c  malloc and free
 *   moments.c      clocks and sleeps
 */
#ifndef SIM_KERNEL_H
#define SIM_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum {
    FD_FIRST = 10, /* lower numbers are real descriptors, such as stdout */
    FDS_MAX = 8192,
    MAPPINGS_MAX = 1024
};

struct object;

struct descriptor {
    struct object *object; /* the object of each descriptor; null: the number is free */
    int flags;             /* FD_CLOEXEC */
};

struct mapping_range {
    char *address;
    size_t size;
};

struct process {
    const char *name;
    uid_t uid;
    pid_t pid;
    bool faulty;  /* true: its system calls fail at random, with the probabilities world_rates */
    bool service; /* true: its calls take time, and other fibers may run during them */
    unsigned fd_limit, fd_count, mapping_count;
    long blocks;    /* number of blocks that are allocated and not freed */
    unsigned loop;  /* number of the loop's fiber while the loop handles events; 0: the loop waits
                       for events */
    uint64_t calls; /* number of system calls in the current turn of the loop */
    /*
     * The time at which epoll_wait() returned last, plus the time that other fibers have used since
     * then.
     */
    uint64_t turn;
    struct descriptor fds[FDS_MAX];
    struct mapping_range mappings[MAPPINGS_MAX];
};

enum kind { KIND_STREAM, KIND_LISTENER, KIND_EPOLL, KIND_EVENT, KIND_FILE };

/* An open file description. */
struct object {
    enum kind kind;
    int references; /* number of references: descriptors, and messages on their way */
    int status;     /* O_NONBLOCK and the access mode */
    void (*destroy)(struct object *object);
    /* Returns the events that hold now, such as POLLIN; null: no events. */
    short (*events)(struct object *object);
    /* Called when the last reference is dropped; may wait. Null: nothing to do. */
    void (*closing)(struct object *object);
};

/** Sets the fields of a new object, which has no references yet. */
void object_init(struct object *object, enum kind kind);
void object_take(struct object *object);
void object_release(struct object *object);

/** Returns the process of the running fiber. */
struct process *process_now(void);
void process_init(struct process *process, const char *name, uid_t uid);
/** Ends the fibers of a process, except the running one, and closes its descriptors and mappings.
 */
void process_kill(struct process *process);

/** Gives the object the lowest free descriptor number. Returns the number, or -EMFILE. */
int descriptor_add(struct process *process, struct object *object, int flags);
/** Returns the object that the descriptor refers to. A bad descriptor violates an invariant. */
struct object *descriptor_object(int fd, const char *call);
struct object *descriptor_of_kind(int fd, enum kind kind, const char *call);
bool descriptor_is_real(int fd);

/** Begins a system call: time passes, and other fibers may run. */
void kernel_enter(const char *call);
/** Returns true if the call must fail. */
bool kernel_fails(uint32_t rate);

/* Sockets. The functions return descriptors of the running process. */
int kernel_listen(struct process *process);
/** Connects a process to a listener of another process. Returns a non-blocking socket, or -errno.
 */
int kernel_connect(struct process *process, struct process *listening, int listener);

/* Removes the object, which loses its last reference, from all epoll instances. */
void readiness_forget(struct object *object);

/* Files. */
int kernel_file(struct process *process, size_t size, bool on_disk);
/** Returns how many threads wait for a close() to end. */
unsigned kernel_sleeping(void);
/** Opens /dev/null. Returns the descriptor or -EMFILE. */
int kernel_null_file(struct process *process);
/** Returns the number of open descriptors, except for those of /dev/null. */
unsigned kernel_descriptors(const struct process *process);
/** Returns the real descriptor behind a file. */
int kernel_real_file(struct process *process, int fd);

#endif /* SIM_KERNEL_H */
