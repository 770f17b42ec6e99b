/*
 * helper_stub - a runtime for a helper that only looks at what it is given;
 * what it should not have been given ends it.
 */
#pragma once

#include "executor/helper/helper.h"

enum { EXIT_BELIEVED = 99 };

/* End the helper if this is not right. */
void believe(bool is_right);

/* Open it; as helper_options.open. */
int open_stub(void *ctx, struct runtime **ret_runtime, struct err *ret_info,
              struct err *err);

/* Add one to an int; as helper_options.lost. */
void count_lost(void *count);
