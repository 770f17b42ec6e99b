/*
 * oracle_private - what the oracle's files share.
 *
 * A *unit* is a job, or the members of a gang that have the same status; the
 * last of them in the order of their queue stands for it.
 */
#pragma once

#include "oracle.h"

enum status {
    GONE,
    WAITING,
    SPARE,    /* waits, and its gang does not ask for it */
    STEADY,   /* runs */
    EVICTED,  /* runs, and must win its place again */
    RETURNED, /* has won it */
    PREEMPTED,
    PLACED,
    FAILED,
    ENDED, /* by the time in question */
};

/* A number of the order: exact, unless a flow that decayed is in it. */
struct number {
    struct fraction exact;
    double value;
    bool is_exact;
};

/* What is held for the first that has no room (model.md 2.9). */
struct hold {
    bool is_made;
    int unit, serial; /* 0: admitted by this plan */
    bool is_unlisted; /* it is not admitted: nobody can yield to it */
    int start;        /* t*, or INT_MAX */
    bool is_reserved[INSTANCE_NODES_MAX];
    int extra[INSTANCE_NODES_MAX][INSTANCE_KINDS];
};

/* What a queue keeps for later stages: see oracle_own.c. */
struct own {
    bool is_made;
    struct hold hold;
};

/* The limits of a queue that are kept for an admitted unit: oracle_held.c. */
struct held {
    bool is_made, has_class, has_quota;
    int unit, at; /* INT_MAX: no bound tells */
    int class_left, quota_left;
};

/* How one is let past it. */
enum pass {
    BACKFILL_NO,
    BACKFILL_BESIDE,
    BACKFILL_ENDS_IN_TIME,
    BACKFILL_REVOCABLE
};

/* When an evicted unit would win its place back, were there no new work. */
struct turn {
    int level;
    struct number key;
};

/* A plan in the making. */
struct oracle {
    const struct instance *in;
    enum round_kind kind;
    bool is_filling;
    bool has_groups;    /* gangs with terms run */
    bool compares_sets; /* always, as in a pool object's shard: see
                           oracle_sets.c */
    bool is_lending;    /* it is the turn of work of other pools */
    bool keeps_surplus; /* in this try of a gang */
    bool keeps_gpus;    /* for work that asks for them, which waits */
    unsigned kept_nodes[INSTANCE_JOBS_MAX]; /* as bits: for the like, by the
                                               pool's policy */
    bool is_growing;   /* gangs: what is leased has no lifetime */
    struct number key; /* K of the unit of new work that is tried */
    unsigned only;     /* nodes, as bits, where members are to go; 0: all */
    struct nearness {  /* of sub-groups that were placed near together */
        int levels, count;
        uint64_t key;
    } nearness;
    int growth_count; /* times that victims made more room than was needed */
    int roomless_at[INSTANCE_JOBS_MAX]; /* that count then */
    enum status status[INSTANCE_JOBS_MAX];
    int node[INSTANCE_JOBS_MAX];
    bool may_go_away;                /* the members of the gang that is tried */
    bool is_away[INSTANCE_JOBS_MAX]; /* runs there, or is tried there */
    int ordinal[INSTANCE_JOBS_MAX];
    bool was_evicted[INSTANCE_JOBS_MAX];        /* when it was preempted */
    bool is_passed_over[INSTANCE_JOBS_MAX];     /* until the filling pass */
    bool is_settled[INSTANCE_JOBS_MAX];         /* for the whole plan */
    bool is_blocked[INSTANCE_QUEUES_MAX];       /* no new work: a limit */
    struct fraction spent[INSTANCE_QUEUES_MAX]; /* of budgets, by the plan */
    /* Flows so far, the second of endless work only. */
    struct number flow[INSTANCE_QUEUES_MAX][2];
    int now;
    bool is_over[INSTANCE_QUEUES_MAX]; /* its share */
    double actual[INSTANCE_QUEUES_MAX], due[INSTANCE_QUEUES_MAX];
    bool is_any_poor;       /* some queue has not half of what it is due */
    bool is_without_shares; /* no reservation counts on what that frees */
    /* What each has when the plan begins, by its weight. */
    struct fraction held[INSTANCE_QUEUES_MAX];
    bool is_hopeless[INSTANCE_JOBS_MAX]; /* no node has room for its like */
    bool is_roomless[INSTANCE_JOBS_MAX]; /* no free room, at home or away */
    bool is_barred[INSTANCE_JOBS_MAX];   /* nor can one be reserved */
    bool has_missed[INSTANCE_JOBS_MAX];  /* was tried, and found no room */
    int admitted[INSTANCE_JOBS_MAX];     /* serial; INT_MAX: by this plan */
    struct hold hold;
    bool is_put_off; /* the first of the admitted waits for its reservation */
    struct held kept[INSTANCE_QUEUES_MAX];
    /* Admitted behind this serial of this level does not count in the quota;
     * 0: all does. */
    int turn_serial, turn_level;
    int alone; /* 1 + a queue of whose admitted work one is asked; 0: none */
    struct number alone_flow; /* of that queue */
    struct own own[INSTANCE_QUEUES_MAX];
    int own_of; /* 1 + the queue whose own binds what is tried; 0: none */
    /* While an admitted one is tried: its serial, and the first of the evicted
     * that its turn comes before. */
    int asking, turn;
    struct fraction asking_charge;        /* of each member */
    struct turn turns[INSTANCE_JOBS_MAX]; /* by ordinal */
    int turn_count;
    struct start_limit starts, start_cores, queue_starts[INSTANCE_QUEUES_MAX];
    bool are_starts_over, are_cores_over, is_queue_over[INSTANCE_QUEUES_MAX];
    struct oracle_plan *plan;
};

