/* Why a job is held, in sentences and as data. */
#include <inttypes.h>

#include "control/explain/explain.h"
#include "control/state/state.h"

static void put_user(struct strbuf *buf, const struct job_held *held)
{
    if (held->user.byte_count) {
        strbuf_addf(buf, "it is held by %.*s", STR_ARG(held->user));
    } else {
        strbuf_add_text(buf, "it has been held since it was submitted");
    }
}

/* The jobs that it waits for, as a part of a sentence. */
static void put_waits(struct strbuf *buf, const struct job_held *held)
{
    static const char *const wants[] = {
        [JOB_WANT_SUCCEEDED] = "succeed",
        [JOB_WANT_ENDED] = "end",
        [JOB_WANT_FAILED] = "fail",
    };
    char id[ID_TEXT_BYTES_MAX];

    if (held->wait_count > 0) {
        strbuf_addf(buf, "it waits for job %s to %s",
                    job_id_format(held->waits[0].on, id),
                    wants[held->waits[0].want]);
    }
    if (held->wait_count > 1) {
        strbuf_addf(buf, ", and for %u more", held->wait_count - 1);
    }
}

void held_put_reason(struct strbuf *buf, const struct job_held *held)
{
    char text[WIRE_RFC3339_TEXT_BYTES_MAX];
    const char *between = "";

    if (held->holds & JOB_HOLD_BY_USER) {
        put_user(buf, held);
        between = "; ";
    }
    if (held->holds & JOB_HOLD_UNTIL) {
        strbuf_addf(buf, "%sit does not start before %s", between,
                    moment_put(held->begin_ms, text));
        between = "; ";
    }
    if (held->holds & JOB_HOLD_FOR_JOBS) {
        strbuf_add_text(buf, between);
        put_waits(buf, held);
        between = "; ";
    }
    if (held->holds & JOB_HOLD_FOR_TURN) {
        strbuf_addf(buf,
                    "%sits group %.*s has as many jobs as may run at once (%u)",
                    between, STR_ARG(held->turn_group), held->turn_limit);
    }
}

void held_put_text(struct strbuf *buf, struct control *c, uint32_t job)
{
    char id[ID_TEXT_BYTES_MAX], text[WIRE_RFC3339_TEXT_BYTES_MAX];
    struct job_view view;
    struct job_held held;

    jobs_get(c->jobs, job, &view);
    jobs_held(c->jobs, job, &held);
    strbuf_addf(buf, "Job %s of queue %.*s is %s and not planned: ",
                job_id_format(view.id, id), STR_ARG(view.queue),
                job_state_name(view.state));
    held_put_reason(buf, &held);
    strbuf_add_text(buf, ".\n");
    if (held.holds & JOB_HOLD_BY_USER) {
        strbuf_addf(buf, "To release it: berthctl release job %s\n", id);
    }
    if (held.wait_until_ms) {
        strbuf_addf(buf, "It fails if it has not started by %s.\n",
                    moment_put(held.wait_until_ms, text));
    }
}

void held_put_json(struct strbuf *buf, struct control *c, uint32_t job)
{
    char id[ID_TEXT_BYTES_MAX];
    struct job_view view;
    struct job_held held;

    jobs_get(c->jobs, job, &view);
    jobs_held(c->jobs, job, &held);
    strbuf_addf(buf, "{\"jobId\":\"%s\",\"state\":\"%s\",\"reason\":\"held\"",
                job_id_format(view.id, id), job_state_name(view.state));
    if (held.holds & JOB_HOLD_BY_USER) {
        explain_put_json_text(buf, "heldBy", held.user);
    }
    if (held.holds & JOB_HOLD_UNTIL) {
        strbuf_addf(buf, ",\"beginMs\":%" PRId64, held.begin_ms);
    }
    for (uint32_t i = 0; i < held.wait_count; i++) {
        strbuf_addf(buf, "%s\"%s\"%s", i ? "," : ",\"waitsFor\":[",
                    job_id_format(held.waits[i].on, id),
                    i + 1 == held.wait_count ? "]" : "");
    }
    if (held.holds & JOB_HOLD_FOR_TURN) {
        explain_put_json_text(buf, "concurrencyGroup", held.turn_group);
        strbuf_addf(buf, ",\"concurrencyLimit\":%u", held.turn_limit);
    }
    if (held.wait_until_ms) {
        strbuf_addf(buf, ",\"waitUntilMs\":%" PRId64, held.wait_until_ms);
    }
    strbuf_add_char(buf, '}');
}
