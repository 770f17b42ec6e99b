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

/* Whether one more refusal may be said in this second; `ret_left_out` is what
 * was left out before, if it is to be said now. */
static bool may_say(struct request_notes *notes, uint32_t *ret_left_out)
{
    int64_t second =
        (int64_t)(notes->clock->mono_ns(notes->clock) / 1000000000);

    pthread_mutex_lock(&notes->lock);
    if (second != notes->second) {
        notes->second = second;
        notes->said_count = 0;
    }
    bool may = notes->said_count < REQUEST_NOTES_REFUSED_MAX;
    notes->said_count += may;
    notes->left_out_count += !may;
    *ret_left_out = may ? notes->left_out_count : 0;
    notes->left_out_count = may ? 0 : notes->left_out_count;
    pthread_mutex_unlock(&notes->lock);
    return may;
}

static void say_call(enum say_level level, const char *event,
                     const struct api_note *note)
{
    say(level, event, say_text("method", note->method),
        say_str("user", note->user), say_str("peer", note->peer),
        say_str("queue", note->queue), say_str("job_set", note->job_set),
        say_text("code", rpc_code_name(note->code)),
        say_text("error", note->text), say_int("took_us", note->took_us),
        say_text("request_id", note->request_id));
}

static void say_refused(struct request_notes *notes, const char *event,
                        const struct api_note *note)
{
    uint32_t left_out;

    if (!may_say(notes, &left_out)) {
        return;
    }
    if (left_out > 0) {
        say(SAY_WARN, "call.left_out", say_int("count", left_out));
    }
    say_call(SAY_WARN, event, note);
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
        say_refused(notes, "call.denied", note);
    } else if (is_unknown && note->has_credentials) {
        say_refused(notes, "auth.refused", note);
    } else if (say_is_on(note->is_change && !is_unknown ? SAY_INFO
                                                        : SAY_DEBUG)) {
        say_call(note->is_change && !is_unknown ? SAY_INFO : SAY_DEBUG,
                 "call.done", note);
    }
}
