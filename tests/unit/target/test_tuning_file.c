/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests tuning files: reading, writing, bad files, files of other machines, and the places where a
 * file is looked for.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "mli_helpers_api.h"
#include "target/tuning/tuning_file.h"

#define MACHINE "\"machine\": {\"cpu\": \"x\", \"l1d\": 1024, \"l2\": 2048, \"l3\": 0}"

static char folder[] = "/tmp/test_tuning.XXXXXX";

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    char command[sizeof folder + 16];

    (void)state;
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command);
}

static struct tuning_file example(void)
{
    struct tuning_file file = {.seconds = 20};

    machine_read(&file.machine, "");
    strcpy(file.level, mli_cpu_level());
    strcpy(file.library, "0.2.0");
    strcpy(file.date, "2026-11-22T18:30:00Z");
    file.tuning.size = file.defaults.size = sizeof file.tuning;
    assert_int_equal(mli_tuning_default(&file.defaults, &file.machine.caches), MLI_STATUS_OK);
    file.tuning = file.defaults;
    file.tuning.stream_pixels_min = 1 << 20;
    file.tuning.stream_panel_min = UINT64_MAX;
    file.tuning.stage_rows = 96;
    file.gain[tuning_field_named("stage_rows")] = 124;
    return file;
}

static void assert_same(const mli_tuning *a, const mli_tuning *b)
{
    for (size_t i = 0; i < TUNING_FIELDS; i++)
        if (tuning_field_get(a, i) != tuning_field_get(b, i))
            fail_msg("%s differs", tuning_fields[i].name);
}

static void test_written_file_is_read(void **state)
{
    const struct tuning_file file = example();
    struct tuning_file read;
    struct fault fault;
    struct jsonw w;

    (void)state;
    jsonw_init_lines(&w, 3);
    tuning_file_write(&file, &w, NULL);
    assert_int_equal(tuning_file_parse(&read, jsonw_text(&w), w.length, &fault), 0);
    jsonw_finish(&w);
    assert_same(&read.tuning, &file.tuning);
    assert_same(&read.defaults, &file.defaults);
    assert_true(machine_is(&read.machine, &file.machine));
    assert_memory_equal(read.gain, file.gain, sizeof file.gain);
    assert_string_equal(read.level, mli_cpu_level());
    assert_string_equal(read.date, file.date);
    assert_int_equal(read.seconds, 20);
}

/* A value that the file lacks gets the default for the caches that the file names. */
static void test_absent_values(void **state)
{
    static const char text[] =
        "{\"format\": 1, " MACHINE ", \"values\": {\"stage_rows\": {\"value\": 64}}}";
    mli_tuning expected = {.size = sizeof expected};
    const mli_caches caches = {1024, 2048, 0};
    struct tuning_file file;
    struct fault fault;

    (void)state;
    assert_int_equal(tuning_file_parse(&file, text, strlen(text), &fault), 0);
    assert_int_equal(mli_tuning_default(&expected, &caches), MLI_STATUS_OK);
    expected.stage_rows = 64;
    assert_same(&file.tuning, &expected);
}

static void test_bad_files(void **state)
{
    static const struct {
        const char *text, *pointer, *words;
    } bad[] = {
        {"{}", "/format", "missing"},
        {"[]", "", "object"},
        {"{\"format\": 2, " MACHINE ", \"values\": {}}", "/format", "1"},
        {"{\"format\": 1, \"values\": {}}", "/machine", "missing"},
        {"{\"format\": 1, " MACHINE "}", "/values", "missing"},
        {"{\"format\": 1, " MACHINE ", \"values\": {}, \"x\": 1}", "/x", "unknown"},
        {"{\"format\": 1, " MACHINE ", \"values\": {\"stage\": {\"value\": 64}}}", "/values/stage",
         "unknown"},
        {"{\"format\": 1, " MACHINE ", \"values\": {\"stage_rows\": 64}}", "/values/stage_rows",
         "object"},
        {"{\"format\": 1, " MACHINE ", \"values\": {\"stage_rows\": {}}}",
         "/values/stage_rows/value", "missing"},
        {"{\"format\": 1, " MACHINE ", \"values\": {\"stage_rows\": {\"value\": 65}}}",
         "/values/stage_rows/value", "multiple of 16"},
        {"{\"format\": 1, " MACHINE ", \"values\": {\"stage_rows\": {\"value\": 4096}}}",
         "/values/stage_rows/value", "1024"},
        {"{\"format\": 1, " MACHINE ", \"values\": {\"stage_rows\": {\"value\": -16}}}",
         "/values/stage_rows/value", "16"},
        {"{\"format\": 1, " MACHINE ", \"values\": {\"stage_rows\": {\"value\": 1024}}}",
         "/values/stage_rows", "512 rows fit"},
        {"{\"format\": 1, " MACHINE ", \"values\": {\"stage_rows\": {\"value\": 64, "
         "\"gain_permille\": 1001}}}",
         "/values/stage_rows/gain_permille", "1000"},
    };
    struct tuning_file file;
    struct fault fault;

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(tuning_file_parse(&file, bad[i].text, strlen(bad[i].text), &fault), -1);
        if (strcmp(fault.pointer, bad[i].pointer) != 0 || !strstr(fault.text, bad[i].words))
            fail_msg("%s: %s: %s", bad[i].text, fault.pointer, fault.text);
    }
}

