/*
 * router - the tables behind pools.h: which shard a job, a gang, a node and a
 * class is in, and by which handle it is known there.  Private to src/pools.
 *
 * What changes a shard is a *delta*: a function with its arguments, in the
 * router's handles for nodes and classes and the shard's own for jobs.  It is
 * applied at once, or kept while the shard is being planned.  The router's
 * own tables are always as of the last delta.
 *
 * Nodes have a header of their own: node_table.h.
 *
 * Nothing is decided by the order of these tables, which depends on history.
 */
#pragma once

#include "base/intern.h"
#include "base/map.h"
#include "base/vec.h"
#include "pools/pools.h"
#include "pools/tables/borrow.h"

enum { NONE = UINT32_MAX, NAMES_SPARE_MAX = 1 << 12, TRIES_MAX = 15 };

struct delta;
struct shard;

/* What a delta does. */
typedef void apply_fn(struct pools *pools, struct shard *shard,
                      const struct delta *delta);

/* Something that a shard is told. */
struct delta {
    apply_fn *apply;
    uint32_t job;         /* the shard's, or NONE */
    uint32_t other;       /* another job of the shard, or a queue */
    uint32_t node;        /* the router's, or NONE */
    uint32_t class_index; /* the router's, or NONE */
    int32_t priority;
    bool flag;
    int64_t at_ms, amount;
    struct str text;
    const void *record; /* copied by `copy` when it is kept */
    const void *(*copy)(const void *record, struct arena *arena);
};

/* A job, by the caller's index. */
struct place {
    uint32_t local; /* in its shard; NONE: no such job */
    uint32_t node;  /* of its lease, or NONE */
    uint32_t name;  /* of the pool that it names, in pools.names */
    uint32_t gang;  /* or NONE */
    uint32_t queue;
    uint32_t class_index;
    uint32_t mate_next, mate_previous; /* of the gang, in no order; or NONE */
    uint32_t shard : 16;
    uint32_t is_borrowed : 1;
    uint32_t is_aged : 1;   /* its age was set at its lease */
    uint32_t is_going : 1;  /* handed out by a plan that may yet be forgotten */
    uint32_t is_chosen : 1; /* a lease of it is told next, if the plan stands */
    uint32_t try_count : 4; /* lenders that had no place for it */
    uint32_t is_out : 1;    /* see struct out */
    uint32_t sub_group : 4; /* of its gang's terms */
    int64_t leased_ms;      /* if it has a lease */
};
_Static_assert(SUB_GROUPS_MAX <= 16, "a sub-group fits a place");

/* A borrower that waits in a lender's shard: its application at home knows of
 * it until it is back, starts or ends. */
struct out {
    uint32_t job;
    char *application; /* owned; "" where its queue goes by none */
};

/* A gang is where its leased members are, else at home. */
struct mates {
    struct key128 key; /* of queue and name */
    uint32_t count, leased_count;
    uint32_t first;  /* of its members */
    uint32_t anchor; /* the shard that the last lease was in */
    /* Over its members, of the numbers of their shards: all are in one if these
     * do not vary. */
    uint64_t shard_sum, shard_square_sum;
    /* The last plan that has found places for some of it: of which shard, and
     * which choice of that. */
    uint32_t chosen_in;
    uint64_t choice;
    uint64_t loss; /* of `loss_count`: the last lease that it lost; 0: none */
    bool has_terms;
};

/* A node, by the router's handle. */
struct post {
    char *name;         /* owned; NULL: free */
    uint32_t executor;  /* interned */
    uint32_t pool;      /* interned in pools.names, or NONE: never set */
    uint32_t next;      /* with the same hash */
    uint32_t use_count; /* leases, and deltas that are kept */
    uint16_t shard;
    bool is_present;
    bool is_touched; /* while its shard is being planned */
    /* It goes to the shard `target` as soon as the present one is back. */
    bool is_moving;
    struct resource_vec total; /* as it was told last */
    bool is_listed;            /* among moving_posts, at most once */
    uint16_t target;
    struct arena *held; /* owned: its record, while it is moving */
    const struct node_record *record;
};

/* A class, by the router's handle. */
struct kind {
    char *packed; /* owned; NULL: free */
    uint32_t packed_bytes;
    uint32_t pin_count;           /* deltas that are kept */
    struct resource_vec *request; /* owned; NULL: not read yet */
};

