/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mlictl batch merge makes one report, or prints a message, for up to three state files of any
 * content. Reports must be well-formed: expat reads JUnit, a checker of its grammar reads TAP, and
 * two parsers read JSON. Some inputs also make a page of HTML.
 *
 * Input: the number of files and the form of the report, then for each file but the last a length
 * of two bytes, and its bytes.
 */
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/fuzz_mlictl.h"
#include "tests/fuzz/fuzz_reader.h"
#include "tests/fuzz/fuzz_scratch.h"
#include "tests/fuzz/well_formed.h"

enum { FILES = 3 };

static const char *const names[FILES] = {"1.jsonl", "2.jsonl", "3.jsonl"};

static void write_files(struct fuzz_reader *reader, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        size_t size = fuzz_left(reader);

        if (i + 1 < count) {
            const size_t wanted = (size_t)fuzz_bytes(reader, 2);

            size = wanted < fuzz_left(reader) ? wanted : fuzz_left(reader);
        }
        scratch_write(names[i], reader->at, size);
        reader->at += size;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_reader reader = fuzz_reader_init(data, size);
    const uint8_t how = fuzz_u8(&reader);
    const uint32_t count = 1 + how % FILES;
    const bool json = how & 64;
    const char *words[12] = {"batch",
                             "merge",
                             "--junit",
                             "junit.xml",
                             json ? "--json" : "--tap",
                             how & 128 ? "--flaky=pass" : "--flaky=fail"};
    struct mlictl_call call;

    for (uint32_t i = 0; i < count; i++)
        words[6 + i] = names[i];
    if (how & 32)
        words[6 + count] = "--html=page";
    write_files(&reader, count);
    call = mlictl_run(words);
    if (json)
        well_formed_json_lines(call.out, call.out_length);
    else
        well_formed_tap(call.out, call.out_length);
    mlictl_check_file("junit.xml", well_formed_xml);
    mlictl_finish(&call);
    return 0;
}
