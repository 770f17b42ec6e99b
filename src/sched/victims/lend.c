#include "sched/victims/lend.h"

#include "sched/apps/apps.h"
#include "sched/evict/cooldown.h"
#include "sched/fairness/admitted.h"
#include "sched/fairness/usage_ledger.h"
#include "sched/order/lanes.h"
#include "sched/order/sweep_undo.h"
#include "sched/reserve/reserve.h"
#include "sched/victims/sets.h"

void lend_count_run(struct sched *sched, const struct run *run, int sign)
{
    if (lend_is_borrowed(sched, run->job)) {
        sched->nodes.items[run->node].borrowed_count += (uint32_t)sign;
        sched->borrowed_run_count += (uint32_t)sign;
        amounts_add_times(
            &sched->accounts.items[run->account].foreign,
            &sched->classes.items[class_of_job(sched, run->job)].request, sign);
    }
}

bool lend_is_victim(const struct round *round, const struct run *run)
{
    return lend_may_recall(round) && run->state != RUN_PREEMPTED &&
           lend_is_borrowed(round->sched, run->job);
}

void lend_add_room(const struct round *round, uint32_t index,
                   struct resource_vec *room)
{
    const struct sched *sched = round->sched;

    if (!lend_may_recall(round) || !sched->nodes.items[index].borrowed_count) {
        return;
    }
    for (uint32_t at = sched->nodes.items[index].run_first; at != NONE;
         at = sched->runs.items[at].node_next) {
        const struct run *run = &sched->runs.items[at];
        if (lend_is_victim(round, run)) {
            amounts_add(
                room, &class_at(round, class_of_job(sched, run->job))->request);
        }
    }
}

/* Recalling: the nodes in the order in which foreign work goes. */

/* A node, and what it costs to make room there, when it was looked at. */
struct offer {
    uint32_t node;
    uint32_t victim_count;
    uint64_t lost;
    bool spares_groups; /* see struct victim_rules */
};

/* What a class was offered, as a heap; lives in the round's arena. */
struct borrowed {
    struct offer *offers;
    uint32_t count, capacity;
    size_t moved_seen; /* of round.moved: a node's offer is another then */
};

static bool offer_less(const struct sched *sched, const struct offer *a,
                       const struct offer *b)
{
    if (a->victim_count != b->victim_count) {
        return a->victim_count < b->victim_count;
    }
    return a->lost != b->lost ? a->lost < b->lost
                              : sched->ranks[a->node] < sched->ranks[b->node];
}

static void offers_down(const struct sched *sched, struct borrowed *borrowed,
                        uint32_t at)
{
    struct offer offer = borrowed->offers[at];

    for (;;) {
        uint32_t child = at * 2 + 1;
        if (child >= borrowed->count) {
            break;
        }
        if (child + 1 < borrowed->count &&
            offer_less(sched, &borrowed->offers[child + 1],
                       &borrowed->offers[child])) {
            child++;
        }
        if (!offer_less(sched, &borrowed->offers[child], &offer)) {
            break;
        }
        borrowed->offers[at] = borrowed->offers[child];
        at = child;
    }
    borrowed->offers[at] = offer;
}

