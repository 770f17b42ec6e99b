#include "rpc/core.h"

#include <errno.h>
#include <grpc/support/log.h>
#include <grpc/support/time.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <zlib.h>

#ifdef __SANITIZE_THREAD__
#include <sanitizer/tsan_interface.h>
#else
#define __tsan_release(p) ((void)(p))
#define __tsan_acquire(p) ((void)(p))
#endif

void core_hand_over(void *tag)
{
    __tsan_release(tag);
}

void core_take_over(void *tag)
{
    __tsan_acquire(tag);
}

static void discard_log(gpr_log_func_args *args)
{
    (void)args;
}

void core_begin(void)
{
    if (!getenv("GRPC_VERBOSITY") && !getenv("GRPC_TRACE")) {
        gpr_set_log_function(discard_log);
    }
    grpc_init();
}

void core_block_signals(sigset_t *ret_before)
{
    sigset_t all;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, ret_before);
}

void core_unblock_signals(const sigset_t *before)
{
    pthread_sigmask(SIG_SETMASK, before, NULL);
}

grpc_byte_buffer *core_buffer(struct str bytes)
{
    grpc_slice slice =
        grpc_slice_from_copied_buffer(bytes.p ? bytes.p : "", bytes.byte_count);
    grpc_byte_buffer *buffer = grpc_raw_byte_buffer_create(&slice, 1);

    grpc_slice_unref(slice);
    return buffer;
}

struct str core_slice_str(const grpc_slice *slice)
{
    return str_make(GRPC_SLICE_START_PTR(*slice), GRPC_SLICE_LENGTH(*slice));
}

bool core_buffer_is_compressed(const grpc_byte_buffer *buffer)
{
    return buffer->data.raw.compression != GRPC_COMPRESS_NONE;
}

/* Feed one slice to `z`, growing `out` as it needs. */
static int inflate_slice(z_stream *z, struct str in, struct strbuf *out)
{
    enum { STEP_BYTES = 16 << 10 };
    unsigned char step[STEP_BYTES];
    int rc = Z_OK;

    z->next_in = (unsigned char *)(uintptr_t)in.p;
    z->avail_in = (unsigned)in.byte_count;
    do {
        z->next_out = step;
        z->avail_out = sizeof(step);
        rc = inflate(z, Z_NO_FLUSH);
        if (rc != Z_OK && rc != Z_STREAM_END && rc != Z_BUF_ERROR) {
            return rc;
        }
        strbuf_add(out, step, sizeof(step) - z->avail_out);
    } while (rc == Z_OK && z->avail_out == 0 && !out->is_over);
    /* Nothing to do for this slice alone is no error. */
    return rc == Z_BUF_ERROR ? Z_OK : rc;
}

static int inflate_buffer(const grpc_slice_buffer *slices, struct strbuf *out)
{
    /* 15 bits of window, +32: gzip and zlib headers are told apart. */
    z_stream z = {0};
    int rc = inflateInit2(&z, 15 + 32);

    ASSERT(rc == Z_OK);
    for (size_t i = 0; i < slices->count && rc == Z_OK && !out->is_over; i++) {
        rc = inflate_slice(&z, core_slice_str(&slices->slices[i]), out);
    }
    inflateEnd(&z);
    return out->is_over ? -ERR_LIMIT : rc == Z_STREAM_END ? 0 : -ERR_CORRUPT;
}

int core_buffer_read(const grpc_byte_buffer *buffer, size_t byte_count_max,
                     struct strbuf *scratch, struct str *ret_bytes)
{
    const grpc_slice_buffer *slices = &buffer->data.raw.slice_buffer;
    int rc = 0;

    strbuf_fini(scratch);
    scratch->byte_count_max = byte_count_max;
    if (core_buffer_is_compressed(buffer)) {
        rc = inflate_buffer(slices, scratch);
    } else if (slices->length > byte_count_max) {
        rc = -ERR_LIMIT;
    } else if (slices->count == 1) {
        *ret_bytes = core_slice_str(&slices->slices[0]);
        return 0;
    } else {
        for (size_t i = 0; i < slices->count; i++) {
            strbuf_add_str(scratch, core_slice_str(&slices->slices[i]));
        }
    }
    if (rc == 0) {
        *ret_bytes = strbuf_str(scratch);
    }
    return rc;
}

gpr_timespec core_deadline(int64_t timeout_ms)
{
    if (timeout_ms == 0) {
        return gpr_inf_future(GPR_CLOCK_MONOTONIC);
    }
    return gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC),
                        gpr_time_from_millis(timeout_ms, GPR_TIMESPAN));
}

int64_t core_remaining_ms(gpr_timespec deadline)
{
    gpr_timespec left;

    if (gpr_time_cmp(deadline, gpr_inf_future(deadline.clock_type)) == 0) {
        return INT64_MAX;
    }
    left = gpr_time_sub(deadline, gpr_now(deadline.clock_type));
    return left.tv_sec < 0 ? 0 : left.tv_sec * 1000 + left.tv_nsec / 1000000;
}

struct timespec core_time_after(int64_t delay_ms)
{
    enum { NS_PER_S = 1000000000 };
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    t.tv_sec += delay_ms / 1000;
    t.tv_nsec += (long)(delay_ms % 1000) * 1000000;
    if (t.tv_nsec >= NS_PER_S) {
        t.tv_sec++;
        t.tv_nsec -= NS_PER_S;
    }
    return t;
}

void core_cond_init(pthread_cond_t *cond)
{
    pthread_condattr_t monotonic;

    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(cond, &monotonic);
    pthread_condattr_destroy(&monotonic);
}

grpc_arg core_arg(const char *name, int64_t value)
{
    return (grpc_arg){
        .type = GRPC_ARG_INTEGER,
        .key = (char *)(uintptr_t)name,
        .value.integer = value > INT_MAX ? INT_MAX : (int)value,
    };
}

char *core_read_file(const char *path, struct err *err)
{
    struct strbuf text = strbuf_make(CORE_FILE_BYTES_MAX);
    char step[4096];
    size_t count = 0;
    FILE *file = fopen(path, "re");
    bool is_bad = false;

    if (!file) {
        err_set(err, -ERR_IO, "cannot open %s: %s", path, strerror(errno));
        return NULL;
    }
    while (!text.is_over && (count = fread(step, 1, sizeof(step), file)) > 0) {
        strbuf_add(&text, step, count);
    }
    is_bad = ferror(file) || text.is_over;
    fclose(file);
    if (is_bad) {
        err_set(err, -ERR_IO, "cannot read %s, or it is over %d bytes", path,
                CORE_FILE_BYTES_MAX);
        strbuf_fini(&text);
        return NULL;
    }
    return strbuf_steal(&text);
}
