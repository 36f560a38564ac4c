/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/job/submission.h"

#include <string.h>
#include <unistd.h>

#include "cli/tensor/tensor_file.h"

int submission_check_rules(const struct job_rules *rules, const struct job_file *file,
                           const struct resolved *r, struct fault *fault)
{
    struct explained explained;

    if (!rules)
        return 0;
    if (explained_init(&explained, file, r, r->job->common.channels, fault))
        return -1;
    return job_rules_check(rules, r, &explained, fault);
}

int submission_lift_source(const struct daemon_link *link, struct resolved *r, struct fault *fault)
{
    if (little_endian_replace(&r->src, fault))
        return -1;
    if (!link->remote || !file_format_is_in_place(r->src.format))
        return 0;
    if (tensor_file_lift(&r->src, fault))
        return -1;
    r->wire.src.offset = r->src.header.data_offset;
    return 0;
}

/* Copies the file that is updated. Keeps its descriptor, which holds the lock. */
static int copy_before(struct resolved *r, uint64_t size, struct fault *fault)
{
    int fd, status;

    if (!r->before.header.big_endian)
        return output_copy(&r->output, r->before.fd, size, fault);
    fd = little_endian_copy(&r->before, fault);
    if (fd < 0)
        return -1;
    status = output_copy(&r->output, fd, size, fault);
    close(fd);
    return status;
}

int submission_prepare_output(struct resolved *r, struct fault *fault)
{
    uint64_t size = (uint64_t)r->whole.stat.st_size;

    if (r->dst_buffer)
        return 0;
    if (r->before.fd >= 0)
        return copy_before(r, size, fault);
    return output_reserve(&r->output, size, fault);
}

int submission_write_header(struct resolved *r, struct fault *fault)
{
    char bytes[NPY_FORMAT_SIZE];
    struct npy_header header = r->whole.header;

    if (r->whole.format == FILE_FORMAT_RAW || r->before.fd >= 0)
        return 0; /* A raw file has no header; a copied file has its header already. */
    if (npy_format(&header, bytes, sizeof(bytes)))
        return fault_set(fault, FAULT_INTERNAL, "/dst", "dst: the .npy header does not fit");
    return output_write(&r->output, bytes, sizeof(bytes), 0, fault);
}

/* Names the file of a descriptor that the service complains about. */
static void translate(struct fault *fault)
{
    if (strcmp(fault->pointer, "/src/fd") == 0)
        strcpy(fault->pointer, "/src/file");
    if (strcmp(fault->pointer, "/dst/fd") == 0)
        strcpy(fault->pointer, "/dst/file");
}

int submission_send(struct daemon_link *link, const struct resolved *r, int timeout_ms,
                    struct rpc_reply *reply, struct fault *fault)
{
    struct jsonw params;

    mli_client_attachment attachments[2];
    size_t count = 0;

    if (!r->src_buffer)
        attachments[count++] = (mli_client_attachment){.fd = r->src.fd, .send = true};
    /* A new output has only zeros, which need not be sent over a stream. */
    if (!r->dst_buffer)
        attachments[count++] =
            (mli_client_attachment){.fd = r->output.fd, .send = r->before.fd >= 0, .back = true};
    jsonw_init(&params);
    jsonw_object_begin(&params, NULL);
    job_wire_write_members(&params, &r->wire);
    jsonw_object_end(&params);
    const struct daemon_link_request request = {.method = "job.submit",
                                                .params = &params,
                                                .attachments = attachments,
                                                .count = count,
                                                .timeout_ms = timeout_ms};
    int status = daemon_link_call(link, &request, reply, fault);
    jsonw_finish(&params);
    if (status)
        translate(fault);
    return status;
}
