/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/report/result.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/report/fingerprint.h"

enum { DIGITS_MAX = 10 };

/* Reads a number of `length` decimal digits and nothing else. */
static bool number_of(const char *text, size_t length, uint32_t *out)
{
    uint64_t value = 0;

    if (length == 0 || length > DIGITS_MAX)
        return false;
    for (size_t i = 0; i < length; i++) {
        if (text[i] < '0' || text[i] > '9')
            return false;
        value = value * 10 + (uint64_t)(text[i] - '0');
    }
    *out = (uint32_t)value;
    return value <= UINT32_MAX;
}

int shard_parse(const char *text, struct shard *shard, struct fault *fault)
{
    const char *slash = strchr(text, '/');

    if (!slash || !number_of(text, (size_t)(slash - text), &shard->index) ||
        !number_of(slash + 1, strlen(slash + 1), &shard->count))
        return fault_set(fault, FAULT_INVALID_PARAMS, NULL,
                         "\"%s\": I/N is required: two whole numbers, as in 2/4", text);
    if (shard->index < 1 || shard->index > shard->count)
        return fault_set(fault, FAULT_INVALID_PARAMS, NULL,
                         "\"%s\": in I/N, the index I must be from 1 to N", text);
    return 0;
}

/* Returns an environment variable, or NULL if it is missing or empty. */
static const char *variable(const char *name)
{
    const char *text = getenv(name);

    return text && *text ? text : NULL;
}

/* Reads a number of at least `min` from a variable that must be set because `witness` is set. */
static int read_variable(const char *name, const char *witness, uint32_t min, uint32_t *out,
                         struct fault *fault)
{
    const char *text = variable(name);

    if (!text)
        return fault_set(fault, FAULT_INVALID_PARAMS, NULL, "%s is set, but %s is not", witness,
                         name);
    if (!number_of(text, strlen(text), out) || *out < min)
        return fault_set(fault, FAULT_INVALID_PARAMS, NULL,
                         "%s=%s: a whole number of at least %" PRIu32 " is required", name, text,
                         min);
    return 0;
}

/* The shard that environment variables define. */
struct environment {
    const char *index_name, *count_name;
    uint32_t index, count; /* index from 0; count 0: unknown */
};

static int read_slurm(struct environment *environment, struct fault *fault)
{
    static const char id_name[] = "SLURM_ARRAY_TASK_ID";
    uint32_t id = 0, min = 0, max = 0, step = 1;

    *environment =
        (struct environment){.index_name = id_name, .count_name = "SLURM_ARRAY_TASK_COUNT"};
    if (read_variable(id_name, id_name, 0, &id, fault) ||
        read_variable("SLURM_ARRAY_TASK_COUNT", id_name, 1, &environment->count, fault) ||
        read_variable("SLURM_ARRAY_TASK_MIN", id_name, 0, &min, fault) ||
        read_variable("SLURM_ARRAY_TASK_MAX", id_name, 0, &max, fault) ||
        read_variable("SLURM_ARRAY_TASK_STEP", id_name, 1, &step, fault))
        return -1;
    /* Slurm sets SLURM_ARRAY_TASK_STEP even for a list such as --array=1,5,6, whose indices have no
     * common step. */
    if (max < min || max - min != (environment->count - 1) * (uint64_t)step)
        return fault_set(fault, FAULT_INVALID_PARAMS, NULL,
                         "SLURM_ARRAY_TASK_MIN=%" PRIu32 " to SLURM_ARRAY_TASK_MAX=%" PRIu32
                         " in steps of SLURM_ARRAY_TASK_STEP=%" PRIu32
                         " are not SLURM_ARRAY_TASK_COUNT=%" PRIu32
                         ": submit a range, as in --array=1-%" PRIu32,
                         min, max, step, environment->count, environment->count);
    if (id < min || id > max || (id - min) % step != 0)
        return fault_set(
            fault, FAULT_INVALID_PARAMS, NULL,
            "SLURM_ARRAY_TASK_ID=%" PRIu32 " is not between SLURM_ARRAY_TASK_MIN=%" PRIu32
            " and SLURM_ARRAY_TASK_MAX=%" PRIu32 " in steps of SLURM_ARRAY_TASK_STEP=%" PRIu32,
            id, min, max, step);
    environment->index = (id - min) / step;
    return 0;
}

static int read_gitlab(struct environment *environment, struct fault *fault)
{
    static const char index_name[] = "CI_NODE_INDEX", count_name[] = "CI_NODE_TOTAL";

    *environment = (struct environment){.index_name = index_name, .count_name = count_name};
    if (read_variable(count_name, index_name, 1, &environment->count, fault) ||
        read_variable(index_name, count_name, 1, &environment->index, fault))
        return -1;
    environment->index--;
    return 0;
}

static int read_kubernetes(struct environment *environment, struct fault *fault)
{
    static const char index_name[] = "JOB_COMPLETION_INDEX";

    *environment = (struct environment){.index_name = index_name};
    return read_variable(index_name, index_name, 0, &environment->index, fault);
}

static int read_environment(struct environment *environment, struct fault *fault)
{
    if (variable("SLURM_ARRAY_TASK_ID"))
        return read_slurm(environment, fault);
    if (variable("CI_NODE_INDEX"))
        return read_gitlab(environment, fault);
    if (variable("JOB_COMPLETION_INDEX"))
        return read_kubernetes(environment, fault);
    return fault_set(fault, FAULT_INVALID_PARAMS, NULL,
                     "auto: none of SLURM_ARRAY_TASK_ID, CI_NODE_INDEX and JOB_COMPLETION_INDEX is "
                     "set; give I/N");
}

static int choose_auto(uint32_t count, struct shard *shard, struct fault *fault)
{
    struct environment environment = {0};

    if (read_environment(&environment, fault))
        return -1;
    if (environment.count == 0 && count == 0)
        return fault_set(fault, FAULT_INVALID_PARAMS, NULL,
                         "auto: %s does not define the number of shards; give auto/N",
                         environment.index_name);
    if (environment.count && count && environment.count != count)
        return fault_set(fault, FAULT_INVALID_PARAMS, NULL,
                         "auto/%" PRIu32 ": %s=%" PRIu32 " is another number of shards", count,
                         environment.count_name, environment.count);
    if (count == 0)
        count = environment.count;
    if (environment.index >= count)
        return fault_set(fault, FAULT_INVALID_PARAMS, NULL,
                         "%s=%s exceeds the last index of %" PRIu32 " shards",
                         environment.index_name, variable(environment.index_name), count);
    *shard = (struct shard){.index = environment.index + 1, .count = count};
    return 0;
}

int shard_choose(const char *text, struct shard *shard, struct fault *fault)
{
    uint32_t count = 0;

    if (strcmp(text, "auto") == 0)
        return choose_auto(0, shard, fault);
    if (strncmp(text, "auto/", 5) != 0)
        return shard_parse(text, shard, fault);
    if (!number_of(text + 5, strlen(text + 5), &count) || count == 0)
        return fault_set(fault, FAULT_INVALID_PARAMS, NULL,
                         "\"%s\": auto/N is required; N is a whole number of at least 1", text);
    return choose_auto(count, shard, fault);
}

const char *shard_text(char out[SHARD_TEXT_MAX], const struct shard *shard)
{
    snprintf(out, SHARD_TEXT_MAX, "%" PRIu32 "/%" PRIu32, shard->index, shard->count);
    return out;
}

uint32_t shard_of(const char *name, uint32_t shards)
{
    return (uint32_t)(digest64(name, strlen(name)) % shards) + 1;
}