/* What a queue has, by the router's tables: jobs/quota.c. */
struct quota_book {
    bool is_kept;              /* the queue has a quota */
    bool is_stale;             /* shards are to be told what others have */
    struct resource_vec quota; /* INT64_MAX: any */
    struct resource_vec sum;
    VEC(struct resource_vec) by_shard;
    struct resource_vec planned; /* by plans that nobody was told of yet */
};

/* What an executor says of pods that are not ours: nodes/pending.c. */
struct pending_word {
    char *executor, *pool; /* owned */
    struct resource_vec amounts;
};

/* What becomes of a job when the plan after which that was decided stands. */
struct move {
    struct job_id id; /* the slot may be another's by then */
    uint32_t job;
    uint16_t to; /* a shard; of MOVE_LEND */
    enum move_kind {
        MOVE_HOME,    /* a borrower goes back, and asks another lender next */
        MOVE_LEND,    /* it goes to a lender */
        MOVE_RESTART, /* it asks the first lender again next time */
    } kind;
};

struct shard {
    struct sched *sched; /* owned; NULL: a free slot */
    uint16_t index;
    char *name;            /* owned; of an object; NULL: Default */
    bool is_closed;        /* its object is gone */
    struct policy *policy; /* owned; of an object */
    struct arena arena;    /* of the record */
    struct pool_record record;
    /* Back from the shard's handles. */
    VEC(uint32_t) jobs;
    VEC(uint32_t) spare_jobs;
    VEC(uint32_t) nodes;
    VEC(uint32_t) classes; /* its handle, by the router's; or NONE */
    VEC(uint32_t) class_back;
    /* While it is planned. */
    bool is_busy;
    VEC(struct delta) deltas;
    struct arena delta_arena;
    struct map told_adds;  /* by job: the last delta by which it came, */
    struct map told_names; /* and the last since then with its application */
    VEC(uint8_t) touched;  /* by its jobs */
    VEC(uint32_t) touched_posts;
    VEC(uint32_t) limbo;  /* its jobs that were removed meanwhile */
    VEC(uint32_t) strays; /* jobs that may have to go home then */
    uint32_t health_counts[NODE_TRIAL + 1];
    VEC(struct sched_decision) decisions; /* of its last plan, translated */
    uint64_t choice; /* these, among all; 0: they are told, or forgotten */
    VEC(struct sched_looked) looked;
    VEC(uint32_t) lend_candidates; /* jobs, or one of each gang; see borrow.h */
    uint32_t planned_guest_count;  /* of the guests, that the plan has seen */
    uint64_t planned_loss_count;   /* likewise, of leases that gangs lost */
    VEC(uint32_t) guests;          /* borrowers that wait here for one cycle */
    uint32_t waiting_count;        /* jobs of its own that wait */
    uint32_t guest_count;          /* borrowers that wait */
    /* As it stood when that was known last: figures.c. */
    struct sched_usage known_usage;
    VEC(struct sched_queue_stats) known_queues; /* by queue and pool */
    VEC(struct sched_pool_stats) known_pools;
    bool is_usage_known;
    int64_t known_ms;
    bool must_ask_again;    /* for its own, who would lend; soon */
    uint32_t asked_count;   /* of its own that the present turn of asking
                               lenders has passed; 0: the next is new */
    uint32_t asked_next;    /* it is that when the last plan stands */
    VEC(struct move) moves; /* after its last plan, if that stands */
};

