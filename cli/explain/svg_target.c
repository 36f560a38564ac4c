/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/explain/svg_target.h"

#include <stdlib.h>
#include <string.h>

#include "proto/json/textw.h"

bool svg_target_is_stdout(const struct svg_target *target)
{
    return target->path && strcmp(target->path, "-") == 0;
}

/* Bytes before the ending, which a hidden file without one does not have. */
static size_t stem_length(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    const char *dot = strrchr(name, '.');
    return dot && dot > name ? (size_t)(dot - path) : strlen(path);
}

/* An allocation that failed leaves nothing. */
static char *taken(struct textw *w)
{
    if (!w->failed)
        return w->data;
    textw_finish(w);
    return NULL;
}

char *svg_target_path(const struct svg_target *target, size_t file, size_t job, const char *name)
{
    size_t stem = stem_length(target->path);
    struct textw w;
    textw_init(&w);
    for (size_t i = 0; i < stem; i++)
        textw_printf(&w, "%c", target->path[i]);
    if (target->jobs > 1 && target->files > 1)
        textw_printf(&w, ".%zu", file);
    if (target->jobs > 1 && name)
        textw_printf(&w, "-%s", name);
    else if (target->jobs > 1)
        textw_printf(&w, ".%zu", job);
    textw_printf(&w, "%s", target->path + stem);
    return taken(&w);
}
