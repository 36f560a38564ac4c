/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/tensor/tensor_file.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/tensor/archive.h"
#include "cli/tensor/dtype.h"
#include "cli/term/cancel.h"
#include "proto/json/utf8.h"

enum { NAME_SHOWN_MAX = 256, NAME_WIDTH_MAX = 48, SHAPE_WIDTH_MAX = 24 };

const char *archive_listing_shape(const struct tensor_entry *entry,
                                  char out[ARCHIVE_LISTING_SHAPE_MAX])
{
    static const char rest[] = ", ...)";
    size_t length = (size_t)snprintf(out, ARCHIVE_LISTING_SHAPE_MAX, "(");
    for (size_t i = 0; i < entry->rank; i++) {
        char extent[24];
        int size = snprintf(extent, sizeof(extent), "%s%" PRIu64, i ? ", " : "", entry->shape[i]);
        if (length + (size_t)size + sizeof(rest) > ARCHIVE_LISTING_SHAPE_MAX) {
            strcpy(out + length, rest);
            return out;
        }
        length += (size_t)sprintf(out + length, "%s", extent);
    }
    strcpy(out + length, ")");
    return out;
}

void archive_listing_json_outline(struct jsonw *w, const struct tensor_entry *entry)
{
    if (!entry->dtype[0]) {
        jsonw_null(w, "dtype");
        jsonw_null(w, "shape");
        return;
    }
    jsonw_string(w, "dtype", entry->dtype);
    jsonw_array_begin(w, "shape");
    for (size_t i = 0; i < entry->rank; i++)
        jsonw_uint(w, NULL, entry->shape[i]);
    jsonw_array_end(w);
}

/* Returns a name without control characters, for a terminal. */
static const char *shown(const struct tensor_entry *entry, char out[NAME_SHOWN_MAX])
{
    snprintf(out, NAME_SHOWN_MAX, "%s", entry->name);
    utf8_disarm(out);
    return out;
}

static uint64_t total_bytes(const struct tensor_list *list)
{
    uint64_t total = 0;
    for (size_t i = 0; i < list->count; i++) {
        if (__builtin_add_overflow(total, list->entries[i].bytes, &total))
            return UINT64_MAX;
    }
    return total;
}

/* Prints a table. Very long names and shapes may exceed the width of their columns. */
static void print_entries(const struct print_style *style, const struct tensor_list *list)
{
    char name[NAME_SHOWN_MAX], shape[ARCHIVE_LISTING_SHAPE_MAX], bytes[PRINT_TEXT_MAX];
    size_t names = 0, dtypes = 0, shapes = 0;
    for (size_t i = 0; i < list->count; i++) {
        const struct tensor_entry *entry = &list->entries[i];
        size_t width = strlen(entry->name), dtype = strlen(entry->dtype);
        size_t extents = strlen(archive_listing_shape(entry, shape));
        names = width > names && width <= NAME_WIDTH_MAX ? width : names;
        dtypes = dtype > dtypes ? dtype : dtypes;
        shapes = extents > shapes && extents <= SHAPE_WIDTH_MAX ? extents : shapes;
    }
    for (size_t i = 0; i < list->count; i++) {
        const struct tensor_entry *entry = &list->entries[i];
        if (!entry->dtype[0])
            print_line(style, "  %-*s  %s", (int)names, shown(entry, name), entry->refusal);
        else
            print_line(style, "  %-*s  %-*s  %-*s  %s%s", (int)names, shown(entry, name),
                       (int)dtypes, entry->dtype, (int)shapes, archive_listing_shape(entry, shape),
                       print_bytes(bytes, entry->bytes),
                       entry->refusal ? "; no job can take it" : "");
    }
}

static void print_list(const struct print_style *style, const struct tensor_file *file,
                       const struct tensor_list *list)
{
    char bytes[PRINT_TEXT_MAX];
    print_line(style, "%s: %s, %zu tensor%s, %s", file->path, file_format_word(file->format),
               list->count, print_s(list->count), print_bytes(bytes, total_bytes(list)));
    print_entries(style, list);
}

static void print_json_list(const struct tensor_file *file, const struct tensor_list *list)
{
    struct jsonw w;
    jsonw_init_object(&w);
    jsonw_string(&w, "file", file->path);
    jsonw_string(&w, "format", file_format_word(file->format));
    jsonw_uint(&w, "bytes", total_bytes(list));
    jsonw_array_begin(&w, "tensors");
    for (size_t i = 0; i < list->count; i++) {
        const struct tensor_entry *entry = &list->entries[i];
        jsonw_object_begin(&w, NULL);
        jsonw_string(&w, "name", entry->name);
        archive_listing_json_outline(&w, entry);
        if (entry->dtype[0])
            jsonw_uint(&w, "bytes", entry->bytes);
        if (entry->refusal)
            jsonw_string(&w, "refused", entry->refusal);
        else
            jsonw_string(&w, "type", element_type_name(npy_default_type(&entry->header)));
        jsonw_object_end(&w);
    }
    jsonw_array_end(&w);
    print_object(&w);
}

/* Fills all entries. An invalid member is listed with the reason, and the list continues; an
 * archive that cannot be read is an error. */
static int outline_all(struct archive *archive, struct fault *fault)
{
    const struct tensor_list *list = archive_list(archive);
    for (size_t i = 0; i < list->count; i++) {
        struct tensor_entry *entry = &list->entries[i];
        if (cancel_requested())
            return cancel_fault(fault);
        if (archive_outline(archive, entry, fault) == 0)
            continue;
        if (fault->code == FAULT_INTERNAL || fault->code == FAULT_IO_ERROR)
            return -1;
        if (tensor_entry_refuse(entry, fault))
            return fault_no_memory(fault);
    }
    return 0;
}

enum exit_code archive_listing_show(const struct print_style *style, const char *path,
                                    enum file_format format)
{
    struct tensor_file file;
    struct fault fault;
    struct archive *archive = NULL;
    enum exit_code code = EXIT_CODE_DONE;
    if (tensor_file_open_bare(&file, path, format, &fault))
        return print_file_failure(style, path, &fault);
    if (tensor_file_archive(&file, &archive, &fault) || outline_all(archive, &fault)) {
        code = print_file_failure(style, path, &fault);
    } else {
        print_list(style, &file, archive_list(archive));
        if (style->json)
            print_json_list(&file, archive_list(archive));
    }
    archive_release(archive);
    tensor_file_close(&file);
    return code;
}