/* oracle_units.c */

/* Whether the job holds its place, or is to win it again. */
bool oracle_runs(const struct oracle *o, int job);
/* The priority of the job's class, or what it has away. */
int oracle_level(const struct oracle *o, int job);
/* The least of its members. */
int oracle_unit_level(const struct oracle *o, int unit);
/* Whether it may lose its place to a more urgent class. */
bool oracle_is_urgency_preemptible(const struct oracle *o, int job);
/* Order of jobs within a queue and class priority. */
bool oracle_job_before(const struct oracle *o, int a, int b);
/* Whether two jobs ask for the same. */
bool oracle_is_like(const struct instance_job *a, const struct instance_job *b);
/* Whether `job` is of the unit that `unit` is of. */
bool oracle_is_member(const struct oracle *o, int unit, int job);
/* Whether both are of one gang. */
bool oracle_same_gang(const struct oracle *o, int a, int b);
/* Whether the job stands for its unit: the last member does. */
bool oracle_is_head(const struct oracle *o, int job);
/* Add what all members ask for. */
void oracle_unit_sum(const struct oracle *o, int unit,
                     int amounts[INSTANCE_KINDS]);
/* When the youngest member was leased. */
int oracle_unit_leased(const struct oracle *o, int unit);
/* Give all members a status, and an ordinal unless that is -1. */
void oracle_mark_unit(struct oracle *o, int unit, enum status status,
                      int ordinal);
/* Of what waits of gangs with terms, the last of each sub-group beyond its
 * minimum are spare. */
void oracle_spare(struct oracle *o);
/* Members of a gang by status. */
int oracle_gang_count(const struct oracle *o, int job, enum status status);
/* Members that ran when the plan began. */
int oracle_gang_running(const struct oracle *o, int job);
/* Whether enough members are there, or once were. */
bool oracle_gang_is_complete(const struct oracle *o, int job);

/* oracle_shares.c */

/* What a queue runs, without what is evicted. */
void oracle_usage(const struct oracle *o, int queue,
                  int amounts[INSTANCE_KINDS]);
/* Find out who is over its share. */
void oracle_measure(struct oracle *o);
/* Whether its queue's quota, and the limit on what that has of a class, let a
 * unit start. */
bool oracle_is_within_limit(const struct oracle *o, int job,
                            const int request[INSTANCE_KINDS]);
/* What the unit's queue has of its quota without it, and of that elsewhere. */
int oracle_quota_used(const struct oracle *o, int unit);
int oracle_quota_elsewhere(const struct oracle *o, int unit);
/* Whether what runs leaves the pool seats enough to add such a request. */
bool oracle_has_seats(const struct oracle *o,
                      const int request[INSTANCE_KINDS]);
/* The cost of amounts times the queue's factor. */
struct number oracle_cost(const struct oracle *o, int queue,
                          const int amounts[INSTANCE_KINDS]);
/* Take what may go off its place, in mind, where a queue is over its share. */
void oracle_evict(struct oracle *o);

/* oracle_flow.c */

/* Below 0, 0 or above 0.  When a decayed flow decides it by less than
 * rounding might make, the plan is marked as close. */
