/* SPDX-License-Identifier: BSD-3-Clause */
#include "evidence.h"

#include <fcntl.h>
#include <stdio.h>
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

static char *absolute(const char *path)
{
    char *joined = NULL;
    if (path[0] == '/')
        return strdup(path);
    char *here = getcwd(NULL, 0);
    if (here && asprintf(&joined, "%s/%s", here, path) < 0)
        joined = NULL;
    free(here);
    return joined;
}

/* A file that the job reads, or would have read. */
static void take_input(struct exhibit *exhibit, const char *path, const struct produced *produced)
{
    if (!path)
        return;
    const struct tensor_file *found = produced_find(produced, path);
    exhibit->path = absolute(path);
    exhibit->fd = found ? duplicate(found->fd) : -1;
}

void evidence_take(struct evidence *evidence, const struct resolved *resolved,
                   const struct produced *produced, const struct outcome *outcome)
{
    evidence->job = resolved->job;
    take_input(&evidence->source, resolved->src_path, produced);
    take_input(&evidence->golden, resolved->expect_path, produced);
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