struct pools {
    const struct policy *policy;
    bool is_mapped; /* there was a pool object once */
    int64_t now_ms;
    VEC(struct shard *) shards; /* owned; the first is Default */
    VEC(uint16_t) objects;      /* shards of objects, in order of names */
    VEC(const struct pool_record *) records; /* theirs */
    struct intern *names;                    /* of pools; 0: "" */
    VEC(struct place) places;                /* by job */
    VEC(struct out) outs;                    /* in no order ... */
    struct map out_map;                      /* ... their places, by job */
    VEC(struct mates) gangs;
    VEC(uint32_t) spare_gangs;
    struct map gang_map;
    struct intern *executors;
    VEC(bool) accepts;            /* by executor */
    VEC(bool) by_application;     /* by queue */
    VEC(struct quota_book) books; /* likewise */
    VEC(uint32_t) stale_books;
    uint32_t kept_book_count;  /* queues with a quota */
    bool are_books_counted;    /* all of them */
    uint64_t book_count_count; /* how often all were */
    VEC(struct post) posts;    /* by node */
    VEC(uint32_t) spare_posts;
    VEC(uint32_t) idle_posts;   /* may be given back */
    VEC(uint32_t) moving_posts; /* wait for their shard; < NODES_MAX */
    struct map post_map;
    VEC(struct kind) kinds; /* by class */
    VEC(uint32_t) spare_kinds;
    VEC(uint32_t) dead_kinds;
    VEC(struct pending_word) words; /* by executor; few */
    bool is_pending_stale;          /* shards are to be told their parts */
    uint64_t news_count;            /* from outside, in any shard; cooldown.h */
    bool has_pending;               /* some were told of something */
    uint32_t busy_count;
    uint64_t choice_count; /* plans that were back */
    uint64_t loss_count;   /* leases that gangs have lost */
    bool has_moved;        /* something, when a plan came back */
    bool are_names_stale;  /* the configuration has other pools */
    VEC(struct sched_health_change) changes;
    VEC(struct sched_looked) looked;
};

/* The Default shard's state: all there is while nothing is mapped. */
static inline struct sched *first_of(const struct pools *pools)
{
    return pools->shards.items[POOLS_DEFAULT]->sched;
}

/* What its pool's record says, borrowed; NULL: it is the Default shard. */
static inline const struct pool_record *shard_record(const struct shard *shard)
{
    return shard->name ? &shard->record : NULL;
}

/* The shard of a job that is there. */
static inline struct shard *shard_of(const struct pools *pools, uint32_t job)
{
    return pools->shards.items[pools->places.items[job].shard];
}

/* A delta that speaks of nothing yet. */
static inline struct delta delta_of(apply_fn *apply)
{
    return (struct delta){
        .apply = apply, .job = NONE, .node = NONE, .class_index = NONE};
}

/* pool_names.c */

/* The shard of the object of that name, or Default. */
struct shard *home_of_name(const struct pools *pools, uint32_t name);
/* The name of the pool that a job waits for in a shard. */
struct str pool_in(const struct pools *pools, const struct shard *shard,
                   uint32_t name);
/* The number of the pool of that name, made when new; then the numbers of
 * names that nobody speaks of may be given back, and all others change. */
uint32_t name_of_pool(struct pools *pools, struct str name);
/* The place of the object of that name among all, or where it would be. */
size_t object_place(const struct pools *pools, struct str name,
                    bool *ret_is_there);
/* Whether the policy has a pool of that name. */
bool is_configured(const struct pools *pools, struct str name);

/* jobs/adopt.c */

/* The tables say what the Default shard has, from now on. */
void router_begin(struct pools *pools);

/* deltas.c */

/* Tell a shard, now or when it is back. */
void deliver(struct pools *pools, struct shard *shard,
             const struct delta *delta);
/* Tell all shards. */
void deliver_all(struct pools *pools, const struct delta *delta);
/* What the plan in the making decides of a job, if its shard is being planned,
 * does not stand. */
void job_touch(struct pools *pools, uint32_t job);
/* A shard is back: tell it what was kept. */
void deltas_apply(struct pools *pools, struct shard *shard);
/* Free what a shard keeps. */
void deltas_fini(struct shard *shard);

/* jobs/jobs.c */

/* Where a job is that is there. */
struct place *job_place(const struct pools *pools, uint32_t job);
/* A job that has a place, and no number in a shard, goes to one. */
void job_enter(struct pools *pools, uint32_t job, struct shard *shard,
               const struct sched_job *record);
/* Its number in its shard may be another's as soon as the shard knows. */
void job_give(struct pools *pools, uint32_t job);
/* The shard of a job, and its number there; NULL: it is being planned. */
struct shard *shard_to_ask(const struct pools *pools, uint32_t *job);
/* The router's handle of a shard's job. */
uint32_t job_back(const struct shard *shard, uint32_t local);
/* Tell the shard of a job; `delta->job` is filled in. */
void job_tell(struct pools *pools, uint32_t job, struct delta *delta);
/* A copy of amounts that lives in an arena. */
const void *amounts_copy(const void *from, struct arena *arena);
/* A copy of a struct sched_job that lives in an arena. */
const void *job_copy(const void *from, struct arena *arena);
/* One job more (1) or less (-1) waits where this one is. */
void job_count_waiting(struct pools *pools, const struct place *place,
                       int sign);
