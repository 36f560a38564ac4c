/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/batch/queue_command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/file/text.h"
#include "cli/term/print.h"

enum { RECONNECT_S = 30, RECONNECT_MAX_S = 24 * 3600, MS_PER_S = 1000 };

static int set_password(struct queue_url *url, const char *text, size_t length, const char *where,
                        struct fault *fault)
{
    if (url->kind != QUEUE_REDIS)
        return 0;
    if (length >= sizeof(url->password) || memchr(text, '\0', length))
        return fault_set(fault, FAULT_INVALID_PARAMS, NULL,
                         "%s: a password of at most 511 bytes without zero bytes is required",
                         where);
    memcpy(url->password, text, length);
    url->password[length] = '\0';
    return 0;
}

static int read_password_file(struct queue_url *url, const char *path, struct fault *fault)
{
    struct text text = {0};
    struct fault why;
    char shown[PRINT_PATH_MAX];
    int status;

    print_path(shown, path);
    if (text_load(&text, path, 2 * QUEUE_SECRET_MAX, false, &why)) {
        status = fault_set(fault, why.code, NULL, "%s: %s", shown, why.text);
    } else {
        while (text.length > 0 && strchr("\r\n", text.bytes[text.length - 1]))
            text.length--;
        status = set_password(url, text.bytes ? text.bytes : "", text.length, shown, fault);
    }
    if (text.bytes)
        explicit_bzero(text.bytes, text.capacity);
    text_finish(&text);
    return status;
}

/* Reads the password that the URL does not have. */
static int read_password(const struct options *options, struct queue_url *url, struct fault *fault)
{
    static const char variable[] = "MLI_QUEUE_PASSWORD";
    const char *path = options_get(options, "password-file"), *value = getenv(variable);

    if (*url->password)
        return 0;
    if (path)
        return read_password_file(url, path, fault);
    return value ? set_password(url, value, strlen(value), variable, fault) : 0;
}

/* Overwrites the password in the command line, which other users can read. */
static void hide(const char *text)
{
    char *argument;

    memcpy(&argument, &text, sizeof(argument)); /* The text is an element of argv. */
    queue_url_hide(argument);
}

int queue_command_open(const struct options *options, struct queue **queue,
                       char shown[sizeof(((struct queue_url *)0)->shown)], struct fault *fault)
{
    const char *text = options_get(options, "queue");
    struct queue_url url;
    uint64_t patience = RECONNECT_S;

    *queue = NULL;
    int status = queue_url_parse(text, &url, fault);
    hide(text);
    if (status)
        return -1;
    if (options_uint(options, "reconnect", 0, RECONNECT_MAX_S, &patience))
        return fault_set(fault, FAULT_INVALID_PARAMS, NULL, "--reconnect is not valid");
    status = read_password(options, &url, fault);
    if (status == 0)
        status = queue_open(&url, (uint32_t)patience * MS_PER_S, queue, fault);
    memcpy(shown, url.shown, sizeof(url.shown));
    explicit_bzero(&url, sizeof(url));
    return status;
}

bool queue_command_run(const struct options *options, enum exit_code *code)
{
    static const struct {
        const char *name;
        enum exit_code (*run)(const struct options *options);
    } commands[] = {
        {"enqueue", queue_enqueue}, {"status", queue_show_status}, {"collect", queue_collect}};

    for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
        if (options->argument_count == 0 || strcmp(options->arguments[0], commands[i].name) != 0)
            continue;
        if (options_get(options, "queue")) {
            *code = commands[i].run(options);
        } else {
            print_error("batch %s requires --queue URL; to run the cases of a directory with this "
                        "name, write ./%s",
                        commands[i].name, commands[i].name);
            *code = EXIT_CODE_INVALID;
        }
        return true;
    }
    return false;
}
