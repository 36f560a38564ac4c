/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The bytes of a descriptor from its named fields. People see the fields, and the controller gets
 * the bytes: both must say the same. Names and places of the fields are those of the documents that
 * the decoders follow.
 */
#ifndef TEST_FIELD_BYTES_H
#define TEST_FIELD_BYTES_H

#include "target/controller/controller.h"

/**
 * Returns whether the fields of the descriptor do not make its bytes: a field is unknown or too
 * large, or a bit of the bytes is in no field.
 */
bool field_bytes_differ(enum profile_controller kind,
                        const struct controller_descriptor *descriptor);

#endif /* TEST_FIELD_BYTES_H */