/* A new job, whose place is known, becomes one more of its gang, if it has
 * one. */
void gang_join(struct pools *pools, uint32_t job,
               const struct sched_job *record);
/* A lease: the node, the priority, since when, and whether it is a start. */
apply_fn apply_lease;
/* Free the tables of jobs and gangs. */
void places_fini(struct pools *pools);

/* state_updates.c */

/* The age of a job's run counts from `at_ms`. */
apply_fn apply_age;
/* By `flag`, a disruption budget protects a job's run. */
apply_fn apply_protect;

/* homes.c */

/* The shard where a job is to wait. */
struct shard *job_home(const struct pools *pools, uint32_t job);
/* Whether a job of a shard is a borrower there: its home is another, or its
 * gang runs elsewhere, and it waits only because it cannot follow yet. */
bool job_is_borrowed(const struct pools *pools, uint32_t job,
                     const struct shard *in);
/* A job waits, or is leased, in another shard from now on, or in the same if
 * that is to be told of it anew; the one that it is in is not being planned. */
void job_move(struct pools *pools, uint32_t job, struct shard *to);
/* A job goes to wait in a lender's shard, and asks its application at home as
 * before. */
void job_lend(struct pools *pools, uint32_t job, struct shard *to);
/* A job stays where it is, and is a borrower there now, or is none any more. */
void job_borrowed_set(struct pools *pools, uint32_t job, bool is_borrowed);
/* A job that waits goes where it belongs, with what waits of its gang. */
void job_send_home(struct pools *pools, uint32_t job);
/* What waits of a job's gang where it does, and the job, go to the shard where
 * it is about to run as the first. */
void gang_follow(struct pools *pools, uint32_t job, struct shard *to);
/* The like, now or when its shard is back; one that has a place there in a plan
 * that is told next is a guest until that is over. */
void job_recall_home(struct pools *pools, uint32_t job);
/* A gang belongs where one of it that runs came to, and so does what waits. */
void gang_anchor(struct pools *pools, uint32_t gang, const struct shard *in);
/* A shard ends: its gangs that run elsewhere belong there from now on. */
void gangs_leave(struct pools *pools, const struct shard *shard);
/* Whether members of a gang are in several shards, said without looking at
 * each. */
bool mates_are_split(const struct mates *mates);
/* Tell other shards that some of a job's gang are in, each of one of them: what
 * the gang remembers is known wherever something of it is, so that it does not
 * matter who leaves last.  `delta->job` is filled in. */
void mates_tell(struct pools *pools, uint32_t job, struct delta *delta);
/* What waits of a gang goes where it belongs by now, like that. */
void gang_recall(struct pools *pools, uint32_t gang);
/* Who waits where it should not goes home; the shard is not busy. */
void strays_settle(struct pools *pools, struct shard *shard);
/* Pools are others now: all jobs go where they belong. */
void jobs_rehome(struct pools *pools);

/* plan/lend.c */

/* Jobs of a loan that are alike. */
struct loan_part {
    uint32_t class_index; /* the router's */
    uint32_t count;
};

/* What is lent of a job: it, or what waits of its gang. */
struct loan {
    uint32_t first;          /* the home's handle */
    const uint32_t *members; /* likewise; NULL: it is alone */
    uint32_t count;
    uint32_t starting;             /* the first of them may start there */
    const struct loan_part *parts; /* that must have places at once */
    uint32_t part_count;
    struct resource_vec needed; /* by all parts */
};

/* A member of a loan, by the home's handle. */
static inline uint32_t loan_member(const struct loan *loan, uint32_t at)
{
    return loan->members ? loan->members[at] : loan->first;
}

/* What would be lent of a job that waits; members live in the arena. */
void loan_of(const struct pools *pools, uint32_t job, struct arena *arena,
             struct loan *ret_loan);
/* How a shard stands as a lender; not whether its own work waits. */
void lender_of(const struct pools *pools, const struct shard *shard,
               struct lender *ret_lender);

/* plan/plan.c */

/* What the last plan of a shard decided is over. */
void decisions_clear(struct pools *pools, struct shard *shard);

/* moves.c */

/* A job of a shard, by its handle there too, is to come or go if the last plan
 * of the shard stands; `to` is that of MOVE_LEND. */
void move_later(struct shard *shard, uint32_t job, uint32_t local,
                enum move_kind kind, uint16_t to);
