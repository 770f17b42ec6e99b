#include "executor/files/run_mark.h"

#include <fcntl.h>
#include <unistd.h>

#include "executor/files/file.h"
#include "executor/files/kv.h"
#include "executor/files/run_file.h"

enum { ACKED_BYTES = 3 /* a digit, which is the same each time */ };

void run_stop_write(int dir_fd, int64_t grace_ms)
{
    auto_strbuf wish = strbuf_make(RUN_TEXT_BYTES_MAX);
    struct err err;

    kv_add_int(&wish, grace_ms >= 0 ? "grace_ms" : "grace_own", grace_ms);
    kv_promise_seal(&wish); /* behind what older shims read */
    kv_seal(&wish);
    (void)!file_replace(dir_fd, RUN_STOP_NAME, strbuf_str(&wish), 0600, &err);
}

int64_t run_stop_read(int dir_fd, int64_t own_ms)
{
    auto_strbuf bytes = strbuf_make(RUN_TEXT_BYTES_MAX);
    struct err err;

    if (file_read(dir_fd, RUN_STOP_NAME, &bytes, &err) == 0) {
        struct kv_reader reader = {.rest = strbuf_str(&bytes)};
        if (kv_check(strbuf_str(&bytes)) == 0 && kv_next(&reader) == 1 &&
            kv_is(&reader, "grace_ms") && kv_int(&reader) >= 0) {
            return kv_int(&reader);
        }
    }
    return own_ms;
}

void run_acked_write(int dir_fd, int phase)
{
    char digit = (char)('0' + phase);
    const char text[ACKED_BYTES] = {digit, digit, digit};

    int file = openat(dir_fd, RUN_ACKED_NAME,
                      O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (file >= 0) {
        (void)!write(file, text, sizeof(text));
        close(file);
    }
}

/* The digit as often as it fits, or once (older releases). */
int run_acked_read(int dir_fd)
{
    char text[ACKED_BYTES] = "0";
    struct err err;
    int fd = file_open(dir_fd, RUN_ACKED_NAME, &err);
    ssize_t count = 0;

    if (fd >= 0) {
        count = read(fd, text, sizeof(text));
        close(fd);
    }
    char digit = text[0];
    for (ssize_t i = 1; i < count; i++) {
        digit = text[i] == text[0] ? digit : '0';
    }
    return digit >= '0' && digit <= '9' ? digit - '0' : 0;
}
