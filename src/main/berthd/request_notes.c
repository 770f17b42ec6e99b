#include "main/berthd/request_notes.h"

#include "base/hash.h"
#include "main/common/say.h"

enum { NEVER = -1 }; /* a second that is none */

void request_notes_init(struct request_notes *notes, const struct clock *clock)
{
    *notes = (struct request_notes){.clock = clock};
    for (size_t i = 0; i < REQUEST_NOTES_PRINCIPALS; i++) {
        notes->principals[i].bound.second = NEVER;
    }
    (void)pthread_mutex_init(&notes->lock, NULL);
}

void request_notes_fini(struct request_notes *notes)
{
    (void)pthread_mutex_destroy(&notes->lock);
}

static const struct {
    enum say_level level;
    const char *event;
} kinds[] = {
    [REQUEST_NOTES_DENIED] = {SAY_WARN, "call.denied"},
    [REQUEST_NOTES_UNKNOWN] = {SAY_WARN, "auth.refused"},
    [REQUEST_NOTES_FAILED] = {SAY_INFO, "call.done"},
    [REQUEST_NOTES_DONE] = {SAY_INFO, "call.done"},
    [REQUEST_NOTES_BEGUN] = {SAY_INFO, "call.begun"},
};

/* The bound of a principal; who was heard of first gives way to a new one. */
static struct request_notes_bound *
principal_bound(struct request_notes *notes, struct str user, int64_t second)
{
    uint64_t hash = hash_bytes(user.p, user.byte_count, 0);
    size_t oldest = 0;

    for (size_t i = 0; i < REQUEST_NOTES_PRINCIPALS; i++) {
        struct request_notes_bound *bound = &notes->principals[i].bound;
        if (bound->second != NEVER && notes->principals[i].hash == hash) {
            return bound;
        }
        if (bound->second < notes->principals[oldest].bound.second) {
            oldest = i;
        }
    }
    /* In a second with too many the last ones share, for memory is bounded. */
    if (notes->principals[oldest].bound.second != second) {
        notes->principals[oldest].hash = hash;
    }
    return &notes->principals[oldest].bound; /* what it left out is told yet */
}

/* Whether one more may be said in this second; `ret_left_out` is what was left
 * out before, if it is to be said now. */
static bool take_line(struct request_notes_bound *bound, int64_t second,
                      uint32_t count_max, uint32_t *ret_left_out)
{
    if (second != bound->second) {
        bound->second = second;
        bound->said_count = 0;
    }
    bool may = bound->said_count < count_max;
    bound->said_count += may;
    bound->left_out_count += !may;
    *ret_left_out = may ? bound->left_out_count : 0;
    if (may) {
        bound->left_out_count = 0;
    }
    return may;
}

/* The same of one more of a kind by a principal. */
static bool may_say(struct request_notes *notes, enum request_notes_kind kind,
                    struct str user, uint32_t *ret_left_out)
{
    bool is_done = kind == REQUEST_NOTES_DONE || kind == REQUEST_NOTES_BEGUN;

    pthread_mutex_lock(&notes->lock); /* else seconds would go back */
    int64_t second =
        (int64_t)(notes->clock->mono_ns(notes->clock) / 1000000000);
    bool may = take_line(
        is_done ? principal_bound(notes, user, second) : &notes->kinds[kind],
        second, is_done ? REQUEST_NOTES_DONE_MAX : REQUEST_NOTES_REFUSED_MAX,
        ret_left_out);
    pthread_mutex_unlock(&notes->lock);
    return may;
}

static void say_call(enum say_level level, const char *event,
                     const struct api_note *note)
{
    struct str id = str_of(note->request_id);

    if (id.byte_count > REQUEST_NOTES_ID_BYTES_MAX) {
        id.byte_count = REQUEST_NOTES_ID_BYTES_MAX;
    }
    say(level, event, say_text("method", note->method),
        say_str("user", note->user), say_str("peer", note->peer),
        say_str("queue", note->queue), say_str("job_set", note->job_set),
        say_text("code", rpc_code_name(note->code)),
        say_text("error", note->text), say_int("took_us", note->took_us),
        say_str("request_id", id),
        note->job.byte_count > 0 ? say_str("job", note->job) : say_end());
}

static void say_limited(struct request_notes *notes,
                        enum request_notes_kind kind,
                        const struct api_note *note)
{
    uint32_t left_out;

    if (!say_is_on(kinds[kind].level) ||
        !may_say(notes, kind, note->user, &left_out)) {
        return;
    }
    if (left_out > 0) {
        say(kinds[kind].level, "call.left_out", say_int("count", left_out),
            say_text("of", kinds[kind].event));
    }
    say_call(kinds[kind].level, kinds[kind].event, note);
}

void request_notes_say(void *ctx, const struct api_note *note)
{
    struct request_notes *notes = ctx;
    bool is_unknown = note->code == RPC_UNAUTHENTICATED;

    if (note->is_login) {
        say(SAY_INFO, "auth.login", say_str("user", note->user),
            say_str("peer", note->peer),
            say_text("request_id", note->request_id));
    }
    if (note->is_begun) {
        say_limited(notes, REQUEST_NOTES_BEGUN, note);
    } else if (note->is_denied) {
        say_limited(notes, REQUEST_NOTES_DENIED, note);
    } else if (is_unknown && note->has_credentials) {
        say_limited(notes, REQUEST_NOTES_UNKNOWN, note);
    } else if (say_is_on(SAY_DEBUG) || !note->is_change || is_unknown) {
        say_call(note->is_change && !is_unknown ? SAY_INFO : SAY_DEBUG,
                 "call.done", note);
    } else {
        say_limited(notes,
                    note->code == RPC_OK ? REQUEST_NOTES_DONE
                                         : REQUEST_NOTES_FAILED,
                    note);
    }
}
