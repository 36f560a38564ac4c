/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/batch/source.h"

static enum source_answer take(void *context, struct batch_case **out, struct fault *fault)
{
    struct source_list *list = context;
    const size_t index = atomic_fetch_add_explicit(&list->next, 1, memory_order_relaxed);

    (void)fault;
    if (index >= list->count)
        return SOURCE_END;
    *out = list->cases[index];
    return SOURCE_CASE;
}

struct case_source source_list_of(struct source_list *list)
{
    return (struct case_source){.take = take, .context = list};
}
