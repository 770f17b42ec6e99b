#include "main/berthd/request_notes.h"

#include "main/common/say.h"

void request_notes_init(struct request_notes *notes, const struct clock *clock)
{
    *notes = (struct request_notes){.clock = clock};
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
};

/* Whether one more of a kind may be said in this second; `ret_left_out` is what
 * was left out before, if it is to be said now. */
static bool may_say(struct request_notes *notes, enum request_notes_kind kind,
                    uint32_t *ret_left_out)
{
    int64_t second =
        (int64_t)(notes->clock->mono_ns(notes->clock) / 1000000000);

    pthread_mutex_lock(&notes->lock);
    if (second != notes->kinds[kind].second) {
        notes->kinds[kind].second = second;
        notes->kinds[kind].said_count = 0;
    }
    bool may = notes->kinds[kind].said_count < REQUEST_NOTES_REFUSED_MAX;
    notes->kinds[kind].said_count += may;
    notes->kinds[kind].left_out_count += !may;
    *ret_left_out = may ? notes->kinds[kind].left_out_count : 0;
    if (may) {
        notes->kinds[kind].left_out_count = 0;
    }
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
        say_str("request_id", id));
}

static void say_limited(struct request_notes *notes,
                        enum request_notes_kind kind,
                        const struct api_note *note)
{
    uint32_t left_out;

    if (!say_is_on(kinds[kind].level) || !may_say(notes, kind, &left_out)) {
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
    if (note->is_denied) {
        say_limited(notes, REQUEST_NOTES_DENIED, note);
    } else if (is_unknown && note->has_credentials) {
        say_limited(notes, REQUEST_NOTES_UNKNOWN, note);
    } else if (say_is_on(SAY_DEBUG) || !note->is_change || is_unknown) {
        say_call(note->is_change && !is_unknown ? SAY_INFO : SAY_DEBUG,
                 "call.done", note);
    } else if (note->code == RPC_OK) {
        say_call(SAY_INFO, "call.done", note);
    } else {
        say_limited(notes, REQUEST_NOTES_FAILED, note);
    }
}
