/* Sentences on how long a job keeps its place, and on reservations. */
#include <inttypes.h>

#include "control/explain/explain.h"
#include "control/state/state.h"

enum { MILLI = 1000 };

/* Who a job is: its id, its gang if it has one, its queue. */
static void put_who(struct strbuf *buf, struct control *c, uint32_t job)
{
    char id[ID_TEXT_BYTES_MAX];
    struct job_view view;
    struct job_digest digest;

    jobs_get(c->jobs, job, &view);
    jobs_digest(c->jobs, job, &digest);
    strbuf_addf(buf, "job %s", job_id_format(view.id, id));
    if (digest.gang_id.byte_count) {
        strbuf_addf(buf, " of gang %.*s", STR_ARG(digest.gang_id));
    }
    strbuf_addf(buf, " of queue %.*s", STR_ARG(view.queue));
}

/* A gang that stays, and for how long. */
static void put_kept(struct strbuf *buf, struct control *c,
                     const struct sched_explanation *e)
{
    char until[WIRE_RFC3339_TEXT_BYTES_MAX];

    strbuf_add_text(buf, e->protected_count > 1 ? "The first of " : "It is ");
    if (e->protected_count > 1) {
        strbuf_addf(buf, "%u protected gangs is ", e->protected_count);
    }
    strbuf_add_text(buf, "that of ");
    put_who(buf, c, e->for_job);
    strbuf_add_text(buf, ".\n");
    if (e->until_ms > 0) {
        strbuf_addf(buf,
                    "%s at %s (starvedAfter), unless every queue has half of "
                    "what it is due by then.\n",
                    e->protected_count > 1 ? "The last of them may be preempted"
                                           : "It may be preempted",
                    moment_put(e->until_ms, until));
    } else if (e->is_protected_young) {
        strbuf_add_text(buf, "It may be preempted once all its members have "
                             "run for the pool's starvedAfter.\n");
    } else {
        strbuf_add_text(buf, "It is protected while every queue has at least "
                             "half of what it is due and wants.\n");
    }
    strbuf_add_text(
        buf, "The job starts sooner if other work ends. Smaller gangs, or a "
             "shorter starvedAfter (0: no gang is protected), would help.\n");
}

void promise_put_reservation(struct strbuf *buf, struct control *c,
                             const struct sched_explanation *e)
{
    char until[WIRE_RFC3339_TEXT_BYTES_MAX];
    bool is_for = e->wait != SCHED_WAIT_RESERVED && e->for_job != SCHED_NONE &&
                  jobs_is_live(c->jobs, e->for_job);

    if (e->promised_ms > 0) {
        strbuf_addf(buf,
                    "It starts by %s, unless nodes are lost or more urgent "
                    "work arrives.\n",
                    moment_put(e->promised_ms, until));
    }
    if (e->reserved_from_ms > 0) {
        strbuf_addf(buf,
                    "Nodes are reserved for it from %s on, or as soon as "
                    "deadlines tell when it will start (reservationDelay).\n",
                    moment_put(e->reserved_from_ms, until));
    }
    if (e->broken_ms > 0) {
        strbuf_addf(buf,
                    "It was to start by %s, which was not kept: nodes were "
                    "lost, more urgent work arrived, its queue's limits or "
                    "share fell, or work that was to leave by then runs on. It "
                    "starts as soon as there is room.\n",
                    moment_put(e->broken_ms, until));
    }
    if (is_for && e->wait == SCHED_WAIT_GANG_PROTECTION) {
        put_kept(buf, c, e);
    } else if (is_for && e->wait == SCHED_WAIT_ADMITTED_FIRST) {
        strbuf_add_text(buf, "Admitted is ");
        put_who(buf, c, e->for_job);
        strbuf_add_text(buf, ".\n");
    } else if (is_for) {
        strbuf_add_text(buf, "Nodes are reserved for ");
        put_who(buf, c, e->for_job);
        if (e->wait == SCHED_WAIT_RESERVED_SOON) {
            strbuf_addf(buf, ", from %s on", moment_put(e->until_ms, until));
        }
        strbuf_add_text(buf, ".\n");
    }
    if (is_for && e->wait == SCHED_WAIT_RESERVED_SOON) {
        strbuf_add_text(
            buf,
            "Once that job has started, queues that are due more may preempt "
            "again. This job starts sooner if room becomes free.\n");
    }
}

void promise_put_yielding(struct strbuf *buf, struct control *c,
                          const struct waiting *waiting)
{
    char from[WIRE_RFC3339_TEXT_BYTES_MAX];
    int64_t from_ms = waiting->yielding.from_ms;

    if (!waiting->is_yielding) {
        return;
    }
    strbuf_add_text(buf, "It was placed ahead of ");
    put_who(buf, c, waiting->yielding.for_job);
    if (from_ms == INT64_MAX) {
        strbuf_add_text(
            buf,
            " and may be preempted for it once it has run for its lifetime.\n");
    } else if (from_ms > control_now_ms(c)) {
        strbuf_addf(buf, " and may be preempted for it from %s on.\n",
                    moment_put(from_ms, from));
    } else {
        strbuf_add_text(buf, " and may be preempted for it at any time.\n");
    }
}

void pool_put_home(struct strbuf *buf, const struct control *c, uint32_t job,
                   bool has_run)
{
    const struct pool_record *at =
        pools_shard_record(c->pools, pools_job_shard(c->pools, job));
    struct job_digest digest;

    if (c->pool_table.entries.count == 0) {
        return;
    }
    jobs_digest(c->jobs, job, &digest);
    const struct pool_entry *home =
        pool_table_find(&c->pool_table, digest.pool);
    struct str home_name = home ? home->record.name : POOL_DEFAULT_NAME;
    struct str at_name = at ? at->name : POOL_DEFAULT_NAME;
    strbuf_addf(buf, "Its home pool is %.*s.\n", STR_ARG(home_name));
    if (has_run && !str_equal(home_name, at_name)) {
        strbuf_addf(buf,
                    "It borrows its place from pool %.*s, whose own jobs may "
                    "take it back.\n",
                    STR_ARG(at_name));
    }
}
