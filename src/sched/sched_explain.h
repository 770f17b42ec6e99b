/*
 * sched_explain - why a job waits, and what it needs to start.
 *
 * Questions do not affect decisions.  Part of sched.h, whose rules apply.
 */
#pragma once

#include "sched/sched_handles.h"

/* Why a job waits, as of now. */
enum sched_wait {
    SCHED_WAIT_NOT,            /* it has a node */
    SCHED_WAIT_TURN,           /* it fits; the next round looks at it */
    SCHED_WAIT_GANG,           /* `present` of `wanted` members are there */
    SCHED_WAIT_QUEUE_CORDONED, /* nothing of the queue starts */
    SCHED_WAIT_NO_NODES,       /* no node at all in its pools */
    SCHED_WAIT_NEVER_FITS,     /* not even on empty nodes: see excluded */
    SCHED_WAIT_CAPACITY,       /* would fit if others ended */
    SCHED_WAIT_GANG_CAPACITY,  /* `present` members fit, `wanted` must */
    SCHED_WAIT_QUEUE_LIMIT,    /* per class and queue: `resource`, amounts */
    SCHED_WAIT_RATE,           /* all queues' starts; ends at `until_ms` */
    SCHED_WAIT_QUEUE_RATE,     /* this queue's starts */
    SCHED_WAIT_RESOURCE_RATE,  /* a pool's starts of `resource` */
    SCHED_WAIT_LOOKBACK,       /* too far behind others of its queue: the last
                                  round ended its turn before */
    SCHED_WAIT_APP_STARTING,   /* `application` starts since `since_ms`, until
                                  `until_ms` at the latest */
    SCHED_WAIT_APP_TURN,       /* `application` is the next to start */
    SCHED_WAIT_APP_LIMIT,      /* `used` of `limit` applications run */
    SCHED_WAIT_APP_NEED,       /* `application`, the older one, waits for room
                                  that it would take */
    SCHED_WAIT_ADMITTED,       /* admitted; nobody can tell when it starts */
    SCHED_WAIT_RESERVED,   /* admitted; starts by `until_ms` at the latest */
    SCHED_WAIT_PASSED,     /* what it would fit in is kept for `for_job`, which
                              it would delay */
    SCHED_WAIT_OVER_SHARE, /* infinite work of its queue in `pool` would be
                              `asked` of `allowed`, fractions of the pool; it
                              may go at `until_ms` */
    SCHED_WAIT_BUDGET,     /* it would be charged `asked` of the `allowed` that
                              is left in `pool`, in minutes x its units */
    SCHED_WAIT_FLOATING,   /* of `resource`, which is of no node, all pools have
                              too little left: `used` of `limit` */
    SCHED_WAIT_TOPOLOGY,   /* of a sub-group of its gang `present` fit within
                              `hops` of each other, in `domain` (of which
                              `empty` would if it or the like were empty),
                              `wanted` must; the cap ends at `until_ms` */
    SCHED_WAIT_QUOTA,      /* with it (or what its gang asks for at once) its
                              queue would have more than its quota of
                              `resource`: `used` of `limit` */
    SCHED_WAIT_GROWTH,     /* its gang runs with its minimum and grows when
                              there is room: `present` of `wanted` run */
    SCHED_WAIT_ROUND,      /* rounds end before they come to it; the next goes
                             on there */
    SCHED_WAIT_COOLDOWN, /* it may take no place for fairness until `until_ms`,
                         and would; 0: nor after it while nothing is new.  Said
                         with what it needs */
    /* Places that it is due are reserved for `for_job` from `until_ms` on, less
     * than a cooldown away; said with what it needs. */
    SCHED_WAIT_RESERVED_SOON,
    /* It is due places of `protected_count` gangs that stay, since evicting
     * them would do more harm than good; `for_job` is of the first.  At
     * `until_ms`, if known, they may go; said with what it needs. */
    SCHED_WAIT_GANG_PROTECTION,
    /* It is due places of others, and has not waited long enough for what has
     * run and waited there: `asked` hours times its size at the least, of which
     * its budget covers `allowed`; at `until_ms` at the earliest, if known.
     * Said with what it needs. */
    SCHED_WAIT_PRICE,
    SCHED_WAIT_CLOSED, /* `closed_count` nodes could hold it, and all are
                          cordoned, in quarantine, or of an executor that
                          gets no work */
    /* Only of growth, see `growth` of the explanation. */
    SCHED_WAIT_LOAD,   /* with it pods would ask for `used` of `resource` in
                          the pool, and may for `limit` */
    SCHED_WAIT_FROZEN, /* its gang was scaled, and is not again before
                          `until_ms` */
    SCHED_WAIT_AWAY,   /* its gang runs where it is not at home */
    SCHED_WAIT_ADMITTED_FIRST, /* `for_job` is admitted, and the pool lets
                                  nobody past it */
    /* The last round ended before it came to it: as many as may be tried would
     * have delayed `for_job`, which is admitted. */
    SCHED_WAIT_CANDIDATES,
    SCHED_WAIT_GPUS_KEPT, /* what it would fit in is kept for jobs that ask for
                             GPUs */
    SCHED_WAIT_WINDOW, /* where it would fit it might not end by a maintenance
                          window */
    /* Only of sched_wait_of(). */
    SCHED_WAIT_PRIORITY, /* others of its queue go before it */
};

