/* SPDX-License-Identifier: BSD-3-Clause */
/* mlid: reads the command line and the configuration, and runs the process (process.h). */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "daemon/config/identity.h"
#include "daemon/ops/process.h"
#include "daemon/service.h"
#include "libmli/port/ports.h"
#include "target/tuning/tuning_load.h"

/* Opens descriptors 0 to 2 if they are closed: else a socket could get the number of stderr. */
static void fill_standard_streams(void)
{
    int fd;

    do
        fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd >= 0)
        close(fd);
}

/* The origin of the tuning of the kernels. */
struct tuned {
    enum tuning_use use;
    char note[TUNING_NOTE_MAX]; /* why the file is ignored, or empty */
};

static int configure(struct config *config, const struct mlid_options *options, struct tuned *tuned,
                     struct fault *fault)
{
    if (mlid_options_configure(options, config, fault) < 0 || identity_check(config, fault) < 0 ||
        service_check(config, fault) < 0)
        return -1;
    return tuning_load(config->tuning[0] ? config->tuning : NULL, &tuned->use, tuned->note, fault);
}

/* Logs whether the tuning file is used; a file of another machine is not. */
static void log_tuning(const struct tuned *tuned, const char *path)
{
    struct log_line line;

    if (tuned->use == TUNING_FILE && log_begin(&line, LOG_INFO, "tuning in use")) {
        log_text(&line, "file", path);
        log_end(&line);
    }
    if (tuned->use == TUNING_IGNORED && log_begin(&line, LOG_WARNING, "tuning ignored")) {
        log_text(&line, "reason", tuned->note);
        log_end(&line);
    }
}

static int complain(const struct fault *fault)
{
    fprintf(stderr, "mlid: %s\n", fault->text);
    return EXIT_USAGE;
}

int main(int argc, char **argv)
{
    static struct mlid_options options;
    static struct activation activation;
    static struct notify notify;
    static struct config config;
    static struct tuned tuned;
    struct fault fault;
    int status;

    ports_add();
    fill_standard_streams();
    status = mlid_options_parse(&options, argc, argv);
    if (status >= 0)
        return status;
    if (configure(&config, &options, &tuned, &fault) < 0)
        return complain(&fault);
    if (options.check) {
        if (*tuned.note)
            fprintf(stderr, "mlid: %s\n", tuned.note);
        printf("the configuration is valid\n");
        return mlid_options_printed();
    }
    notify_init(&notify);
    if (activation_take(&activation, &fault) < 0)
        return complain(&fault);
    log_set_journal(log_is_journal());
    log_set_level(config.log_level);
    log_set_format(config.log_format);
    log_tuning(&tuned, config.tuning);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* the trace then gets EFBIG from write(2) */
    return process_run(&options, &config, &activation, &notify);
}