/* Whether a job is a borrower that waits in a shard. */
bool job_is_guest(const struct pools *pools, const struct shard *shard,
                  uint32_t job);
/* Who waits in a shard as a borrower no more is none of its guests. */
void guests_settle(struct pools *pools, struct shard *shard);
/* What was to become of jobs after the last plan of a shard is forgotten. */
void moves_clear(struct pools *pools, struct shard *shard);
/* All borrowers that wait go home, and nobody remembers where they were. */
void pools_guests_reset(struct pools *pools);
/* Those that wait with lenders are at home again; what is being planned keeps
 * its own. */
void guests_send_home(struct pools *pools);

/* A job comes to a shard, with its application. */
apply_fn apply_add;
/* What a job's application is. */
apply_fn apply_application;

/* borrowers.c */

/* A job that waits at home is about to be lent. */
void out_begin(struct pools *pools, uint32_t job);
/* It would be home again, but that its shard cannot let it go yet. */
void out_recall(struct pools *pools, uint32_t job);
/* It is home again. */
void out_end(struct pools *pools, uint32_t job);
/* If it is out, it will not be back as it was: it starts or ends, or is
 * elsewhere at home. */
void out_over(struct pools *pools, uint32_t job);
/* Its queue goes by applications by now, and this is its own. */
void out_ask(struct pools *pools, uint32_t job, struct str application,
             bool has_stateaware_off);
/* Free what is kept of them. */
void outs_fini(struct pools *pools);

/* ask.c */

/* What a shard answered, in the router's handles. */
void explanation_back(const struct shard *shard,
                      struct sched_explanation *explanation);

/* places.c */

/* Two shards, for the `class_of` of a struct sched_elsewhere. */
struct translation {
    struct pools *pools;
    const struct shard *from;
    struct shard *to;
};

/* The handle in `to` of a class of `from`; `context` is a translation. */
uint32_t class_there(void *context, uint32_t class_index);

/* figures.c */

/* Forget what was known: pools or resources are others. */
void pools_figures_forget(struct shard *shard);

/* nodes/pending.c */

/* Tell all shards their part of what others ask for in vain, if it may be
 * another. */
void pools_pending_settle(struct pools *pools);
/* Free what executors said. */
void pools_pending_fini(struct pools *pools);

/* jobs/quota.c */

/* A lease of a job is there (1), or is going to be no more (-1). */
void quotas_count(struct pools *pools, const struct place *place, int sign);
/* A queue is as its record says. */
void quotas_set(struct pools *pools, uint32_t queue,
                const struct queue_record *record);
/* A queue is gone. */
void quotas_forget(struct pools *pools, uint32_t queue);
/* Tell shards what queues with a quota have in the others, if that is not as
 * they know it. */
void quotas_settle(struct pools *pools);
/* Shards or resources are others: count all anew. */
void quotas_renew(struct pools *pools);
/* Free what is kept. */
void quotas_fini(struct pools *pools);
/* Whether the sums are those of the leases. */
bool quotas_are_right(const struct pools *pools);
/* A plan of a shard is back: what the others decided and nobody was told of
 * counts.  False: no queue has a quota, and nothing is to be asked. */
bool quotas_begin(struct pools *pools, const struct shard *shard);
/* Whether a group of its decisions leaves all quotas as they must be; then it
 * counts.  Decisions are in the shard's handles. */
bool quotas_allow(struct pools *pools, const struct shard *shard,
                  const struct sched_decision *decisions, uint32_t count);

/* classes.c */

/* A shard's handle of a class, made when it is the first of it there. */
uint32_t shard_class(struct pools *pools, struct shard *shard,
                     uint32_t class_index);
/* The router's handle of a shard's class. */
uint32_t class_back(const struct shard *shard, uint32_t local);
/* All classes of the Default shard are the router's. */
void classes_adopt(struct pools *pools);
/* One delta less speaks of a class. */
void class_unpin(struct pools *pools, uint32_t class_index);
/* A shard is back: classes that went meanwhile are forgotten. */
void classes_settle(struct pools *pools);
/* Free the table of classes. */
void router_kinds_fini(struct pools *pools);

/* objects.c */

/* A fresh shard in a free slot. */
struct shard *shard_create(struct pools *pools, const struct policy *policy);
/* Free it and all that it has. */
void shard_destroy(struct shard *shard);
