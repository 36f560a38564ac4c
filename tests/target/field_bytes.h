/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Checks that the named fields of a descriptor, which users see, agree with its bytes, which the
 * controller reads. The names and places of the fields are those of the documents from which the
 * decoders were written.
 */
#ifndef TEST_FIELD_BYTES_H
#define TEST_FIELD_BYTES_H

#include "target/controller/controller.h"

/**
 * Returns true if the fields of the descriptor do not yield its bytes: a field is unknown or too
 * large, or a bit of the bytes is in no field.
 */
bool field_bytes_differ(enum profile_controller kind,
                        const struct controller_descriptor *descriptor);

#endif /* TEST_FIELD_BYTES_H */
