/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests that all output of mlictl explain about jobs is well-formed: two parsers read the JSON,
 * expat reads drawings, the second reader reads traces, and texts are UTF-8. Input: the form of the
 * output, and either a job file as it is, or numbers that describe jobs with any shapes, strides
 * and configurations.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <unistd.h>

#include "proto/json/jsonw.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/fuzz_mlictl.h"
#include "tests/fuzz/fuzz_reader.h"
#include "tests/fuzz/fuzz_scratch.h"
#include "tests/fuzz/well_formed.h"

enum { JOBS_MAX = 4 };

#define RAW_BYTES ((off_t)1 << 40)

static const char npy[] = "\x93NUMPY\x01\x00\x76\x00{'descr': '<i2', 'fortran_order': False, "
                          "'shape': (2, 3, 4), }                                              "
                          "         \n";

/* The files that jobs read; any range of in.bin has only zeros. */
static void make_inputs(void)
{
    static bool made;
    char path[SCRATCH_PATH_MAX], bytes[sizeof npy - 1 + 48] = {0};

    if (made)
        return;
    made = true;
    memcpy(bytes, npy, sizeof npy - 1);
    scratch_write("in.npy", bytes, sizeof bytes);
    scratch_write("in.bin", "", 0);
    FUZZ_ASSERT(truncate(scratch_path(path, "in.bin"), RAW_BYTES) == 0);
}

static void add_list(struct textw *w, struct fuzz_reader *reader, const char *key, uint32_t rank,
                     uint64_t limit)
{
    textw_printf(w, ",\"%s\":[", key);
    for (uint32_t d = 0; d < rank; d++)
        textw_printf(w, "%s%" PRIu64, d ? "," : "", fuzz_number(reader) % limit);
    textw_printf(w, "]");
}

static void add_perm(struct textw *w, struct fuzz_reader *reader, uint32_t rank)
{
    const uint32_t turn = fuzz_below(reader, rank);
    const bool mirror = fuzz_u8(reader) & 1;

    textw_printf(w, ",\"perm_dim\":[");
    for (uint32_t d = 0; d < rank; d++)
        textw_printf(w, "%s%u", d ? "," : "",
                     mirror ? (turn + rank - d) % rank : (turn + d) % rank);
    textw_printf(w, "]");
}

static void add_cfg(struct textw *w, struct fuzz_reader *reader, uint32_t rank)
{
    static const struct {
        const char *key;
        uint64_t limit;
    } members[] = {{"padding_pre", 256},
                   {"padding_post", 256},
                   {"offset", UINT64_C(1) << 32},
                   {"size", UINT64_C(1) << 32},
                   {"sub_sample_step", UINT64_C(1) << 32},
                   {"dst_offset", UINT64_C(1) << 32},
                   {"dst_mem_stride", UINT64_C(1) << 31}};
    const uint8_t which = fuzz_u8(reader);

    textw_printf(w, ",\"cfg\":{\"neutral\":0");
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++) {
        if (which >> i & 1)
            add_list(w, reader, members[i].key, rank, members[i].limit);
    }
    if (which & 128)
        add_perm(w, reader, rank);
    textw_printf(w, "}");
}

static void add_job(struct textw *w, struct fuzz_reader *reader, int number)
{
    static const char *const types[] = {"fx8", "fx16", "sa8", "sa32", "fp16", "fp32"};
    const uint8_t how = fuzz_u8(reader);
    const uint32_t rank = 1 + fuzz_below(reader, 4);

    textw_printf(w,
                 "{\"op\":\"%s\",\"channels\":%u,\"src\":{\"file\":\"in.bin\",\"format\":\"raw\","
                 "\"type\":\"%s\"",
                 how & 1 ? "permute" : "mov", 1 + fuzz_below(reader, 16),
                 types[fuzz_below(reader, 6)]);
    add_list(w, reader, "shape", rank, UINT64_C(1) << 32);
    if (how & 2)
        add_list(w, reader, "strides", rank, UINT64_C(1) << 31);
    textw_printf(w, "},\"dst\":{\"file\":\"out%d.npy\"", number);
    if (how & 4)
        add_list(w, reader, "strides", rank, UINT64_C(1) << 31);
    textw_printf(w, "}");
    if (how & 8)
        add_cfg(w, reader, rank);
    textw_printf(w, "}");
}

/*
 * Removes the member "neutral" of cfg. It is a placeholder at the beginning, so that each further
 * member can begin with a comma.
 */
static void drop_neutral(char *text)
{
    static const char word[] = "\"neutral\":0";
    char *at;

    while ((at = strstr(text, word))) {
        const size_t length = sizeof word - 1 + (at[sizeof word - 1] == ',');

        memmove(at, at + length, strlen(at + length) + 1);
    }
}

static void write_jobs(struct fuzz_reader *reader)
{
    struct textw w;

    textw_init(&w);
    textw_printf(&w, "{\"jobs\":[");
    for (int i = 0; i < JOBS_MAX && (i == 0 || fuzz_left(reader) > 0); i++) {
        textw_printf(&w, i ? "," : "");
        add_job(&w, reader, i);
    }
    textw_printf(&w, "]}");
    FUZZ_ASSERT(!w.failed);
    drop_neutral(w.data);
    scratch_write("job.json", w.data, strlen(w.data));
    textw_finish(&w);
}

enum form { FORM_TEXT, FORM_JSON, FORM_C, FORM_BOARD, FORM_COUNT };

static void explain(enum form form, uint8_t how)
{
    static const char *const profiles[] = {"vpx5-nsim", "zynq7000-pl330", "hexagon-v68",
                                           "xdna-aie2", "bcm2835"};
    const char *words[24] = {"explain", "job.json", "--svg", "job.svg", "--no-memcpy"};
    size_t count = 5;
    struct mlictl_call call;

    if (form == FORM_JSON || (form == FORM_BOARD && how & 1))
        words[count++] = "--json";
    if (form == FORM_C)
        words[count++] = "--c";
    if (form == FORM_BOARD) {
        words[count++] = "--profile";
        words[count++] = profiles[how % 5];
        words[count++] = "--timeline";
        words[count++] = "timeline.svg";
        words[count++] = "--trace";
        words[count++] = "trace.json";
    }
    call = mlictl_run(words);
    if (form == FORM_JSON || (form == FORM_BOARD && how & 1))
        well_formed_json_lines(call.out, call.out_length);
    else
        well_formed_text(call.out, call.out_length);
    mlictl_finish(&call);
    mlictl_check_file("job.svg", well_formed_xml);
    for (int i = 0; i < JOBS_MAX; i++) {
        char name[32];

        snprintf(name, sizeof name, "job-%d.svg", i);
        mlictl_check_file(name, well_formed_xml);
    }
    mlictl_check_file("timeline.svg", well_formed_xml);
    mlictl_check_file("trace.json", well_formed_any_json);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_reader reader = fuzz_reader_init(data, size);
    const uint8_t how = fuzz_u8(&reader);

    make_inputs();
    if (how & 128)
        scratch_write("job.json", reader.at, fuzz_left(&reader));
    else
        write_jobs(&reader);
    explain((enum form)(how % FORM_COUNT), how / FORM_COUNT);
    return 0;
}
