/*
 * explain - why a job waits or can never run: as sentences and as
 * data.
 *
 *     waiting.c       what it needs, and what is free; waiting_json.c as data
 *     texts.c         the sentence for each reason
 *     details.c       the numbers and names that belong to a reason
 *     explain.c       why it waits, as sentences
 *     promises.c      who has a place for how long, and for whom it is
 *                     kept
 *     explain_json.c  why it waits, as data
 *     held.c          what keeps a job from being planned
 *     windows.c       which maintenance windows keep it waiting
 *     lending.c       why no other pool has taken it
 *     rejection.c     why it can never run
 *
 * For src/control only; the leader's thread.
 */
#pragma once

#include "base/arena.h"
#include "base/strbuf.h"
#include "job/table/gang_roll.h"
#include "pools/ask/lenders.h"
#include "sched/sched.h"
#include "wire/text/rfc3339.h"

struct control;

/* waiting.c */

/* Why a job waits, what it needs, and what is free where it could be. */
struct waiting {
    struct sched_explanation why;
    struct sched_need need;
    struct sched_node_kind kinds[SCHED_NODE_KINDS_MAX];
    uint32_t kind_count, left_out_count;
    enum pools_borrowing borrowing;
    struct pools_lender *lenders; /* in the arena of the answer */
    uint32_t lender_count;
    bool is_of_gang;
    bool is_gang_over_share; /* its gang is, see sched_gang_is_over_share() */
    struct sched_gang_over_share gang_over_share;
    bool is_yielding; /* it runs, and gives way: see sched_job_yielding() */
    struct sched_yielding yielding;
};

/* Ask the planner about a job of the table. */
void waiting_ask(struct control *c, uint32_t job, struct arena *arena,
                 struct waiting *ret_waiting);
/* Append amounts as a JSON object, by the names of resources. */
void waiting_put_json_vec(struct strbuf *buf, const struct control *c,
                          const struct resource_vec *vec);
/* Append the resource that is short, what the limit on it is and what is used
 * of it, as JSON members after others; nothing where no resource is. */
void waiting_put_json_limit(struct strbuf *buf, const struct control *c,
                            const struct sched_explanation *why);
/* Append a node's name as a JSON member, without a comma. */
void waiting_put_json_node(struct strbuf *buf, const struct control *c,
                           const char *name, uint32_t node);
/* Append need and kinds of nodes as sentences. */
void waiting_put_text(struct strbuf *buf, struct control *c,
                      const struct waiting *waiting);
/* Append them as members of a JSON object that has some. */
void waiting_put_json(struct strbuf *buf, struct control *c,
                      const struct waiting *waiting);

/* explain.c */

/* Write a moment as people read it; returns `text`. */
const char *moment_put(int64_t ms, char text[WIRE_RFC3339_TEXT_BYTES_MAX]);
/* Append a line for each reason why nodes cannot take a job, with their
 * number. */
void explain_put_exclusions(struct strbuf *buf,
                            const struct sched_explanation *e);
/* Append one of them (enum sched_exclusion): "3 of 5 nodes are cordoned". */
void explain_put_exclusion(struct strbuf *buf,
                           const struct sched_explanation *e, int exclusion);
/* Append that a job asks for a resource that the policy has not, and which it
 * has. */
void explain_put_unknown(struct strbuf *buf, const struct control *c,
                         struct str resource);
/* Append how a live job stands: where it runs, or why it waits. */
void explain_put_job(struct strbuf *buf, struct control *c, uint32_t job,
                     const struct waiting *waiting);
/* A reason to wait, as a sentence. */
const char *explain_wait_text(enum sched_wait wait);

/* promises.c */

/* Append when a job is to start, for whom nodes are kept from it, and which
 * gangs stay where it is due places. */
void promise_put_reservation(struct strbuf *buf, struct control *c,
                             const struct sched_explanation *e);
/* Append that a job that runs was let past somebody, and until when it has its
 * place; nothing where it was not. */
void promise_put_yielding(struct strbuf *buf, struct control *c,
                          const struct waiting *waiting);

/* Append where a job is at home, for people, and whether it borrows; nothing
 * where there are no pool objects. */
void pool_put_home(struct strbuf *buf, const struct control *c, uint32_t job,
                   bool has_run);

/* silent.c */

/* Append that a job's executor has missed its beats, and what happens if it
 * stays silent; nothing where it has not, or the job has no run. */
void silent_put(struct strbuf *buf, const struct control *c,
                const struct job_view *view);
/* The same as a JSON member behind a comma. */
void silent_put_json(struct strbuf *buf, const struct control *c,
                     const struct job_view *view);

/* explain_json.c */

/* The same as explain_put_job(), as a JSON object. */
void explain_put_json(struct strbuf *buf, struct control *c, uint32_t job,
                      const struct waiting *waiting);
/* Append a member of a JSON object, with a text of a user's, no comma. */
void explain_put_json_member(struct strbuf *buf, const char *name,
                             struct str text);
/* The same behind a comma. */
void explain_put_json_text(struct strbuf *buf, const char *name,
                           struct str text);
/* A reason to wait, as programs know it. */
const char *explain_wait_name(enum sched_wait wait);
/* Why a node is none, likewise. */
const char *explain_exclusion_name(int exclusion);

/* held.c */

/* Append what keeps a job from being planned, for people; a part of a
 * sentence. */
void held_put_reason(struct strbuf *buf, const struct job_held *held);
/* Append how a job stands that is held, as sentences. */
void held_put_text(struct strbuf *buf, struct control *c, uint32_t job);
/* The same as a JSON object. */
void held_put_json(struct strbuf *buf, struct control *c, uint32_t job);

/* windows.c */

/* Append which maintenance windows keep a job waiting; nothing where none
 * does. */
void windows_put_text(struct strbuf *buf, struct control *c,
                      const struct sched_explanation *e);
/* Append them as a member of a JSON object that has some. */
void windows_put_json(struct strbuf *buf, struct control *c,
                      const struct sched_explanation *e);

/* lending.c */

/* Append why no other pool has taken a job, as sentences. */
void lending_put_text(struct strbuf *buf, struct control *c,
                      const struct waiting *waiting);
/* Append it as a member of a JSON object that has some. */
void lending_put_json(struct strbuf *buf, struct control *c,
                      const struct waiting *waiting);

/* rejection.c */

/* Why a gang can never start, in the arena; `unschedulable` is of a member that
 * fits on no node by itself, or NULL. */
struct str report_gang_rejection(struct control *c, uint32_t job,
                                 const struct sched_gang_miss *miss,
                                 const struct sched_explanation *unschedulable,
                                 struct arena *arena);
/* Why a job may not be of the gang that it names, in the arena. */
struct str report_member_rejection(enum gang_fault fault,
                                   const struct gang_fault_view *view,
                                   struct arena *arena);
/* Why a job can never run, in the arena. */
struct str report_rejection(struct control *c, uint32_t job,
                            const struct sched_explanation *explanation,
                            struct arena *arena);

/* Append the numbers and names that belong to the reason why a job waits. */
void explain_put_details(struct strbuf *buf, struct control *c,
                         const struct sched_explanation *e);
