/*
 * core - what both ends need of the gRPC library, private to this folder.
 *
 * Messages are decompressed here and not by the library, because it inflates
 * without a bound: 4 MiB of gzip can be 4 GiB of zeros.
 */
#pragma once

#include <grpc/byte_buffer.h>
#include <grpc/grpc.h>
#include <grpc/slice.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>

#include "base/strbuf.h"

enum { CORE_FILE_BYTES_MAX = 1 << 20 };

/* Tell ThreadSanitizer that what was written before `tag` was given to the
 * library is seen where it comes out of a completion queue; the locks in
 * between are in a library that it does not see into. */
void core_hand_over(void *tag);

/* The other end of core_hand_over(). */
void core_take_over(void *tag);

/* Start the library unless it runs; it then stays until the process ends,
 * since stopping it can take 10 s (a helper thread of its own sleeps that long
 * after a write that had to wait).  Silences its own logging unless
 * GRPC_VERBOSITY or GRPC_TRACE ask for it. */
void core_begin(void);

/* Block all signals for this thread until core_unblock_signals(), so that
 * threads started meanwhile never take any. */
void core_block_signals(sigset_t *ret_before);

/* The other end of core_block_signals(). */
void core_unblock_signals(const sigset_t *before);

/* A byte buffer with a copy of `bytes`; grpc_byte_buffer_destroy() it. */
grpc_byte_buffer *core_buffer(struct str bytes) must_check;

/* The message in `buffer`, inflated.  Borrows from `buffer` or `scratch`, so
 * that it is valid as long as both.  -ERR_LIMIT when it has more than
 * `byte_count_max` bytes; -ERR_CORRUPT when it does not inflate. */
int core_buffer_read(const grpc_byte_buffer *buffer, size_t byte_count_max,
                     struct strbuf *scratch, struct str *ret_bytes) must_check;

/* Whether the message in `buffer` came compressed. */
bool core_buffer_is_compressed(const grpc_byte_buffer *buffer);

/* Bytes of a slice, borrowed from it. */
struct str core_slice_str(const grpc_slice *slice);

/* The library's time `timeout_ms` from now; for ever when it is 0. */
gpr_timespec core_deadline(int64_t timeout_ms);

/* Milliseconds until `deadline`, at least 0; INT64_MAX when for ever. */
int64_t core_remaining_ms(gpr_timespec deadline);

/* The monotonic time `delay_ms` (>= 0) from now, for core_cond_init()'s. */
struct timespec core_time_after(int64_t delay_ms);

/* A condition whose timed waits are on the monotonic clock. */
void core_cond_init(pthread_cond_t *cond);

/* An integer argument of a channel or server. */
grpc_arg core_arg(const char *name, int64_t value);

/* The contents of a small file, NUL-terminated; mem_free it.  NULL with `err`
 * set when it cannot be read or is over CORE_FILE_BYTES_MAX. */
char *core_read_file(const char *path, struct err *err) must_check;
