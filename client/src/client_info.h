/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef CLIENT_INFO_H
#define CLIENT_INFO_H

#include "mli_client.h"
#include "proto/wire/job_info.h"

/** What proto read of a job, as the caller sees it. */
void info_convert(mli_client_job_info *to, const struct job_info *from);

#endif /* CLIENT_INFO_H */
