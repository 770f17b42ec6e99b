/* Answers other threads' questions to the guard. */
#include <time.h>

#include "rpc/guard/guard_private.h"
#include "rpc/guard/peer_process.h"

enum {
    LOOK_PAUSES = 4, /* after a look in vain, of its time: no other look */
};

static int64_t mono_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

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

/* The connection of that mark, under the lock; NULL: there is none. */
static struct connection *connection_of(struct guard *guard, struct str mark)
{
    unsigned char bytes[4 + GUARD_TOKEN_BYTES], difference = 0;

    if (mark.byte_count != GUARD_MARK_TEXT_BYTES ||
        !read_hex(mark.p, bytes, sizeof(bytes))) {
        return NULL;
    }
    uint32_t slot = (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 |
                    (uint32_t)bytes[2] << 8 | bytes[3];
    if (slot >= guard->slot_count) {
        return NULL;
    }
    struct connection *connection = &guard->connections[slot];
    for (size_t i = 0; i < GUARD_TOKEN_BYTES; i++) {
        difference |= (unsigned char)(connection->token[i] ^ bytes[4 + i]);
    }
    /* In a slot that is empty the token is zero, which a client can say. */
    return difference == 0 && connection->mark_bytes > 0 ? connection : NULL;
}

/* Who is there, and what was found of it before. */
static bool find(struct guard *guard, struct str mark,
                 struct guard_peer *ret_peer, enum peer_kind *ret_kind)
{
    pthread_mutex_lock(&guard->lock);
    const struct connection *connection = connection_of(guard, mark);
    if (connection) {
        *ret_peer = connection->peer;
        *ret_kind = connection->kind;
    }
    pthread_mutex_unlock(&guard->lock);
    return connection != NULL;
}

bool guard_find(struct guard *guard, struct str mark,
                struct guard_peer *ret_peer)
{
    enum peer_kind kind;

    return find(guard, mark, ret_peer, &kind);
}

/* Look through the processes, and keep what was found with the connection. */
static enum peer_kind look(struct guard *guard, struct str mark,
                           const struct guard_peer *peer)
{
    int64_t begun_ns = mono_ns();
    enum peer_kind kind =
        peer_process_is_outside_jobs(peer->user_id, peer->inode)
            ? PEER_OUTSIDE_JOBS
            : PEER_OTHER;
    int64_t now_ns = mono_ns();

    pthread_mutex_lock(&guard->lock);
    struct connection *connection = connection_of(guard, mark);
    if (connection) {
        connection->kind = kind;
    }
    if (kind == PEER_OTHER) {
        guard->look_again_ns = now_ns + LOOK_PAUSES * (now_ns - begun_ns);
    }
    pthread_mutex_unlock(&guard->lock);
    return kind;
}

bool guard_is_outside_jobs(struct guard *guard, struct str mark)
{
    struct guard_peer peer;
    enum peer_kind kind;

    if (!find(guard, mark, &peer, &kind) || !peer.has_user) {
        return false;
    }
    pthread_mutex_lock(&guard->lock);
    bool is_too_soon = mono_ns() < guard->look_again_ns;
    pthread_mutex_unlock(&guard->lock);
    if (kind == PEER_NOT_LOOKED_AT && !is_too_soon) {
        kind = look(guard, mark, &peer);
    }
    return kind == PEER_OUTSIDE_JOBS;
}

void guard_counts(struct guard *guard, struct guard_counts *ret_counts)
{
    pthread_mutex_lock(&guard->lock);
    *ret_counts = guard->counts;
    pthread_mutex_unlock(&guard->lock);
}

bool guard_is_alive(struct guard *guard, uint32_t ms_max)
{
    int64_t now_ms = mono_ns() / 1000000;
    int64_t refusing_ms = atomic_load(&guard->refusing_ms);
    int64_t unanswered_ms = atomic_load(&guard->unanswered_ms);
    int64_t failing_ms = atomic_load(&guard->probe.failing_ms);

    return now_ms - atomic_load(&guard->round_ms) <= ms_max &&
           (refusing_ms == 0 || now_ms - refusing_ms <= ms_max) &&
           (unanswered_ms == 0 || now_ms - unanswered_ms <= ms_max) &&
           (failing_ms == 0 || now_ms - failing_ms <= ms_max);
}
