/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/batch/outline.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/batch/count.h"
#include "cli/batch/digest.h"

bool batch_outline_same(const struct batch_outline *a, const struct batch_outline *b)
{
    return a->set == b->set && a->total == b->total && a->selected == b->selected &&
           a->shard.index == b->shard.index && a->shard.count == b->shard.count;
}

void batch_outline_write(struct jsonw *w, const struct batch_outline *outline)
{
    char text[SHARD_TEXT_MAX];
    jsonw_string(w, "event", "begin");
    jsonw_uint(w, "cases", outline->selected);
    jsonw_uint(w, "total", outline->total);
    if (outline->shard.count)
        jsonw_string(w, "shard", shard_text(text, &outline->shard));
    else
        jsonw_null(w, "shard");
    jsonw_uint(w, "resumed", outline->resumed);
    digest_write(w, "set", outline->set);
    if (outline->anew)
        jsonw_bool(w, "anew", true);
}

static int read_shard(const struct json *object, struct shard *shard)
{
    struct json value = json_member(object, "shard");
    struct fault fault;
    const char *text;
    *shard = (struct shard){0};
    if (json_is_null(&value))
        return 0;
    if (json_string(&value, SHARD_TEXT_MAX, &text))
        return -1;
    return shard_parse(text, shard, &fault) ? json_complain(&value, "%s", fault.text) : 0;
}

/* First of all: what a newer format has is unknown here. */
static int check_format(const struct json *value, bool *older)
{
    int64_t format;
    if (json_int(value, 0, INT64_MAX, &format))
        return -1;
    *older = format < OUTLINE_FORMAT;
    return format <= OUTLINE_FORMAT
               ? 0
               : json_complain(value,
                               "%" PRId64 " given, at most %d is known; a newer mlictl wrote it",
                               format, OUTLINE_FORMAT);
}

int batch_outline_read(const struct json *value, struct batch_outline *outline)
{
    static const char *const keys[] = {"event", "cases", "total",  "shard", "resumed",
                                       "set",   "anew",  "format", NULL};
    uint64_t total = 0, selected = 0, resumed = 0;
    struct json set = json_member(value, "set"), cases = json_member(value, "cases"),
                anew = json_member(value, "anew"), format = json_member(value, "format");
    bool older = false;
    *outline = (struct batch_outline){0};
    if ((json_present(&format) && check_format(&format, &older)) || json_object(value, keys) ||
        read_shard(value, &outline->shard) || count_read(value, "total", UINT32_MAX, &total) ||
        count_read(value, "cases", total, &selected) ||
        count_read(value, "resumed", selected, &resumed) || digest_read(&set, &outline->set) ||
        (json_present(&anew) && json_bool(&anew, &outline->anew)))
        return -1;
    outline->older = !json_present(&format) || older;
    outline->total = (size_t)total;
    outline->selected = (size_t)selected;
    outline->resumed = (size_t)resumed;
    if (outline->shard.count == 0 && selected != total)
        return json_complain(&cases, "%zu given; without a shard these are all %zu",
                             outline->selected, outline->total);
    return 0;
}
