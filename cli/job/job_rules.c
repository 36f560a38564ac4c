/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/job/job_rules.h"

#include <stdio.h>
#include <stdlib.h>

#include "proto/json/json.h"
#include "target/profile/profile_load.h"
#include "target/profile/profile_rules.h"

/* One tensor of a job. */
struct side {
    const char *name, *member, *pointer; /* such as "src", "src.memory", "/src/memory" */
    const struct tensor_ref *ref;
    const struct tensor_spec *spec;
    uint64_t bytes;
    struct profile_operand *operand;
};

int job_rules_init(struct job_rules *rules, const struct options *options, struct fault *fault)
{
    const char *name = options_get(options, "profile");

    *rules = (struct job_rules){.of_daemon =
                                    options_get(options, "socket") || options_get(options, "host")};
    if (!name)
        return 0;
    rules->profile = malloc(sizeof(*rules->profile));
    if (!rules->profile)
        return fault_set(fault, FAULT_INTERNAL, NULL, "no memory for the target profile");
    if (profile_load(rules->profile, name, fault) == 0)
        return 0;
    if (profile_is_path(name))
        json_file_name(fault, name);
    fault_set(fault, FAULT_INVALID_PARAMS, NULL, "profile: %s", fault->text);
    return -1;
}

void job_rules_finish(struct job_rules *rules)
{
    free(rules->profile);
    *rules = (struct job_rules){0};
}

/* Refuses buffers that name a memory if there is no profile to check the memory. */
static int check_no_memory(const struct job_rules *rules, const struct job_file *file,
                           struct fault *fault)
{
    for (size_t i = 0; i < file->list.buffer_count && !rules->of_daemon; i++) {
        const char *memory = file->list.buffers[i].memory;
        char pointer[FAULT_POINTER_MAX];

        if (!*memory)
            continue;
        snprintf(pointer, sizeof(pointer), "/buffers/%zu/memory", i);
        return fault_set(fault, FAULT_INVALID_PARAMS, pointer,
                         "memory: \"%s\" given, but there is no target profile: give --profile "
                         "NAME",
                         memory);
    }
    return 0;
}

int job_rules_begin(struct job_rules *rules, const struct job_file *file, struct fault *fault)
{
    rules->buffers = (struct buffer_places){0};
    if (!rules->profile)
        return check_no_memory(rules, file, fault);
    return buffer_places_init(&rules->buffers, rules->profile, file, fault);
}

void job_rules_end(struct job_rules *rules)
{
    buffer_places_finish(&rules->buffers);
}

/* Fills the operand of one tensor. */
static int describe(const struct job_rules *rules, const struct side *side,
                    const struct resolved *resolved, const struct explained *explained,
                    struct fault *fault)
{
    const char *memory = side->ref->memory;

    if (!rules->profile && *memory && !rules->of_daemon)
        return fault_set(fault, FAULT_INVALID_PARAMS, side->pointer,
                         "%s: \"%s\" given, but there is no target profile: give --profile NAME",
                         side->member, memory);
    *side->operand = (struct profile_operand){
        .side = side->name,
        .kernel = resolved->job->common.op == JOB_OP_PERMUTE,
        .element = explained->move.elem,
        .offset = side->ref->offset,
        .bytes = side->bytes,
    };
    side->operand->in_buffer = side->spec->buffer != NULL;
    if (rules->profile && side->operand->in_buffer) {
        const struct buffer_place *place = &rules->buffers.places[side->spec->buffer_index];

        side->operand->memory = place->memory;
        side->operand->base = place->address;
    }
    if (!rules->profile || !*memory)
        return 0;
    side->operand->memory =
        profile_find_memory(rules->profile, memory, side->member, side->pointer, fault);
    return side->operand->memory ? 0 : -1;
}

int job_rules_check(const struct job_rules *rules, const struct resolved *resolved,
                    const struct explained *explained, struct fault *fault)
{
    const mli_explanation *move = &explained->move;
    /* A service maps at least one element, even if all samples are padding. */
    const uint64_t read = move->read.end > move->elem ? move->read.end : move->elem;
    struct profile_operand in, out;
    const struct side src = {
        "src", "src.memory", "/src/memory", &resolved->wire.src, &resolved->job->src, read, &in};
    const struct side dst = {"dst",
                             "dst.memory",
                             "/dst/memory",
                             &resolved->wire.dst,
                             &resolved->job->dst,
                             move->written.end,
                             &out};

    if (describe(rules, &src, resolved, explained, fault) ||
        describe(rules, &dst, resolved, explained, fault))
        return -1;
    return rules->profile ? profile_check_operands(rules->profile, &in, &out, fault) : 0;
}

/* Checks one step against the rules. */
static int check_step(struct staging *stage, int step, const struct job_rules *rules,
                      const struct produced *produced, struct fault *fault)
{
    const struct job_spec *job = &stage->jobs[step];
    struct explained explained;
    struct resolved resolved;
    int status = resolved_plan(&resolved, &stage->file, job, produced, fault);

    if (status == 0)
        status = explained_init(&explained, &stage->file, &resolved, job->common.channels, fault);
    if (status == 0)
        status = job_rules_check(rules, &resolved, &explained, fault);
    resolved_finish(&resolved);
    return status ? staging_blame_step(fault, step) : 0;
}

int job_rules_check_staging(const struct job_rules *rules, struct staging *stage,
                            const struct produced *produced, struct fault *fault)
{
    struct job_rules with_stage = {.profile = rules->profile, .of_daemon = rules->of_daemon};
    int status = staging_check_capacity(stage, rules->profile, fault);

    if (status == 0 && job_rules_begin(&with_stage, &stage->file, fault))
        status = staging_blame(fault);
    for (int step = 0; step < STAGING_STEPS && status == 0; step++)
        status = check_step(stage, step, &with_stage, produced, fault);
    job_rules_end(&with_stage);
    return status;
}

void job_rules_advise(const struct job_rules *rules, const struct job_file *file,
                      const struct resolved *resolved, const struct produced *produced,
                      struct board_remarks *remarks)
{
    const struct job_board_context context = {
        .profile = rules->profile, .file = file, .buffers = &rules->buffers, .produced = produced};
    struct explained_board board;
    struct fault fault;

    *remarks = (struct board_remarks){0};
    if (!rules->profile || job_board_init(&board, &context, resolved, &fault) < 0)
        return;
    *remarks = board.remarks;
    board_remarks_retain_addresses(remarks);
}