int oracle_compare(const struct oracle *o, struct number a, struct number b);
/* An exact number, and one that is not. */
struct number oracle_number(struct fraction exact);
/* Flows as they are when the plan begins. */
void oracle_flows_begin(struct oracle *o);
/* A queue's usage changed: its flows rise to it at once. */
void oracle_flows_rise(struct oracle *o, int queue);
/* What its queue has admitted beside a unit counts neither in what the queue
 * uses nor in its flow, until it is put back. */
void oracle_leave_out(struct oracle *o, int unit);
/* See oracle_leave_out(). */
void oracle_put_back(struct oracle *o, int unit);
/* What a queue's flow would be with a unit of new work, times its factor. */
struct number oracle_flow_with(const struct oracle *o, int unit);
/* What it is, times its factor. */
struct number oracle_flow_now(const struct oracle *o, int queue);
/* Whether the limit on endless work and the budget let a unit start. */
bool oracle_is_within_rights(const struct oracle *o, int unit);
/* Book what a unit costs of the budget that asks for that much, in millionths
 * of the pool x ms. */
double oracle_book(struct oracle *o, int unit,
                   const int request[INSTANCE_KINDS]);
/* The charge of an admitted unit is that of its members in equal parts. */
void oracle_share_charge(struct oracle *o, int unit);
/* Book a member's part; likewise. */
double oracle_rebook(struct oracle *o, int job);

/* oracle_apps.c */

/* Whether the ordering of its queue lets a unit of new work be its head. */
bool oracle_app_allows(const struct oracle *o, int unit);
/* Whether a queue's ordering is one of applications. */
bool oracle_goes_by_apps(const struct instance_queue *queue);
/* Which application goes first in their queue's ordering: below 0 or above; 0:
 * their jobs decide. */
int oracle_app_compare(const struct oracle *o, int a, int b);

/* The state of an application in the plan so far. */
enum sched_app_state oracle_app_state(const struct oracle *o, int queue,
                                      int app);
/* Whether application `a` of a queue was submitted before `b`. */
bool oracle_app_is_earlier(const struct oracle *o, int queue, int a, int b);

/* oracle_own.c */

/* Whether its queue keeps room from a unit that would start an application;
 * the reservation is made then. */
bool oracle_has_own(struct oracle *o, int unit);

/* oracle_rates.c */

/* Whether a limit on starts that was reached holds the job back. */
bool oracle_is_held(const struct oracle *o, int job);
/* Whether limits on starts let all of a unit start. */
bool oracle_may_start(struct oracle *o, int unit);
/* Likewise so many jobs of a queue with so many cores. */
bool oracle_may_start_so(struct oracle *o, int queue, int count, int cores);
/* A job starts. */
void oracle_count_start(struct oracle *o, int job);

/* oracle_nodes.c */

/* What is free on a node; evicted work counts as if it were there. */
int oracle_free(const struct oracle *o, int node, int kind);
/* Whether labels, taints and what it avoids let the job go there. */
bool oracle_is_place(const struct oracle *o, int job, int node);
/* Whether so does the gang that has the node whole, too. */
bool oracle_allows(const struct oracle *o, int job, int node);
/* The weighted amount, each column by its share of the pool, rounded as the
 * planner rounds it. */
uint64_t oracle_weigh(const struct oracle *o, const int room[INSTANCE_KINDS]);
/* Whether the room holds the job. */
bool oracle_fits(const struct oracle *o, int job, const int room[]);
/* Whether a node is kept for work that asks for its GPUs. */
bool oracle_is_kept(const struct oracle *o, int job, int node);
/* Find out which nodes the pool keeps for jobs that ask for GPUs
 * (oracle_gpus.c). */
void oracle_gpus_begin(struct oracle *o);
/* Best fit in free space, or NO_NODE; `rack` 0: anywhere. */
int oracle_find_free(const struct oracle *o, int job, int rack);

/* oracle_bounds.c */

/* The most that a job is sure to run, in ms, or INT_MAX. */
int oracle_run_max(const struct oracle *o, int job);
/* Whether a run is old enough to be held to its lifetime. */
bool oracle_is_evictable(const struct oracle *o, int job);
/* When what a run has is free, for a unit; INT_MAX: not known. */
int oracle_bound(const struct oracle *o, int job, int unit);
/* What a node has when all bounds up to a time have passed. */
void oracle_room_at(const struct oracle *o, int node, int unit, int at,
                    int room[INSTANCE_KINDS]);
/* Whether a job's deadline ends it in time for whom the hold is. */
bool oracle_is_bounded(const struct oracle *o, const struct hold *hold,
                       int job);