/* Why nodes were passed over; each node counts once, under the first. */
enum sched_exclusion {
    SCHED_EXCLUDED_POOL,          /* of another pool */
    SCHED_EXCLUDED_EXECUTOR,      /* it gets no new leases */
    SCHED_EXCLUDED_UNSCHEDULABLE, /* cordoned in its cluster, or gone */
    SCHED_EXCLUDED_QUARANTINED,   /* it fails too much; or on trial and busy */
    SCHED_EXCLUDED_TAINT,
    SCHED_EXCLUDED_SELECTOR,
    SCHED_EXCLUDED_AFFINITY,
    SCHED_EXCLUDED_AVOIDED,    /* the job failed to start there before */
    SCHED_EXCLUDED_UNIFORMITY, /* lacks the gang's label */
    SCHED_EXCLUDED_FAR,        /* its gang runs, and cannot grow to there */
    SCHED_EXCLUDED_TOO_SMALL,  /* even when empty */
    SCHED_EXCLUDED_FULL,       /* big enough, not free enough */
    SCHED_EXCLUDED_RESERVED,   /* free enough, kept for an admitted job */
    SCHED_EXCLUDED_HELD, /* free enough, but a gang has it whole; or its own
                            would have to, and others are there */
    SCHED_EXCLUDED_GPUS, /* free enough, but kept for jobs that ask for GPUs */
    SCHED_EXCLUDED_WINDOW, /* it might not end by the maintenance window */
    SCHED_EXCLUDED_EXTRA,  /* free enough, but its port or a resource beside the
                              columns is in use */
    SCHED_EXCLUSIONS,
};

/* Why a job waits, as data; fields that do not apply are 0, nodes
 * SCHED_NONE. */
struct sched_explanation {
    enum sched_wait wait;
    uint32_t nodes_total;
    uint32_t nodes_excluded[SCHED_EXCLUSIONS];
    uint32_t nodes_fit;
    struct resource_vec needed;    /* of the job */
    struct str unknown;            /* a resource that it asks for and that the
                                      policy has not, so that it fits nowhere;
                                      "": none; borrowed until the job goes */
    struct str extra;              /* of EXTRA, on the first such node: a
                                      resource, or port:TCP:8080; "": none;
                                      borrowed until the job goes */
    uint32_t nearest_node;         /* lacks least of those that could hold the
                                      job when empty, or SCHED_NONE */
    struct resource_vec available; /* on nearest_node (NEVER_FITS: of those too
                                      small, and its whole) */
    uint32_t present, wanted;      /* gang members that fit at once and that
                                      must; GANG: that are there, of all */
    int resource;                  /* column that a limit is about, or -1 */
    int64_t limit, used;           /* of that column */
    int64_t until_ms;    /* a rate limit or an application's start lets
                            it go, or it starts; 0: unknown */
    int64_t promised_ms; /* admitted, it starts by then; 0: nobody can tell */
    int64_t broken_ms;   /* it was to, and that was not kept; 0: no such */
    /* Admitted first of its pool: nodes are reserved for it from then on, as
     * far as is known; 0: already, or others come first. */
    int64_t reserved_from_ms;
    uint32_t for_job; /* of a reservation, or SCHED_NONE */
    uint32_t protected_count;
    bool is_protected_young; /* GANG_PROTECTION: only since the gang is; else
                           while every queue has half of what it is due and
                           wants */
    uint32_t behind;         /* the job ahead of it that the reason is about, or
                                SCHED_NONE: itself */
    struct str pool;         /* of a share or budget; borrowed */
    double asked, allowed;   /* likewise */
    struct str application;  /* that goes before its own; borrowed */
    int64_t since_ms;        /* that one is in its state */
    uint32_t ahead;          /* waiting jobs of its queue that go before it */
    uint32_t shorter;  /* of these, which came later and have shorter limits */
    struct str domain; /* of the topology; borrowed until nodes change */
    uint32_t hops, empty;
    /* Of that column, by the job or all that its gang needs at once; where it
     * is more than the limit itself nothing that ends helps. */
    int64_t asked_amount;
    int64_t deadline_ms;    /* its time limit; INT64_MAX: it has none */
    uint32_t closed_count;  /* nodes that could hold it, and take no work */
    enum sched_wait growth; /* GROWTH: what keeps it from growing now */
    struct str sub_group;   /* that `present` and `wanted` are of, "": all of
                               the gang; borrowed until that goes */
};

enum { SCHED_NODE_KINDS_MAX = 8 };

/* Nodes of one capacity that a job could be on, as far as pools, labels and
 * taints go. */
struct sched_node_kind {
    uint32_t first; /* by name */
    uint32_t node_count;
    uint32_t fit_count; /* that it fits on now */
    struct resource_vec capacity;
    uint32_t freest; /* lacks least of what it asks for */
    struct resource_vec free;
};