static void write_text(const char *name, const char *text)
{
    char path[256];
    FILE *file;

    snprintf(path, sizeof path, "%s/%s", folder, name);
    for (char *slash = path + strlen(folder) + 1; (slash = strchr(slash, '/')); slash++) {
        *slash = '\0';
        assert_true(mkdir(path, 0700) == 0 || errno == EEXIST);
        *slash = '/';
    }
    file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static void write_cache(int index, const char *level, const char *type, const char *size)
{
    static const char *const names[] = {"level", "type", "size"};
    const char *const texts[] = {level, type, size};
    char name[128];

    for (size_t i = 0; i < 3; i++) {
        snprintf(name, sizeof name, "sys/devices/system/cpu/cpu0/cache/index%d/%s", index,
                 names[i]);
        write_text(name, texts[i]);
    }
}

static void test_caches_of_a_machine(void **state)
{
    struct machine machine, other;

    (void)state;
    machine_read(&machine, folder);
    assert_int_equal(machine.caches.l1d | machine.caches.l2 | machine.caches.l3, 0);
    assert_true(*machine.cpu != '\0');
    write_cache(0, "1\n", "Data\n", "48K\n");
    write_cache(1, "1\n", "Instruction\n", "64K\n");
    write_cache(2, "2\n", "Unified\n", "2M\n");
    write_cache(3, "3\n", "Unified\n", "266240K\n");
    /* ignored, because the level or the unit is different */
    write_cache(4, "4\n", "Unified\n", "12Q\n");
    machine_read(&machine, folder);
    assert_int_equal(machine.caches.l1d, 48 << 10);
    assert_int_equal(machine.caches.l2, 2 << 20);
    assert_int_equal(machine.caches.l3, 260 << 20);
    other = machine;
    assert_true(machine_is(&machine, &other));
    other.caches.l3++;
    assert_false(machine_is(&machine, &other));
    other = machine;
    other.cpu[0] ^= 1;
    assert_false(machine_is(&machine, &other));
    write_cache(2, "2\n", "Unified\n", "12Q\n");
    machine_read(&machine, folder);
    assert_int_equal(machine.caches.l2, 0);
}

/* Writes a file, loads it, and returns the text that says what was done. */
static enum tuning_use load(const struct tuning_file *file, char note[TUNING_NOTE_MAX])
{
    char path[256];
    enum tuning_use use;
    struct fault fault;
    struct jsonw w;

    jsonw_init(&w);
    tuning_file_write(file, &w, NULL);
    write_text("t.json", jsonw_text(&w));
    jsonw_finish(&w);
    snprintf(path, sizeof path, "%s/t.json", folder);
    assert_int_equal(tuning_load(path, &use, note, &fault), 0);
    return use;
}

static mli_tuning now(void)
{
    mli_tuning tuning = {.size = sizeof tuning};

    assert_int_equal(mli_tuning_get(&tuning), MLI_STATUS_OK);
    return tuning;
}

static void test_load(void **state)
{
    struct tuning_file file = example();
    static char note[TUNING_NOTE_MAX];
    enum tuning_use use;
    struct fault fault;
    mli_tuning tuning;

    (void)state;
    assert_int_equal(load(&file, note), TUNING_FILE);
    assert_string_equal(note, "");
    tuning = now();
    assert_same(&tuning, &file.tuning);
    strcpy(file.level, "other");
    assert_int_equal(load(&file, note), TUNING_IGNORED);
    assert_non_null(strstr(note, "kernels other"));
    tuning = now();
    assert_same(&tuning, &file.defaults);
    file.machine.caches.l2 += 1024;
    assert_int_equal(load(&file, note), TUNING_IGNORED);
    assert_non_null(strstr(note, "is ignored"));
    assert_null(strchr(note, '\n'));
    tuning = now();
    assert_same(&tuning, &file.defaults);
    assert_int_equal(tuning_load(NULL, &use, note, &fault), 0);
    assert_int_equal(use, TUNING_DEFAULTS);
    assert_int_equal(tuning_load("/nonexistent/t.json", &use, note, &fault), -1);
    assert_non_null(strstr(fault.text, "/nonexistent/t.json"));
}

/* MLI_STREAM_MIN still sets the thresholds of streaming. */
static void test_environment_wins(void **state)
{
    struct tuning_file file = example();
    static char note[TUNING_NOTE_MAX];
    mli_tuning tuning;

    (void)state;
    mli_cpu_set_stream_min(6400);
    assert_int_equal(setenv("MLI_STREAM_MIN", "6400", 1), 0);
    assert_int_equal(load(&file, note), TUNING_FILE);
    unsetenv("MLI_STREAM_MIN");
    tuning = now();
    assert_int_equal(tuning.stream_rows_min, 6400);
    assert_int_equal(tuning.stream_sets_min, 200);
    assert_int_equal(tuning.stage_rows, 96);
}

static void test_default_path(void **state)
{
    char path[TUNING_PATH_MAX], expected[256];

    (void)state;
    snprintf(expected, sizeof expected, "%s/mli/tuning.json", folder);
    setenv("XDG_CONFIG_HOME", folder, 1);
    assert_false(tuning_default_path(path));
    write_text("mli/tuning.json", "{}");
    assert_true(tuning_default_path(path));
    assert_string_equal(path, expected);
    setenv("XDG_CONFIG_HOME", "relative", 1);
    setenv("HOME", folder, 1);
    assert_false(tuning_default_path(path));
    write_text(".config/mli/tuning.json", "{}");
    assert_true(tuning_default_path(path));
    snprintf(expected, sizeof expected, "%s/.config/mli/tuning.json", folder);
    assert_string_equal(path, expected);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_written_file_is_read),
        cmocka_unit_test(test_absent_values),
        cmocka_unit_test(test_bad_files),
        cmocka_unit_test(test_caches_of_a_machine),
        cmocka_unit_test(test_load),
        cmocka_unit_test(test_environment_wins),
        cmocka_unit_test(test_default_path),
    };

    unsetenv("MLI_STREAM_MIN");
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