/* How a job may take its place on a node, as far as a reservation goes. */
enum pass oracle_pass_by(const struct oracle *o, const struct hold *hold,
                         int job, int node);
/* From when on what took a place for fairness gives way to what is held for:
 * from its start, as far as that is promised. */
int oracle_fair_from(const struct oracle *o);
/* Whether that is before a cooldown is over, for one that gives way there. */
bool oracle_is_soon(const struct oracle *o, int job, int node);
/* How it may, as far as all go. */
enum pass oracle_pass(const struct oracle *o, int job, int node);

/* oracle_reserve.c */

/* Reserve for a unit, which does not count as admitted now; false when not
 * even empty nodes would do. */
bool oracle_reserve(struct oracle *o, int unit, int serial);

/* Whether the unit could have a reservation if it were first. */
bool oracle_could_reserve(struct oracle *o, int unit);

/* oracle_held.c */

/* Whether limits would let it start if nothing of its queue ran here. */
bool oracle_limits_could(const struct oracle *o, int unit,
                         const int request[INSTANCE_KINDS]);
/* Reserve for a unit as oracle_reserve(), when its queue's limits let it go;
 * where no bound tells when, nothing is reserved.  The limits are kept. */
bool oracle_hold_for(struct oracle *o, int unit, int serial);
/* Whether what is kept lets a job start. */
bool oracle_held_allows(const struct oracle *o, int job, int cores);
/* A job starts. */
void oracle_held_charge(struct oracle *o, int job);

/* oracle_head.c */

/* Whether the window lets one more of the unit's queue and class in. */
bool oracle_has_window(const struct oracle *o, int unit);
/* Whether no new work of the unit's sort is to be tried. */
bool oracle_is_closed(const struct oracle *o, int unit);
/* Admit a unit that finds no room, if it may be. */
bool oracle_admit(struct oracle *o, int unit);
/* A unit is admitted with this serial number, or is not (0). */
void oracle_mark_admitted(struct oracle *o, int unit, int serial);
/* Try the admitted ones. */
void oracle_head(struct oracle *o);
/* Say which promise became better. */
void oracle_promise(struct oracle *o);

/* oracle_victims.c */

/* Make room for the job and return the node, or NO_NODE. */
int oracle_find_with_victims(struct oracle *o, int job, int rack);

/* oracle_room.c */

/* A job that may go alone, or what goes together of a gang on a node, which
 * one stands for. */
struct victim {
    int job, sum[INSTANCE_KINDS], leased;
    int level;               /* the least of them */
    bool yields, is_evicted; /* some of it */
    int ordinal;
    bool is_surplus;
    bool is_borrowed;
    bool is_held; /* all of a gang on a node that it has whole */
    bool breaks;  /* all of its gang goes, wherever it is */
    bool is_kept;
};

/* Who may go: evicted work from an ordinal on, and other preemptible work up
 * to a level. */
struct rules {
    int cut; /* 1 + the ordinal */
    int level_max;
    bool spares_gangs;  /* what breaks a gang keeps its place before all else */
    bool takes_surplus; /* whoever asks */
    bool is_bound;      /* nobody goes for fairness */
};

/* Whether a run promised to give way to the admitted one that is tried. */
bool oracle_is_revocable(const struct oracle *o, int job);
/* Whether a run is of the job's own queue, and no less urgent: a queue takes no
 * place from itself for fairness. */
bool oracle_is_own(const struct oracle *o, int victim, int job);
/* Whether a run may go for a job by what it is itself. */
bool oracle_may_go(const struct oracle *o, int victim, int job, int node,
                   const struct rules *rules);
/* Who must go on a node for a job, and who of those that may is kept; 0:
 * there is no room even so.  Those who best keep their places come first. */
int oracle_choose(const struct oracle *o, int job, int node,
                  const struct rules *rules, struct victim *victims);
/* Preempt all that runs on a node, for a job; false: some of it may not go. */
bool oracle_clear(struct oracle *o, int job, int node);
/* All that runs on a node, if all of it may go for a job: their number, or
 * -1. */
int oracle_choose_all(const struct oracle *o, int job, int node,
                      struct victim *victims);
/* Preempt them. */
void oracle_take_room(struct oracle *o, int job, int node,
                      const struct rules *rules);

/* oracle_lend.c */

/* Whether a run may go since its home is elsewhere. */
bool oracle_may_recall(const struct oracle *o, int victim);
/* Whether any may. */
bool oracle_has_recall(const struct oracle *o);
/* The cheapest place for a job where work of other pools alone makes room, or
 * NO_NODE; the rules that choose who goes. */
