/* Answers other threads' questions to the guard. */
#include <time.h>

#include "rpc/guard/guard_private.h"

static int digit_of(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
                                  : -1;
}

/* Read `count` bytes of two digits each; false: they are none. */
static bool read_hex(const char *text, unsigned char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        int high = digit_of(text[2 * i]), low = digit_of(text[2 * i + 1]);
        if (high < 0 || low < 0) {
            return false;
        }
        bytes[i] = (unsigned char)(high << 4 | low);
    }
    return true;
}

bool guard_find(struct guard *guard, struct str mark,
                struct guard_peer *ret_peer)
{
    unsigned char bytes[4 + GUARD_TOKEN_BYTES];

    if (mark.byte_count != GUARD_MARK_TEXT_BYTES ||
        !read_hex(mark.p, bytes, sizeof(bytes))) {
        return false;
    }
    uint32_t slot = (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 |
                    (uint32_t)bytes[2] << 8 | bytes[3];
    if (slot >= guard->options.connection_count_max) {
        return false;
    }
    const struct connection *connection = &guard->connections[slot];
    unsigned char difference = 0;
    pthread_mutex_lock(&guard->lock);
    for (size_t i = 0; i < GUARD_TOKEN_BYTES; i++) {
        difference |= (unsigned char)(connection->token[i] ^ bytes[4 + i]);
    }
    /* In a slot that is empty the token is zero, which a client can say. */
    bool is_found = difference == 0 && connection->mark_bytes > 0;
    if (is_found) {
        *ret_peer = connection->peer;
    }
    pthread_mutex_unlock(&guard->lock);
    return is_found;
}

void guard_counts(struct guard *guard, struct guard_counts *ret_counts)
{
    pthread_mutex_lock(&guard->lock);
    *ret_counts = guard->counts;
    pthread_mutex_unlock(&guard->lock);
}

bool guard_is_alive(struct guard *guard, uint32_t ms_max)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    int64_t now_ms = (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
    return now_ms - atomic_load(&guard->round_ms) <= ms_max;
}
