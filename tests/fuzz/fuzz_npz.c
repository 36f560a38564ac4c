/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fuzzes the reader of .npz archives. The input begins with a mode. Mode 0: the rest is the file.
 * Other modes: the bytes describe members (name, method, contents, extra fields, zip64, and wrong
 * fields), and an archive is made of them, because mutations of bytes rarely keep offsets and
 * checksums. Each tensor is described and unpacked: the unpacked file must have the size of the
 * member, and seals.
 */
#include <fcntl.h>
#include <unistd.h>

#include "cli/tensor/archive.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/fuzz_reader.h"
#include "tests/fuzz/fuzz_scratch.h"
#include "tests/fuzz/fuzz_zip.h"

enum { MEMBERS_MAX = 24, TENSOR_MAX = 1 << 12 };

static const char header[] = "\x93NUMPY\x01\x00\x36\x00"
                             "{'descr': '|i1', 'fortran_order': False, 'shape': (8,), }\n01234567";

static const char *name_of(struct fuzz_reader *reader, char out[40])
{
    static const char *const usual[] = {"a.npy", "b.npy", "w/c.npy", "readme.txt", ".npy", "npy"};
    const uint8_t which = fuzz_u8(reader);

    if (which < 250)
        return usual[which % (sizeof usual / sizeof usual[0])];
    for (int i = 0; i < 30; i++)
        out[i] = (char)(1 + fuzz_u8(reader) % 255);
    memcpy(out + 30, ".npy", 5);
    return out;
}

/* Adds a member with a small tensor or any bytes; it is stored, or is a stored block of deflate. */
static void add_member(struct zip_writer *zip, struct fuzz_reader *reader)
{
    uint8_t block[5 + 512] = {1};
    char name[40];
    size_t size;
    const uint8_t how = fuzz_u8(reader);
    struct zip_member member = {.name = name_of(reader, name)};
    const uint8_t *bytes = fuzz_piece(reader, 255, &size);

    if (how & 1) {
        bytes = (const uint8_t *)header;
        size = sizeof header - 1;
    }
    member.crc = zip_crc(bytes, size);
    member.unpacked = (uint32_t)size;
    member.bytes = bytes;
    member.size = (uint32_t)size;
    if (how & 2) {
        member.method = 8;
        memcpy(block + 1, (uint16_t[]){(uint16_t)size, (uint16_t)~size}, 4);
        memcpy(block + 5, bytes, size);
        member.bytes = block;
        member.size = (uint32_t)size + 5;
    }
    if ((how & 12) == 12)
        member.unpacked = (uint32_t)fuzz_number(reader);
    if ((how & 20) == 20)
        member.method = fuzz_u8(reader);
    if ((how & 36) == 36)
        member.crc ^= 1;
    if ((how & 68) == 68)
        member.flags = fuzz_u8(reader);
    if (how & 128) {
        const uint8_t more = fuzz_u8(reader);

        member.wide = more & 1;
        member.comment = more & 2 ? more : 0;
        if (more & 4) {
            member.extra = fuzz_piece(reader, 64, &size);
            member.extra_size = (uint16_t)size;
        }
    }
    zip_add(zip, &member);
}

static void write_archive(struct fuzz_reader *reader)
{
    struct zip_writer zip = {0};
    const uint8_t said = fuzz_u8(reader);

    for (int i = 0; i < MEMBERS_MAX && fuzz_left(reader) > 0; i++)
        add_member(&zip, reader);
    zip.wide = said % 4 == 3;
    zip_end(&zip, said > 250 ? said - 253 : 0);
    scratch_write("a.npz", zip.bytes, zip.size);
    zip_finish(&zip);
}

static void check_entry(const struct tensor_entry *entry)
{
    uint64_t bytes = entry->header.item_size;

    FUZZ_ASSERT(memchr(entry->dtype, '\0', sizeof entry->dtype));
    if (entry->refusal)
        return;
    FUZZ_ASSERT(entry->rank == entry->header.rank && entry->rank >= 1);
    for (size_t d = 0; d < entry->rank; d++)
        bytes *= entry->shape[d];
    FUZZ_ASSERT(bytes == entry->bytes && bytes == entry->header.data_size);
}

static void unpack(struct archive *archive, struct tensor_entry *entry)
{
    struct fault fault = {0};
    int fd = -1;

    if (archive_outline(archive, entry, &fault) < 0) {
        fuzz_check_fault(&fault);
        return;
    }
    check_entry(entry);
    if (entry->refusal || entry->bytes > TENSOR_MAX)
        return;
    if (archive_unpack(archive, entry, &fd, &fault) < 0) {
        fuzz_check_fault(&fault);
        FUZZ_ASSERT(fd == -1);
        return;
    }
    FUZZ_ASSERT(lseek(fd, 0, SEEK_END) == (off_t)(entry->header.data_offset + entry->bytes));
    FUZZ_ASSERT(fcntl(fd, F_GET_SEALS) & F_SEAL_SHRINK);
    close(fd);
}

static void read_archive(const char *path)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct fault fault = {0};
    struct archive *archive;
    struct stat status;

    FUZZ_ASSERT(fd >= 0 && fstat(fd, &status) == 0);
    archive = archive_acquire(fd, &status, FILE_FORMAT_NPZ, &fault);
    if (!archive) {
        fuzz_check_fault(&fault);
    } else {
        const struct tensor_list *list = archive_list(archive);

        for (size_t i = 0; i < list->count; i++) {
            FUZZ_ASSERT(i == 0 || strcmp(list->by_name[i - 1]->name, list->by_name[i]->name) < 0);
            unpack(archive, list->by_name[i]);
            unpack(archive, list->by_name[i]); /* the second call takes the tensor from the cache */
        }
        archive_release(archive);
    }
    close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_reader reader = fuzz_reader_init(data, size);
    char path[SCRATCH_PATH_MAX];

    scratch_remove("a.npz"); /* a new file, which the cache does not know */
    if (fuzz_u8(&reader) == 0)
        scratch_write("a.npz", reader.at, fuzz_left(&reader));
    else
        write_archive(&reader);
    read_archive(scratch_path(path, "a.npz"));
    return 0;
}
