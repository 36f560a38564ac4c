/* SPDX-License-Identifier: BSD-3-Clause */
#include "proto/file/job_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The named jobs of a list, sorted by name, then by position. */
struct index {
    const struct job_list *list;
    const struct job_spec **jobs;
    size_t count;
};

static int by_name(const void *left, const void *right)
{
    const struct job_spec *a = *(const struct job_spec *const *)left;
    const struct job_spec *b = *(const struct job_spec *const *)right;
    int order = strcmp(a->common.name, b->common.name);

    return order ? order : (a > b) - (a < b);
}

static int complain(struct fault *fault, const struct job_spec *job, const char *member,
                    const char *text)
{
    char pointer[FAULT_POINTER_MAX];

    snprintf(pointer, sizeof pointer, "%s%s", job->pointer, member);
    return fault_set(fault, FAULT_INVALID_PARAMS, pointer, "%s", text);
}

static int no_memory(struct fault *fault)
{
    return fault_set(fault, FAULT_INTERNAL, NULL, "out of memory while ordering the jobs");
}

static int index_init(struct index *index, const struct job_list *list, struct fault *fault)
{
    *index = (struct index){.list = list};
    index->jobs = calloc(list->count, sizeof *index->jobs);
    if (!index->jobs)
        return no_memory(fault);
    for (size_t i = 0; i < list->count; i++) {
        if (list->jobs[i].common.name)
            index->jobs[index->count++] = &list->jobs[i];
    }
    qsort(index->jobs, index->count, sizeof *index->jobs, by_name);
    return 0;
}

static const struct job_spec *find(const struct index *index, const char *name)
{
    size_t low = 0, high = index->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(name, index->jobs[middle]->common.name);

        if (order == 0)
            return index->jobs[middle];
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return NULL;
}

static int check_unique(const struct index *index, struct fault *fault)
{
    for (size_t i = 1; i < index->count; i++) {
        const struct job_spec *job = index->jobs[i], *other = index->jobs[i - 1];
        char text[FAULT_TEXT_MAX];

        if (strcmp(job->common.name, other->common.name) != 0)
            continue;
        snprintf(text, sizeof text, "name: \"%s\" is already the name of the job %s",
                 job->common.name, other->pointer);
        return complain(fault, job, "/name", text);
    }
    return 0;
}

static int check_after(const struct index *index, const struct job_spec *job, struct fault *fault)
{
    for (size_t i = 0; i < job->after_count; i++) {
        char member[32], text[FAULT_TEXT_MAX];

        snprintf(member, sizeof member, "/after/%zu", i);
        if (!find(index, job->after[i])) {
            snprintf(text, sizeof text, "after[%zu]: no job of this file is named \"%s\"", i,
                     job->after[i]);
            return complain(fault, job, member, text);
        }
        for (size_t k = 0; k < i; k++) {
            if (strcmp(job->after[k], job->after[i]) == 0) {
                snprintf(text, sizeof text, "after[%zu]: \"%s\" is given twice", i, job->after[i]);
                return complain(fault, job, member, text);
            }
        }
    }
    return 0;
}

/* A step of the depth-first search: a job, and the index of its next entry of "after". */
struct step {
    size_t job, next;
};

enum mark { UNSEEN = 0, OPEN, DONE };

struct walk {
    const struct index *index;
    unsigned char *marks; /* a mark for each job */
    struct step *steps;   /* jobs whose search has not ended; each waits for the next job */
    size_t depth;
};

/* Complains that the top job waits for the open job `first`, with the names of the cycle. */
static int complain_cycle(const struct walk *walk, size_t first, struct fault *fault)
{
    const struct job_spec *jobs = walk->index->list->jobs;
    const struct step *top = &walk->steps[walk->depth - 1];
    char member[32], text[FAULT_TEXT_MAX];
    size_t begin = walk->depth, length;

    while (walk->steps[--begin].job != first)
        ;
    length = (size_t)snprintf(text, sizeof text,
                              "after[%zu]: the job waits for itself: ", top->next - 1);
    for (size_t i = begin; i < walk->depth && length < sizeof text; i++)
        length += (size_t)snprintf(text + length, sizeof text - length, "%s after ",
                                   jobs[walk->steps[i].job].common.name);
    if (length < sizeof text)
        snprintf(text + length, sizeof text - length, "%s", jobs[first].common.name);
    snprintf(member, sizeof member, "/after/%zu", top->next - 1);
    return complain(fault, &jobs[top->job], member, text);
}

/* Searches depth-first from one job, without recursion: a chain may contain all jobs. */
static int walk_from(struct walk *walk, size_t start, struct fault *fault)
{
    const struct job_list *list = walk->index->list;

    if (walk->marks[start] != UNSEEN)
        return 0;
    walk->marks[start] = OPEN;
    walk->depth = 0;
    walk->steps[walk->depth++] = (struct step){.job = start};
    while (walk->depth > 0) {
        struct step *top = &walk->steps[walk->depth - 1];
        const struct job_spec *job = &list->jobs[top->job];
        size_t next;

        if (top->next == job->after_count) {
            walk->marks[top->job] = DONE;
            walk->depth--;
            continue;
        }
        next = (size_t)(find(walk->index, job->after[top->next++]) - list->jobs);
        if (walk->marks[next] == OPEN)
            return complain_cycle(walk, next, fault);
        if (walk->marks[next] == UNSEEN) {
            walk->marks[next] = OPEN;
            walk->steps[walk->depth++] = (struct step){.job = next};
        }
    }
    return 0;
}

static int check_cycles(const struct index *index, struct fault *fault)
{
    struct walk walk = {.index = index};
    size_t count = index->list->count;
    int status = -1;

    walk.marks = calloc(count, sizeof *walk.marks);
    walk.steps = calloc(count, sizeof *walk.steps);
    if (!walk.marks || !walk.steps) {
        no_memory(fault);
        goto out;
    }
    for (size_t i = 0; i < count; i++) {
        if (walk_from(&walk, i, fault) < 0)
            goto out;
    }
    status = 0;
out:
    free(walk.steps);
    free(walk.marks);
    return status;
}

int job_names_check(const struct job_list *list, struct fault *fault)
{
    struct index index;
    int status = -1;

    if (index_init(&index, list, fault) < 0)
        goto out;
    if (check_unique(&index, fault) < 0)
        goto out;
    for (size_t i = 0; i < list->count; i++) {
        if (check_after(&index, &list->jobs[i], fault) < 0)
            goto out;
    }
    status = check_cycles(&index, fault);
out:
    free(index.jobs);
    return status;
}