/* The kinds of nodes where `job` could be, in order of names, at most
 * SCHED_NODE_KINDS_MAX; their number.  Nodes of further kinds are counted. */
uint32_t sched_explain_kinds(struct sched *sched, uint32_t job, int64_t now_ms,
                             struct sched_node_kind *ret_kinds,
                             uint32_t *ret_left_out_count);

/* What would let a job start. */
enum sched_need_kind {
    SCHED_NEED_NONE,     /* nothing that could be named */
    SCHED_NEED_ROOM,     /* `node`, or one like it, had `missing` more free */
    SCHED_NEED_LIMIT,    /* its queue's limit for its class were so much
                            higher */
    SCHED_NEED_MEMBERS,  /* `member_count` more of its gang were there */
    SCHED_NEED_TIME,     /* it were `until_ms` */
    SCHED_NEED_QUOTA,    /* its queue's quota were `missing` larger */
    SCHED_NEED_FLOATING, /* `pool` had `missing` more of what is of no node */
    /* These were `more` larger than they are, which is `base`: */
    SCHED_NEED_BUDGET, /* its queue's excess budget in `pool`, in thousandths
                          of the pool's units x minute */
    SCHED_NEED_SHARE,  /* what its queue may have there above its share of what
                          cannot be taken back, in millionths of the share */
    SCHED_NEED_APPS,   /* the number of its queue's applications that may run */
};

/* What a job needs, all else as it is. */
struct sched_need {
    enum sched_need_kind kind;
    /* It was tried: with just this the next round starts the job (or the
     * minimum of its gang, or where that runs the next pod of its sub-group),
     * with any less of any part it does not.  Else it takes at least this, and
     * others go first or something else holds too. */
    bool is_exact;
    uint32_t node; /* or SCHED_NONE */
    struct resource_vec missing;
    uint32_t member_count;
    int64_t until_ms;
    struct str pool; /* "": of no one; borrowed */
    int64_t base, more;
};

/* What `job` needs to start, beside why it waits.  It plans rounds to try
 * what it says, within a bound on what they cost (then it is not exact). */
void sched_explain_need(struct sched *sched, uint32_t job, int64_t now_ms,
                        struct sched_explanation *ret_explanation,
                        struct sched_need *ret_need);
/* Why `job` waits; looks at every node and at all that waits in its queue, so
 * not for inner loops.  A job not yet leased and never looked at is answered
 * like any other. */
void sched_explain(struct sched *sched, uint32_t job, int64_t now_ms,
                   struct sched_explanation *ret_explanation);
/* Why `job` waits, for lists of many: what sched_explain() says of limits,
 * shares and gangs; (GANG_)CAPACITY of what is admitted; else PRIORITY while
 * others of its queue go before it; and only of its queue's first what nodes
 * say: CAPACITY, or another reason (WINDOW, CLOSED, ...), or else what rates
 * and the last round say, or TURN; of a gang GANG_CAPACITY alone.
 * Nodes and members of gangs that are looked at are taken from `looks_left`;
 * when that does not suffice, the first is said to wait for CAPACITY, and
 * nothing is said of members (NOT, as of a job with a node). */
enum sched_wait sched_wait_of(struct sched *sched, uint32_t job, int64_t now_ms,
                              uint32_t *looks_left);
/* Only what the nodes say: `wait` is TURN, CAPACITY, NEVER_FITS or NO_NODES,
 * as if the job stood alone.  It serves to reject what can never run. */
void sched_explain_nodes(struct sched *sched, uint32_t job,
                         struct sched_explanation *ret_explanation);
/* Whether some node is or could become free enough for `job` alone.  It ends
 * at the first such node, and adds the nodes it has looked at to `ret_looks`,
 * so that whoever asks about many jobs can keep within a bound. */
bool sched_has_place(struct sched *sched, uint32_t job, uint32_t *ret_looks);

/* How near a gang that can never start comes to it: the nodes of one cluster
 * (and of one value of its label) that would hold most of it.  Strings are
 * borrowed until nodes change. */
struct sched_gang_miss {
    uint32_t needed, count;    /* members that must fit at once; that might */
    struct str pool, executor; /* "": no node has the label */
    struct str label, value;   /* of its uniformity; "": none */
    int resource;              /* enough places, too little of this in all; or
                                  -1 */
    int64_t asked, has;        /* of that */
    /* There would be room, but not near enough for a sub-group with a cap on
     * hops: then `needed` are its members, and `count` those that the best
     * domain, or node, holds. */
    bool is_too_far;
    struct str sub_group, domain;
    uint32_t hops;             /* that the cap allows in this pool */
    uint32_t alike, alike_fit; /* sub-groups that need as many; of these so
                                  many find room by themselves */
};

/* Whether the gang of a waiting job might start if its nodes were empty; true
 * also when it is not complete, has started, or is too varied to tell, and for
 * a job without a gang.  One that fits is not looked at again for the same
 * `fit_no`, but always for 0.  Adds to `ret_looks` as sched_has_place() does.
 */
bool sched_gang_may_fit(struct sched *sched, uint32_t job, uint32_t fit_no,
                        uint32_t *ret_looks, struct sched_gang_miss *ret_miss);
