/* SPDX-License-Identifier: BSD-3-Clause */
/* An explanation for programs: the members of mlictl-explain(1). */
#ifndef CLI_EXPLAIN_FACTS_H
#define CLI_EXPLAIN_FACTS_H

#include "cli/explain/explained.h"
#include "proto/json/jsonw.h"

/** Writes them all as one object. */
void explained_json(struct jsonw *w, const struct explained *explained);

#endif /* CLI_EXPLAIN_FACTS_H */
