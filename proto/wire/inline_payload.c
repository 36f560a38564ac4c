/* SPDX-License-Identifier: BSD-3-Clause */
#include "proto/wire/inline_payload.h"

/* Reads an item of a request. */
static int read_request_item(const struct json *object, struct inline_item *item)
{
    static const char *const keys[] = {"bytes", "size", "back", NULL};
    int64_t bytes = 0, size;

    if (json_object(object, keys) < 0 ||
        optional_int(object, "bytes", 0, INLINE_BYTES_MAX, &bytes) < 0)
        return -1;
    size = bytes;
    if (optional_int(object, "size", 0, INLINE_BYTES_MAX, &size) < 0)
        return -1;
    if (size < bytes) {
        struct json member = json_member(object, "size");
        return json_complain(&member, "a size of %lld given, but %lld bytes of data follow",
                             (long long)size, (long long)bytes);
    }
    item->bytes = (uint64_t)bytes;
    item->size = (uint64_t)size;
    return optional_bool(object, "back", &item->back);
}

/* Reads an item of a reply: one number, which becomes both `bytes` and `size`. */
static int read_reply_item(const struct json *value, struct inline_item *item)
{
    int64_t bytes;

    if (json_int(value, 0, INLINE_BYTES_MAX, &bytes) < 0)
        return -1;
    item->bytes = item->size = (uint64_t)bytes;
    return 0;
}

/* The sum cannot overflow: each entry is at most INLINE_BYTES_MAX. */
static int check_sum(const struct json *value, uint64_t sum)
{
    return sum <= INLINE_BYTES_MAX
               ? 0
               : json_complain(value, "%llu bytes in all; at most %llu are allowed",
                               (unsigned long long)sum, (unsigned long long)INLINE_BYTES_MAX);
}

/* Reads the items with `read_item`; reads no items if the member is absent. */
static int read_items(const struct json *value, struct inline_payload *payload,
                      int (*read_item)(const struct json *, struct inline_item *))
{
    struct json item = {0};
    uint64_t sum = 0;
    size_t count;

    *payload = (struct inline_payload){0};
    if (!json_present(value))
        return 0;
    if (array_within(value, PROTO_FDS_MAX, &count) < 0)
        return -1;
    while (json_next(value, &item)) {
        if (read_item(&item, &payload->items[item.index]) < 0)
            return -1;
        sum += payload->items[item.index].size;
    }
    payload->count = (uint32_t)count;
    return check_sum(value, sum);
}

int inline_payload_read(const struct json *value, struct inline_payload *payload)
{
    return read_items(value, payload, read_request_item);
}

int inline_reply_read(const struct json *value, struct inline_payload *payload)
{
    return read_items(value, payload, read_reply_item);
}
