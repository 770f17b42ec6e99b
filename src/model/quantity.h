/*
 * quantity - Kubernetes' amounts ("1500m", "32Gi", "1e3") as whole milli
 * units in an int64.
 *
 * One milli is a thousandth of the resource's own unit (a core, a byte, a
 * device); finer fractions round away from zero, as Kubernetes does when it
 * canonicalises.  Pure.
 */
#pragma once

#include "base/str.h"

enum { QUANTITY_TEXT_BYTES_MAX = 32 };

/* Read a quantity, sign included.
 * -ERR_INVALID: not a quantity; -ERR_LIMIT: beyond an int64 of milli units. */
int quantity_parse(struct str text, int64_t *ret_milli) must_check;

/* Write the canonical text ("500m", "2", "1Gi" when `is_binary` and it comes
 * out even) and a NUL; returns `text`. */
char *quantity_format(int64_t milli, bool is_binary,
                      char text[QUANTITY_TEXT_BYTES_MAX]);