int oracle_find_recall(const struct oracle *o, int job, int rack,
                       struct rules *ret_rules);
/* Place work of other pools that waits, in what is left. */
void oracle_lend(struct oracle *o);

/* oracle_surplus.c */

/* Whether a run is of what its gang's minimums ask for; others are. */
bool oracle_is_base(const struct oracle *o, int job);
/* Whether a pod is surplus, when those go alone that are marked; of its node
 * those with higher ids are. */
bool oracle_is_surplus(const struct oracle *o, int job,
                       const bool goes_alone[INSTANCE_JOBS_MAX]);
/* Whether the plan starts some of the gang of a victim, which is not broken
 * then. */
bool oracle_is_joined(const struct oracle *o, int victim, int job);
/* Whether surplus may go for a job. */
bool oracle_may_shrink(const struct oracle *o, int victim, int job,
                       const struct rules *rules);

/* oracle_sets.c */

/* What a place costs, or several together. */
struct price {
    int64_t rank_max, rank_sum;
    int count;
    int hops;    /* of a gang: levels over which its sub-groups are spread */
    int ordinal; /* of who would win its place back first */
    uint64_t lost;
    bool breaks;     /* a gang */
    bool is_surplus; /* all that go, alone */
    int best;        /* of that, a pod whose gang would keep it best */
    int group;       /* all that go are surplus of it; 0: not so */
    int pod;         /* of these, the highest id */
};

/* What a place on a node costs, and the rules that choose there: those given,
 * or with what breaks a gang kept first.  False: there is no room. */
bool oracle_judge(const struct oracle *o, int job, int node,
                  struct rules *rules, struct price *ret_price);
/* What it costs that all goes from a node; false: some of it may not. */
bool oracle_price_all(const struct oracle *o, int job, int node,
                      struct price *ret_price);
/* The rules for all kinds of victims of a job. */
struct rules oracle_rules(const struct oracle *o, int job);
/* The cheapest place for a job, or NO_NODE; the rules that choose there. */
int oracle_find_set(const struct oracle *o, int job, int rack,
                    struct rules *rules);
/* Whether a pod of a gang with terms might be preempted for a job, on a node
 * that it may have. */
bool oracle_groups_at_risk(const struct oracle *o, int job);
/* Whether there might be a place for some job like this one, if not for it:
 * whether surplus yields depends on the queue that asks. */
bool oracle_might_find_set(const struct oracle *o, int job);
/* The price of what was decided since `first`, all of it for one gang. */
struct price oracle_price_since(const struct oracle *o, int gang, int first);
/* Below 0: the gang that `a` is of keeps its surplus before that of `b`; above
 * it the other way.  0: one gang, or two of a queue without scores. */
int oracle_surplus_order(const struct oracle *o, int a, int b);
/* Which costs less. */
int oracle_price_compare(const struct oracle *o, const struct price *a,
                         const struct price *b);

/* oracle_whole.c */

/* The gang that has a node whole, or 0. */
int oracle_holder(const struct oracle *o, int node);
/* Whether anybody runs on a node. */
bool oracle_is_used(const struct oracle *o, int node);
/* Whether a node is none for a job because of that, or since its own gang
 * would have to have it whole. */
bool oracle_is_barred(const struct oracle *o, int job, int node);
/* Whether a job might come to a node if others went. */
bool oracle_allows_evicting(const struct oracle *o, int job, int node);
/* Place what a gang asks for on nodes that it has whole; false: there is no
 * room, and what was done is to be undone. */
bool oracle_place_whole(struct oracle *o, int gang, bool may_clear);
/* Likewise what its sub-group that a job is of asks for, on some nodes. */
bool oracle_place_whole_near(struct oracle *o, int job,
                             const bool is_in[INSTANCE_NODES_MAX],
                             bool may_clear);
/* Whether it fits in rooms that nodes have at a time to come: the pods are
 * moved from `rooms` to `taken`. */
bool oracle_fits_whole(const struct oracle *o, int gang,
                       int rooms[INSTANCE_NODES_MAX][INSTANCE_KINDS],
                       int taken[INSTANCE_NODES_MAX][INSTANCE_KINDS]);

/* oracle_growers.c */

enum { GROWERS_MAX = INSTANCE_JOBS_MAX };

