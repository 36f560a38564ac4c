/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * State files of --resume: any bytes are accepted or refused. Continuing an accepted file keeps its
 * results: after another run has appended its lines, reading gives the old records and the new one.
 * `mlictl batch --resume` selects cases with the file; if it fails, it prints a message.
 *
 * Input: a selector for --rerun, and the bytes of the file.
 */
#include "cli/batch/resume.h"
#include "cli/report/state_file.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/fuzz_mlictl.h"
#include "tests/fuzz/fuzz_reader.h"
#include "tests/fuzz/fuzz_scratch.h"
#include "tests/fuzz/well_formed.h"

static const char name_of_file[] = "state.jsonl", added[] = "a case that no input names";

static void check_record(const struct state_record *record)
{
    const struct case_result *result = &record->result;

    FUZZ_ASSERT(result->name && result->file && record->line > 0);
    FUZZ_ASSERT(result->status < CASE_STATUS_COUNT && result->reason < CASE_REASON_COUNT);
    FUZZ_ASSERT(case_status_word(result->status)[0]);
}

static void check_state(const struct state *state, size_t size)
{
    FUZZ_ASSERT(state->whole >= 0 && (size_t)state->whole <= size);
    FUZZ_ASSERT(state->begun || state->count == 0);
    for (size_t i = 0; i < state->count; i++) {
        check_record(&state->records[i]);
        FUZZ_ASSERT(state_find(state, state->records[i].result.name) == &state->records[i]);
        FUZZ_ASSERT(i == 0 ||
                    strcmp(state->records[i - 1].result.name, state->records[i].result.name) < 0);
    }
    FUZZ_ASSERT(!state_find(state, "\x01"));
}

/* Appends a run of one case to the state file. Returns false if the file is refused. */
static bool append_run(const char *path)
{
    struct state_file file;
    struct fault fault = {0};
    struct batch_outline outline = {.total = 1, .selected = 1, .set = digest_add(0, added)};
    struct case_result result = {
        .name = (char *)(uintptr_t)added, .file = (char *)(uintptr_t) "x.json", .attempts = 1};
    struct batch_summary summary = {.not_run = 0};
    bool opened = state_file_open(&file, path, &fault) == 0;

    if (!opened)
        fuzz_check_fault(&fault);
    if (opened) {
        FUZZ_ASSERT(state_file_begin(&file, &outline, &fault) == 0);
        for (size_t i = 0; i < file.state.count; i++)
            FUZZ_ASSERT(state_file_keep(&file, &file.state.records[i].result, &fault) == 0);
        FUZZ_ASSERT(state_file_add(&file, &result, &fault) == 0);
        FUZZ_ASSERT(state_file_end(&file, &summary, &fault) == 0);
    }
    state_file_close(&file);
    return opened;
}

static void check_same(const struct case_result *before, const struct case_result *after)
{
    struct jsonw first, second;

    jsonw_init(&first);
    jsonw_init(&second);
    jsonw_object_begin(&first, NULL);
    jsonw_object_begin(&second, NULL);
    case_result_write(&first, before, true);
    case_result_write(&second, after, true);
    jsonw_object_end(&first);
    jsonw_object_end(&second);
    fuzz_check_same(&first, &second);
    well_formed_json(first.data, first.length);
    jsonw_finish(&first);
    jsonw_finish(&second);
}

/* Requires that a further run keeps all results. */
static void continue_run(const char *path, const struct state *before)
{
    struct state after;
    struct state_record *record;
    struct fault fault = {0};

    if (!append_run(path)) {
        FUZZ_ASSERT(before->foreign);
        return;
    }
    FUZZ_ASSERT(state_load(&after, path, &fault) == 0);
    record = state_find(&after, added);
    FUZZ_ASSERT(record && record->current && after.outline.total == 1);
    FUZZ_ASSERT(after.count >= before->count);
    for (size_t i = 0; i < before->count; i++) {
        record = state_find(&after, before->records[i].result.name);
        FUZZ_ASSERT(record);
        if (strcmp(record->result.name, added) != 0)
            check_same(&before->records[i].result, &record->result);
    }
    state_finish(&after);
}

/* Lists the cases that a run with this state file selects. */
static void list_cases(bool rerun)
{
    static const char job[] = "{\"op\":\"mov\",\"src\":{\"file\":\"in.npy\"},"
                              "\"dst\":{\"file\":\"out.npy\"}}";
    const char *words[] = {
        "batch",  "case.json", "other.json", "--resume", name_of_file,
        "--list", "--json",    "--keep",     "none",     rerun ? "--rerun" : NULL,
        NULL};
    struct mlictl_call call;

    scratch_write("case.json", job, sizeof job - 1);
    scratch_write("other.json", job, sizeof job - 1);
    call = mlictl_run(words);
    well_formed_json_lines(call.out, call.out_length);
    mlictl_finish(&call);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_reader reader = fuzz_reader_init(data, size);
    const bool rerun = fuzz_u8(&reader) & 1;
    char path[SCRATCH_PATH_MAX];
    struct state state;
    struct fault fault = {0};
    const int lowest = (scratch_directory(), scratch_lowest_fd());

    scratch_write(name_of_file, reader.at, fuzz_left(&reader));
    scratch_path(path, name_of_file);
    if (state_load(&state, path, &fault) < 0) {
        fuzz_check_fault(&fault);
    } else {
        check_state(&state, fuzz_left(&reader));
        list_cases(rerun);
        continue_run(path, &state);
    }
    state_finish(&state);
    FUZZ_ASSERT(scratch_lowest_fd() == lowest);
    return 0;
}
