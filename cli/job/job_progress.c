/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/job/job_progress.h"

#include "boards/link/board_link.h"
#include "cli/job/job_report.h"

enum { INTERVAL_MS = 100, SUBSCRIBE_MS = 1000 };

static void show(mli_client *library, const mli_client_event *event, void *user)
{
    struct job_progress *progress = user;

    (void)library;
    meter_show(&progress->meter, event->job.bytes_done, event->job.bytes);
}

/* Shows the bytes on the line of a board. */
static void show_line(void *user, uint64_t done, uint64_t total)
{
    struct job_progress *progress = user;

    if (progress->meter.label)
        meter_show(&progress->meter, done, total);
}

void job_progress_follow(struct job_progress *progress, struct daemon_link *link,
                         const struct print_style *style)
{
    mli_client_error error;

    *progress = (struct job_progress){.style = *style};
    if (!meter_wanted(style) || !daemon_link_connected(link))
        return;
    if (link->board) {
        progress->subscribed = true;
        board_link_follow(link->board, show_line, progress);
        return;
    }
    /* A daemon that does not answer must not delay the jobs beyond their own timeouts. */
    mli_client_set_timeout(link->library, SUBSCRIBE_MS);
    progress->subscribed =
        mli_client_subscribe(link->library, 1U << MLI_CLIENT_EVENT_PROGRESS,
                             MLI_CLIENT_SCOPE_CONNECTION, INTERVAL_MS, show, progress, &error) == 0;
    mli_client_set_timeout(link->library, -1);
}

void job_progress_begin(struct job_progress *progress, const struct job_file *file,
                        const struct job_spec *job)
{
    if (!progress || !progress->subscribed)
        return;
    job_report_label(progress->label, sizeof(progress->label), file, job);
    meter_begin(&progress->meter, &progress->style, progress->label);
}

void job_progress_end(struct job_progress *progress)
{
    if (progress && progress->subscribed)
        meter_end(&progress->meter);
}