/* A sub-group that may grow or shrink, in the step in which gangs do. */
struct grower {
    int gang, sub_group, first; /* of its gang, the member with the lowest id */
    int queue;
    int request[INSTANCE_KINDS]; /* of one pod */
    int count, min, spare;       /* pods; that wait, not asked for */
    bool is_held;                /* it does not grow in this step */
    bool is_frozen;
    bool is_asked, is_out; /* in this pass; in this step */
};

/* Whether a job is of a gang that may have more than its minimums. */
bool oracle_is_elastic(const struct oracle *o, int job);
/* Who takes part; their number. */
int oracle_growers(const struct oracle *o, struct grower *growers);

/* oracle_score.c */

/* How long the gang has run, each pod's time by what it counts, by the weight
 * of its class. */
struct fraction oracle_score(const struct oracle *o,
                             const struct grower *grower);
/* Below 0: `a` is left of `b` in a queue.  Of units that wait. */
int oracle_score_waiting(const struct oracle *o, int a, int b);
/* Of the gangs that two jobs are of; 0: their queues do not go by scores. */
int oracle_score_gangs(const struct oracle *o, int a, int b);
/* Of what may grow. */
int oracle_score_compare(const struct oracle *o, const struct grower *a,
                         const struct grower *b);

/* oracle_growth.c */

/* Let gangs grow and shrink. */
void oracle_grow(struct oracle *o);

/* oracle_away.c */

/* A free place away, if it may go there. */
int oracle_find_free_away(struct oracle *o, int job, int rack);
/* Make room for it there. */
int oracle_find_victims_away(struct oracle *o, int job, int rack);

/* oracle_gangs.c */

/* Add what a unit must start with at once, the first of its members. */
void oracle_least(const struct oracle *o, int unit,
                  int amounts[INSTANCE_KINDS]);

/* A gang is all of one value of its label, if it has one, in one cluster: how
 * many such groups of nodes there are. */
int oracle_group_count(const struct oracle *o, int gang);
/* Their open nodes, as bits; 0: what runs of the gang holds it to others. */
unsigned oracle_group(const struct oracle *o, int gang, int index);
/* The number of a level, as they are summed up. */
int oracle_height(const struct oracle *o, int level);
/* That of the lowest domain that has both nodes; 0: they are one. */
int oracle_distance(const struct oracle *o, int a, int b);
/* Start what a gang with terms asks for near together, in free space
 * (model.md 2.11). */
bool oracle_place_near(struct oracle *o, int gang);
/* Whether each sub-group of a gang alone would have room near enough on empty
 * nodes. */
bool oracle_may_be_near(const struct oracle *o, int gang);
enum { ORACLE_DOMAINS_MAX = 2 * (INSTANCE_NODES_MAX + 9) };

/* The open nodes, as bits, of the highest domains that the cap allows if a
 * single sub-group of a gang asks and has one, else of the clusters; how many
 * these are. */
int oracle_domains(const struct oracle *o, int gang,
                   unsigned domains[ORACLE_DOMAINS_MAX]);
/* The same where others must make way: `first` is the plan's first decision of
 * the try.  False: what was done is to be undone. */
bool oracle_force_near(struct oracle *o, int gang, int first);
/* What a sub-group of members that wait asks for, one after the other, each
 * where it is best. */
bool oracle_place_members(struct oracle *o, int gang, int sub_group);
/* Where one pod more of a sub-group goes near the others, or NO_NODE. */
int oracle_find_near(const struct oracle *o, int job);
/* Start a gang, or nothing of it. */
bool oracle_place_gang(struct oracle *o, int gang);

/* oracle_order.c */

/* Whether the job stands for a unit that may be decided now. */
bool oracle_is_candidate(const struct oracle *o, int job);
/* Order within a queue among evicted, or among new, work. */
bool oracle_unit_before(const struct oracle *o, int a, int b);
/* What an evicted unit, or one of new work, is ordered by (model.md 6.5). */
struct number oracle_key(const struct oracle *o, int unit);
/* What is decided next, or -1. */
int oracle_next_unit(const struct oracle *o, bool is_evicted_only);

/* oracle.c */

/* Decide about all that may be tried now. */
void oracle_run(struct oracle *o);

/* Place a unit of new work if there is room, or can be made; whether it was. */
bool oracle_place(struct oracle *o, int unit);
/* Append a decision. */
void oracle_decide(struct oracle *o, enum sched_action action,
                   enum sched_preemption why, int job, int node, int for_job);
/* The job starts. */
void oracle_lease(struct oracle *o, int job, int node);
