/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/batch/evidence.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void evidence_init(struct evidence *evidence)
{
    static const struct exhibit none = {.fd = -1};
    *evidence = (struct evidence){.source = none, .golden = none, .before = none, .given = -1};
}

static int duplicate(int fd)
{
    return fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 0);
}

/* The file itself, where it is open. The descriptor of a tensor in an archive may be that of a copy
 * of the tensor, so archives are opened again. */
static int file_of(const struct tensor_file *file)
{
    return file_format_is_archive(file->format) ? -1 : duplicate(file->fd);
}

/* A file that the job reads, or would have read. */
static void take_input(struct exhibit *exhibit, const char *path, const struct tensor_file *open,
                       const struct produced *produced)
{
    if (!path)
        return;
    const struct tensor_file *found = produced_find(produced, path);
    exhibit->path = strdup(path);
    exhibit->fd = found ? duplicate(found->fd) : file_of(open);
}

void evidence_take(struct evidence *evidence, const struct resolved *resolved,
                   const struct produced *produced, const struct outcome *outcome)
{
    evidence->job = resolved->job;
    take_input(&evidence->source, resolved->src_path, &resolved->src, produced);
    take_input(&evidence->golden, resolved->expect_path, &resolved->expect, produced);
    /* What an update began with is needed wherever it lies: the job that does it again updates it.
     */
    evidence->before.fd = duplicate(resolved->before.fd);
    if (outcome->moved)
        evidence->given = duplicate(resolved->output.fd);
}

static void finish(struct exhibit *exhibit)
{
    free(exhibit->path);
    if (exhibit->fd >= 0)
        close(exhibit->fd);
}

void evidence_finish(struct evidence *evidence)
{
    finish(&evidence->source);
    finish(&evidence->golden);
    finish(&evidence->before);
    if (evidence->given >= 0)
        close(evidence->given);
    evidence_init(evidence);
}
