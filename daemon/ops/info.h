/* SPDX-License-Identifier: BSD-3-Clause */
/* What daemon.info answers. */
#ifndef DAEMON_INFO_H
#define DAEMON_INFO_H

#include "proto/wire/rpc.h"

struct service;

void info_fill(struct daemon_info *info, const struct service *service);

#endif /* DAEMON_INFO_H */
