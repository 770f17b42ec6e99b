/*
 * apps - the applications of a queue and their states (model.md 3.3).
 *
 * Private to src/sched.  Only queues that go by applications have any: those
 * with an ordering other than `priority`, or with a limit on applications
 * that run.  Elsewhere the jobs' lists have no application and nothing is
 * kept, so that such queues cost nothing.
 *
 * An application is (queue, id).  A waiting job is an ask of it, a lease an
 * allocation.  Its state moves by what happens to its jobs, at the time that
 * apps_advance() was last told, and by timers; timers that are due by then
 * have fired before anything else happens.
 *
 * A borrower that waits asks its application at home, which counts it while it
 * is lent.  In the lender's pool it moves no state, and leaves no trace when it
 * goes home: loans that come to nothing are in no log.  While it waits there,
 * its application is *shown* as if it asked: that is what plans go by.  When it
 * is leased it asks, and has its allocation.
 */
#pragma once

#include "sched/state/history.h"

enum {
    APP_STARTING_MS = 5 * 60 * 1000, /* fixed, as in YuniKorn */
    APP_COMPLETING_MS = 30 * 1000,
    APP_KEPT_MS = 72 * 3600 * 1000, /* after it completed */
    APPS_COMPLETED_MAX = 100000,    /* in all; the oldest are forgotten */
};

/* What happens to an application. */
enum app_event {
    APP_ASKED,     /* a job waits */
    APP_ALLOCATED, /* one of them was leased */
    APP_RELEASED,  /* a lease ended, or a waiting job was withdrawn */
    APP_TIMED_OUT, /* its state lasted as long as it may */
};

/* The state after an event, where the counts are those after it, too. */
enum sched_app_state app_state_after(enum sched_app_state state,
                                     enum app_event event, uint32_t ask_count,
                                     uint32_t allocation_count);
/* How long a state may last; INT64_MAX: for ever. */
int64_t app_state_lasts_ms(enum sched_app_state state);

/* No applications yet. */
void apps_init(struct sched *sched);
/* The queue goes by applications from now on, or no longer. */
void apps_switch(struct sched *sched, uint32_t queue, bool is_on);
/* Forget the applications of a queue, which has no jobs. */
void apps_forget(struct sched *sched, uint32_t queue);
/* Let timers fire that are due. */
void apps_advance(struct sched *sched, int64_t now_ms);
/* The application of that id, made if it is new. */
uint32_t app_get(struct sched *sched, uint32_t queue, struct str id);
/* A job came to an application: what it says of it. */
void app_describe(struct sched *sched, uint32_t app, const struct job *job,
                  bool is_opted_out);
/* What happened to jobs: asks and allocations more (or less), then the
 * event. */
void app_count(struct sched *sched, uint32_t app, int asks, int allocations,
               enum app_event event);
/* A job, leased or waiting, is of another application now; one without jobs
 * is forgotten as if it had never been. */
void app_leave(struct sched *sched, uint32_t app, bool was_leased);
/* A borrower, which is a job of the state, comes to wait (1), or goes or is no
 * borrower any more (-1); when it comes, what it says of its application. */
void app_count_borrower(struct sched *sched, uint32_t app, int sign,
                        const struct job *job, bool is_opted_out);
/* Forget it if it only had borrowers, and they are gone. */
void app_drop_new(struct sched *sched, uint32_t app);
/* An ask of it goes to wait in another state (1), or is back (-1). */
void app_lend(struct sched *sched, uint32_t app, int sign);
/* The state that plans go by: as if its borrowers asked it here. */
enum sched_app_state app_state_shown(const struct app *app,
                                     enum sched_app_state state);
/* When the first was submitted of those that it is ordered by. */
int64_t app_submitted_ms(const struct app *app);
/* It is as a checkpoint says: state, times and what it was first. */
void app_restore(struct sched *sched, uint32_t app, const struct app *as);
/* A list of the application came to hold something, or ceased to. */
void app_list(struct sched *sched, uint32_t app, uint32_t list, bool is_in);
/* It got something in a pool (sign 1), or gave it back (-1). */
void app_use(struct sched *sched, uint32_t app, uint32_t pool,
             const struct resource_vec *amounts, int sign);
/* What it has of a pool; NULL: nothing. */
const struct resource_vec *app_used(const struct sched *sched, uint32_t app,
                                    uint32_t pool);
/* Its state at a time, with timers that are due by then. */
enum sched_app_state app_state_at(const struct app *app, int64_t now_ms,
                                  int64_t *ret_since_ms);
/* Order of applications for seqs: submission, first job; `context` is the
 * sched. */
bool app_less(const void *context, uint32_t a, uint32_t b);
/* Forget all that have nothing and that no checkpoint has restored. */
void apps_restored(struct sched *sched);
/* The applications' states; see history.h. */
void apps_pack(const struct sched *sched, struct strbuf *buf);
/* Take them back. */
void apps_unpack(struct sched *sched, struct history_reader *reader);
/* Whether all counts and chains are right. */
bool apps_are_right(const struct sched *sched, struct arena *arena);
/* Free everything. */
void apps_fini(struct sched *sched);
