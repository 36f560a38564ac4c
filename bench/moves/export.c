/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench/moves/export.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const char *const outcomes[] = {"cannot", "timed", "differs", "failed"};

void *export_open(const char *path)
{
    FILE *file = fopen(path, "w");

    if (!file)
        fprintf(stderr, "bench-moves: %s: %s\n", path, strerror(errno));
    return file;
}

int export_close(void *file, const char *path)
{
    const int failed = ferror(file);

    if (fclose(file) == 0 && !failed)
        return 0;
    fprintf(stderr, "bench-moves: %s: not written whole\n", path);
    return -1;
}

int export_csv(const struct result_list *list, const char *path)
{
    FILE *f = export_open(path);

    if (!f)
        return -1;
    fprintf(f, "case,neighbour_of,elem,kib,moved_bytes,outcome,seed,memcpy_ns,bound,ours_ns,"
               "ours_min,ours_median,ours_max,ours_rounds,interrupted,best_peer,best_peer_median");
    for (int p = 0; p < list->peers.count; p++)
        fprintf(f, ",%s_outcome,%s_min,%s_median,%s_max,%s_rounds", list->peers.at[p]->name,
                list->peers.at[p]->name, list->peers.at[p]->name, list->peers.at[p]->name,
                list->peers.at[p]->name);
    fprintf(f, ",lines_median,lines_way,calibrated_median,calibrated_ratio\n");
    for (int i = 0; i < list->count; i++) {
        const struct result *r = &list->at[i];
        const int best = result_best(list, r);

        fprintf(f, "\"%s\",\"%s\",%u,%u,%zu,%s,%llu,%.1f,%.4f,%.1f,%.4f,%.4f,%.4f,%d,%d,",
                r->kind->name, result_listed(r) ? "" : list->kinds[r->kind->like].name, r->elem,
                r->kib, r->moved_bytes, outcomes[r->outcome], (unsigned long long)r->seed,
                r->memcpy_ns, r->bound, r->ours_ns, r->ours.least, r->ours.median, r->ours.most,
                r->ours.count, r->interrupted);
        if (best >= 0)
            fprintf(f, "%s,%.4f", list->peers.at[best]->name, r->peer[best].median);
        else
            fprintf(f, ",");
        for (int p = 0; p < list->peers.count; p++) {
            const struct figure *g = &r->peer[p];

            fprintf(f, ",%s,%.4f,%.4f,%.4f,%d", outcomes[r->peer_outcome[p]], g->least, g->median,
                    g->most, g->count);
        }
        fprintf(f, ",%.4f,\"%s\",%.4f,%.4f\n", r->lines.median, r->lines_way, r->tuned.median,
                r->tuned_ratio);
    }
    return export_close(f, path);
}

static void json_figure(FILE *f, const char *outcome, const struct figure *g)
{
    fprintf(f,
            "{\"outcome\": \"%s\", \"min\": %.4f, \"median\": %.4f, \"max\": %.4f, "
            "\"rounds\": %d}",
            outcome, g->least, g->median, g->most, g->count);
}

/* The names of cases need no escapes in JSON. */
int export_json(const struct result_list *list, const char *path)
{
    FILE *f = export_open(path);

    if (!f)
        return -1;
    fprintf(f, "[\n");
    for (int i = 0; i < list->count; i++) {
        const struct result *r = &list->at[i];

        fprintf(f, "  {\"case\": \"%s\", ", r->kind->name);
        if (!result_listed(r))
            fprintf(f, "\"neighbour_of\": \"%s\", ", list->kinds[r->kind->like].name);
        /* The number is written as a string, because JSON numbers do not have 64 exact bits. */
        fprintf(f, "\"elem\": %u, \"kib\": %u, \"moved_bytes\": %zu, \"seed\": \"%llu\", ", r->elem,
                r->kib, r->moved_bytes, (unsigned long long)r->seed);
        fprintf(f,
                "\"memcpy_ns\": %.1f, \"bound\": %.4f, \"ours_ns\": %.1f, \"ours\": ", r->memcpy_ns,
                r->bound, r->ours_ns);
        json_figure(f, outcomes[r->outcome], &r->ours);
        if (r->lines.count > 0) {
            fprintf(f, ", \"lines_way\": \"%s\", \"lines\": ", r->lines_way);
            json_figure(f, "timed", &r->lines);
        }
        if (r->tuned.count > 0) {
            fprintf(f, ", \"calibrated_ratio\": %.4f, \"calibrated\": ", r->tuned_ratio);
            json_figure(f, "timed", &r->tuned);
        }
        fprintf(f, ", \"peers\": {");
        for (int p = 0; p < list->peers.count; p++) {
            fprintf(f, "%s\"%s\": ", p ? ", " : "", list->peers.at[p]->name);
            json_figure(f, outcomes[r->peer_outcome[p]], &r->peer[p]);
        }
        fprintf(f, "}}%s\n", i + 1 < list->count ? "," : "");
    }
    fprintf(f, "]\n");
    return export_close(f, path);
}