static void offers_push(struct round *round, struct borrowed *borrowed,
                        const struct offer *offer)
{
    uint32_t at = borrowed->count;

    if (borrowed->count == borrowed->capacity) {
        uint32_t capacity = borrowed->capacity ? borrowed->capacity * 2 : 16;
        struct offer *offers =
            arena_alloc_array(round->arena, capacity, sizeof(*offers));
        for (uint32_t i = 0; i < borrowed->count; i++) {
            offers[i] = borrowed->offers[i];
        }
        borrowed->offers = offers;
        borrowed->capacity = capacity;
    }
    borrowed->count++;
    while (at > 0 &&
           offer_less(round->sched, offer, &borrowed->offers[(at - 1) / 2])) {
        borrowed->offers[at] = borrowed->offers[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    borrowed->offers[at] = *offer;
}

static void offers_pop(const struct sched *sched, struct borrowed *borrowed)
{
    borrowed->offers[0] = borrowed->offers[--borrowed->count];
    if (borrowed->count) {
        offers_down(sched, borrowed, 0);
    }
}

/* Nobody goes but what is foreign. */
static const struct victim_rules LEND_RULES = {
    .depth = UINT32_MAX,
    .level_max = -1,
};

/* What a node offers to a job; false: foreign work there is not enough. */
static bool make_offer(const struct search *search, uint32_t node,
                       struct offer *ret_offer)
{
    struct round *round = search->round;
    const struct class *class = class_at(round, search->class_index);
    struct resource_vec room = round->sched->free[node];
    struct victim_set set;

    if (!round->sched->nodes.items[node].borrowed_count) {
        return false;
    }
    lend_add_room(round, node, &room);
    if (!amounts_fit(&class->request, &room) || !place_allows(search, node) ||
        !victim_sets_judge(search, node, &LEND_RULES, &set)) {
        return false;
    }
    *ret_offer = (struct offer){
        .node = node,
        .victim_count = set.count,
        .lost = set.lost,
        .spares_groups = set.spares_groups,
    };
    return true;
}

static bool offer_is_same(const struct offer *a, const struct offer *b)
{
    return a->victim_count == b->victim_count && a->lost == b->lost &&
           a->spares_groups == b->spares_groups;
}

/* Ask all nodes with foreign work. */
static struct borrowed *ask_all(const struct search *search)
{
    struct round *round = search->round;
    const struct sched *sched = round->sched;
    struct borrowed *borrowed = arena_alloc(round->arena, sizeof(*borrowed));
    struct offer offer;

    for (uint32_t i = 0; i < sched->nodes.count; i++) {
        const struct node *node = &sched->nodes.items[i];
        if (node->borrowed_count && node->pool == round->p) {
            round->counters->nodes_examined++;
            if (make_offer(search, i, &offer)) {
                offers_push(round, borrowed, &offer);
            }
        }
    }
    borrowed->moved_seen = round->moved.count;
    return borrowed;
}

/* Nodes that changed since the class looked are looked at again; what they
 * offered before is found out when it is the best. */
static void ask_moved(const struct search *search, struct borrowed *borrowed)
{
    struct round *round = search->round;
    struct offer offer;

    for (; borrowed->moved_seen < round->moved.count; borrowed->moved_seen++) {
        uint32_t node = round->moved.items[borrowed->moved_seen];
        if (make_offer(search, node, &offer)) {
            offers_push(round, borrowed, &offer);
        }
    }
}

/* The best offer that still stands; false: there is none. */
static bool best_offer(const struct search *search, struct borrowed *borrowed,
                       struct offer *ret_offer)
{
    struct round *round = search->round;

    while (borrowed->count) {
        uint32_t node = borrowed->offers[0].node;
        round->counters->nodes_examined++;
        if (!make_offer(search, node, ret_offer)) {
            offers_pop(round->sched, borrowed);
        } else if (offer_is_same(ret_offer, &borrowed->offers[0])) {
            return true;
        } else {
            borrowed->offers[0] = *ret_offer;
            offers_down(round->sched, borrowed, 0);
        }
    }
    return false;
}

static bool find_in_group(const struct search *search, struct offer *ret_offer)
{
    const struct sched *sched = search->round->sched;
    struct offer offer;
    bool has_best = false;

    for (uint32_t i = 0; i < search->only->count; i++) {
        if (make_offer(search, search->only->nodes[i], &offer) &&
            (!has_best || offer_less(sched, &offer, ret_offer))) {
            *ret_offer = offer;
            has_best = true;
        }
    }
    return has_best;
}

static bool find_offer(const struct search *search, struct offer *ret_offer)
{
    struct class *class = class_round(search->round, search->class_index);

    if (search->only) {
        return find_in_group(search, ret_offer);
    }
    if (place_is_special(search)) {
        return best_offer(search, ask_all(search), ret_offer);
    }
    if (!class->borrowed) {
        class->borrowed = ask_all(search);
    }
    ask_moved(search, class->borrowed);
    return best_offer(search, class->borrowed, ret_offer);
}

uint32_t lend_find(const struct search *search, struct victim_rules *ret_rules)
{
    struct offer offer;

    if (!lend_may_recall(search->round)) {
        return NONE;
    }
    place_flush(search->round);
    if (!find_offer(search, &offer)) {
        return NONE;
    }
    *ret_rules = LEND_RULES;
    ret_rules->spares_groups = offer.spares_groups;
    return offer.node;
}

/* Lending. */

void lend_begin(struct round *round)
{
    round->is_filling = true;
    round->is_lending = true;
    round->growth_count++; /* what had no room is looked at once more, so that
                              the order does not hang on whom own work met */
    for (uint32_t i = 0; i < round->lane_count; i++) {
        struct lane *lane = &round->lanes[i];
        uint32_t looked_count = lane->looked_count;
        if (!lane->is_refused) {
            lane_fill(round, lane);
            lane_refresh_new(round, lane);
        }
        lane->looked_count = looked_count;
    }
}

bool lend_missed(const struct round *round, const struct class *class)
{
    return round->is_resumed &&
           class->lent_sweep[round->kind] == round->sweep_id;
}

void lend_miss(const struct round *round, struct class *class)
{
    if (!round->sched->is_trial) {
        sweep_stamp_class(round, class, SWEEP_CLASS_LENT);
    }
}

/* The state. */

/* Put a job into the list for what it is now. */
static void move_list(struct sched *sched, uint32_t index, bool is_borrowed)
{
    struct job *job = &sched->jobs.items[index];
    struct list list = sched->lists.items[job->list];

    list.is_borrowed = is_borrowed;
    uint32_t to = list_get(sched, list.queue, list.class_index,
                           list_level(&list), list.pool, list.app);
    list_put(sched, job->list);
    job->list = to & LIST_NONE;
}

/* Likewise the gang that it belongs to. */
static void move_gang(struct sched *sched, struct gang *gang, bool is_borrowed)
{
    struct list list = sched->lists.items[gang->list];

    if (list.is_borrowed != is_borrowed) {
        list.is_borrowed = is_borrowed;
        uint32_t to = list_get(sched, list.queue, NONE, list_level(&list),
                               list.pool, list.app);
        list_put(sched, gang->list);
        gang->list = to;
    }
}

/* A job that waits becomes a borrower of its application, or none any more. */
static void ask_anew(struct sched *sched, const struct job *job,
                     bool is_borrower)
{
    uint32_t app = sched->lists.items[job->list].app;

    if (app == NONE) {
        return;
    }
    if (is_borrower) {
        app_count_borrower(sched, app, 1, job, job->is_opted_out);
        app_count(sched, app, -1, 0, APP_RELEASED);
    } else {
        app_count(sched, app, 1, 0, APP_ASKED);
        app_describe(sched, app, job, job->is_opted_out);
        app_count_borrower(sched, app, -1, job, false);
    }
}

void sched_job_borrowed_set(struct sched *sched, uint32_t index,
                            bool is_borrowed)
{
    ASSERT(index < sched->jobs.count);
    struct job *job = &sched->jobs.items[index];

    ASSERT(job->list != LIST_NONE);
    if (lend_is_borrowed(sched, index) == is_borrowed) {
        return;
    }
    sched->version++;
    cooldown_news(sched);
    if (is_borrowed) {
        admitted_leave(sched, index);
    }
    if (job->gang != NONE) {
        struct gang *gang = &sched->gangs.items[job->gang];
        gang_detach(sched, job->gang);
        if (!is_borrowed || job->run != NONE || gang->leased.count == 0) {
            move_gang(sched, gang, is_borrowed); /* it is what runs of it */
        }
    }
    if (job->run != NONE) { /* what it was goes by the flows that are held */
        usage_ledger_note(
            sched, sched->lists.items[job->list].queue,
            sched->accounts.items[sched->runs.items[job->run].account].pool);
    }
    sched->is_relinking = true;
    if (job->run != NONE) {
        run_unlink(sched, job->run);
    } else {
        job_unwait(sched, index);
    }
    move_list(sched, index, is_borrowed);
    if (job->run != NONE) {
        run_link(sched, job->run);
    } else {
        job_wait(sched, index);
    }
    sched->is_relinking = false;
    if (job->run == NONE) {
        ask_anew(sched, job, is_borrowed);
    }
    if (job->gang != NONE) {
        gang_attach(sched, job->gang);
    }
}

bool sched_job_is_borrowed(const struct sched *sched, uint32_t job)
{
    return lend_is_borrowed(sched, job);
}

void sched_preemption_set(struct sched *sched, bool is_off)
{
    sched->is_pool_object = true;
    if (sched->is_preemption_off != is_off) {
        sched->version++;
        sched->is_preemption_off = is_off;
        reserve_fini(sched); /* what goes when is another */
    }
}
