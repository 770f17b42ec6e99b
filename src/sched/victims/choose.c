/* Chooses the victims on one node, and reprieves those that are not needed. */
#include <string.h>

#include "sched/place/place.h"
#include "sched/state/extras.h"
#include "sched/state/sub_groups.h"
#include "sched/victims/affordable.h"
#include "sched/victims/budgets.h"
#include "sched/victims/group_victims.h"
#include "sched/victims/recall.h"
#include "sched/victims/revocable.h"
#include "sched/victims/searches.h"
#include "sched/victims/surplus_order.h"
#include "sched/victims/victims.h"

/* Surplus has no turn, though a pod that goes as such may be of the minimum by
 * its id and so have been evicted with it. */
bool victim_is_kept_before(struct round *round, const struct victim *a,
                           const struct victim *b)
{
    int c = 0;

    if ((a->protected_count > 0) != (b->protected_count > 0)) {
        return a->protected_count > 0;
    }
    if (a->is_borrowed != b->is_borrowed) {
        return b->is_borrowed;
    }
    if (a->level != b->level) {
        return a->level > b->level;
    }
    if (a->is_surplus != b->is_surplus) {
        return b->is_surplus;
    }
    if (a->is_surplus) {
        c = surplus_order_compare(round, a->group, b->group);
    }
    if (c) {
        return c < 0;
    }
    if (a->is_revocable != b->is_revocable) {
        return b->is_revocable;
    }
    if (!a->is_surplus && a->is_evicted != b->is_evicted) {
        return b->is_evicted;
    }
    if (!a->is_surplus && a->is_evicted && a->ordinal != b->ordinal) {
        return a->ordinal < b->ordinal;
    }
    if (a->leased_ms != b->leased_ms) {
        return a->leased_ms < b->leased_ms;
    }
    return job_less(round->sched, a->job, b->job);
}

static inline bool is_permitted(const struct round *round,
                                const struct run *run,
                                const struct class *class,
                                const struct victim_rules *rules)
{
    if (revocables_has(round, run) || recall_is_victim(round, run)) {
        return true;
    }
    if (round->sched->is_preemption_off) {
        return false;
    }
    if (run->state == RUN_EVICTED) {
        const struct evicted_run *evicted_run =
            &round->evicted->runs[run->evicted_run];
        return run->level + rules->is_bound <= class->level &&
               !victim_is_own(evicted_run, rules->own, class) &&
               evicted_run->ordinal + 1 >= rules->depth;
    }
    /* Where classes do not order a queue, a more urgent job may come after work
     * that has won its place back. */
    return (run->state == RUN_STEADY || run->state == RUN_RETURNED) &&
           run->is_urgency_preemptible && (int)run->level <= rules->level_max;
}

bool victim_is_permitted(const struct round *round, const struct run *run,
                         const struct class *class,
                         const struct victim_rules *rules)
{
    return is_permitted(round, run, class, rules);
}

static inline struct victim of_run(const struct round *round,
                                   const struct run *run)
{
    const struct sched *sched = round->sched;
    const struct class *class = class_at(round, class_of_job(sched, run->job));
    bool is_borrowed = borrowed_has(sched, run->job);

    ASSERT(run->state != RUN_EVICTED ||
           round->evicted->runs[run->evicted_run].job == run->job);
    return (struct victim){
        .job = run->job,
        .gang = NONE,
        .group = NONE,
        .sum = class->request,
        .ordinal = run->state == RUN_EVICTED
                       ? round->evicted->runs[run->evicted_run].ordinal
                       : 0,
        /* A borrower's own level says only that anybody may take it. */
        .level = is_borrowed ? level_of(sched, run->priority) : run->level,
        .is_borrowed = is_borrowed,
        .is_evicted = run->state == RUN_EVICTED,
        .is_revocable = revocables_has(round, run),
        .leased_ms = run->leased_ms,
    };
}

struct victim victim_of_run(const struct round *round, const struct run *run)
{
    return of_run(round, run);
}

/* Add one; all of a gang on the node are one, as urgent as the least urgent of
 * them: some may be away. */
static void add_victim(const struct sched *sched, struct victim *victims,
                       uint32_t *count, const struct victim *victim)
{
    for (uint32_t i = 0; victim->gang != NONE && i < *count; i++) {
        struct victim *all = &victims[i];
        if (all->gang == victim->gang) {
            amounts_add(&all->sum, &victim->sum);
            if (job_less(sched, all->job, victim->job)) {
                all->job = victim->job;
            }
            if (all->leased_ms < victim->leased_ms) {
                all->leased_ms = victim->leased_ms;
            }
            if (all->level > victim->level) {
                all->level = victim->level;
            }
            all->is_revocable |= victim->is_revocable;
            return;
        }
    }
    victims[(*count)++] = *victim;
}

/* A victim of the evicted work of a node on which there are no others: by its
 * turn it stands before or behind all of them, so that of the run itself
 * nothing is asked. */
static struct victim of_evicted_run(const struct round *round,
                                    const struct evicted_run *evicted_run)
{
    return (struct victim){
        .job = evicted_run->job,
        .gang = evicted_run->gang,
        .group = NONE,
        .sum = class_at(round, evicted_run->class_index)->request,
        .ordinal = evicted_run->ordinal,
        .level = evicted_run->level,
        .is_evicted = true,
    };
}

static void sort_victims(struct round *round, struct victim *victims,
                         uint32_t count)
{
    for (uint32_t i = 1; i < count; i++) {
        struct victim item = victims[i];
        uint32_t at = i;
        while (at > 0 &&
               victim_is_kept_before(round, &item, &victims[at - 1])) {
            victims[at] = victims[at - 1];
            at--;
        }
        victims[at] = item;
    }
}

/* Those that take a gang keep their places before all others. */
static void put_gangs_first(struct victim *victims, uint32_t count)
{
    uint32_t gangs = 0;

    for (uint32_t i = 0; i < count; i++) {
        if (victims[i].gang != NONE) {
            struct victim item = victims[i];
            memmove(&victims[gangs + 1], &victims[gangs],
                    (i - gangs) * sizeof(*victims));
            victims[gangs++] = item;
        }
    }
}

/* Whether nobody but evicted jobs and gangs without terms may go. */
static bool is_for_evicted(const struct round *round,
                           const struct victim_rules *rules)
{
    const struct sched *sched = round->sched;

    return rules->level_max < 0 && !round->reserve.asking &&
           !round_has_terms(round) && !sched->is_preemption_off &&
           !lending_may_recall(round);
}

/* Those that may go of what is evicted on a node, without a look at the rest
 * of what runs there. */
static uint32_t add_evicted(const struct search *search, uint32_t index,
                            const struct victim_rules *rules,
                            struct victim *victims)
{
    const struct round *round = search->round;
    const struct sched *sched = round->sched;
    const struct node *node = &sched->nodes.items[index];
    const struct class *class = class_at(round, search->class_index);
    uint32_t first = node->evicted_end, count = 0;

    if (node->stamp != sched->stamp) {
        return 0;
    }
    ASSERT(node->evicted_first <= node->evicted_end);
    while (first > node->evicted_first &&
           round->evicted->runs[first - 1].ordinal + 1 >= rules->depth) {
        first--;
    }
    for (uint32_t i = first; i < node->evicted_end; i++) {
        const struct evicted_run *evicted_run = &round->evicted->runs[i];
        if (evicted_run->is_out &&
            evicted_run->level + rules->is_bound <= class->level &&
            !victim_is_own(evicted_run, rules->own, class)) {
            struct victim victim = of_evicted_run(round, evicted_run);
            add_victim(sched, victims, &count, &victim);
        }
    }
    return count;
}

/* Those that may go of all that runs on a node. */
static uint32_t add_any(const struct search *search, uint32_t node,
                        const struct victim_rules *rules,
                        struct victim *victims)
{
    struct round *round = search->round;
    struct sched *sched = round->sched;
    const struct class *class = class_at(round, search->class_index);
    bool has_terms = round_has_terms(round);
    uint32_t count = 0;

    for (uint32_t run = sched->nodes.items[node].run_first; run != NONE;
         run = sched->runs.items[run].node_next) {
        const struct run *item = &sched->runs.items[run];
        uint32_t gang = has_terms ? sched->jobs.items[item->job].gang : NONE;
        if (gang != NONE && gang_has_terms(&sched->gangs.items[gang])) {
            struct gang *group = &sched->gangs.items[gang];
            if (sub_groups_look(group, sched->collect_count)) {
                group_victims_add(search, node, group, rules, victims, &count);
            }
        } else if (is_permitted(round, item, class, rules)) {
            struct victim victim = of_run(round, item);
            victim.gang = sched->jobs.items[item->job].gang;
            add_victim(sched, victims, &count, &victim);
        }
    }
    return count;
}

/* All that may go on the node, those that best keep their place first. */
static struct victim *collect(const struct search *search, uint32_t node,
                              const struct victim_rules *rules,
                              uint32_t *ret_count)
{
    struct round *round = search->round;
    struct sched *sched = round->sched;

    sched->collect_count++;
    /* One more, for who has no victims is told from who may not go. */
    VEC_RESERVE(&round->searches->victims,
                sched->nodes.items[node].run_count + 1);
    struct victim *victims = round->searches->victims.items;

    uint32_t count = is_for_evicted(round, rules)
                         ? add_evicted(search, node, rules, victims)
                         : add_any(search, node, rules, victims);
    /* Pods that run there, or gangs of them. */
    ASSERT(count <= sched->nodes.items[node].run_count);
    budgets_mark(sched, victims, count);
    sort_victims(round, victims, count);
    if (rules->spares_groups) {
        put_gangs_first(victims, count);
    }
    *ret_count = count;
    return victims;
}

/* Surplus of a gang that breaks on this node goes with it, and leaves its
 * room; whether it did. */
static bool goes_with_gang(struct victim *victims, uint32_t count,
                           struct victim *victim)
{
    for (uint32_t i = 0;
         victim->gang == NONE && victim->group != NONE && i < count; i++) {
        if (victims[i].job != NONE && victims[i].gang == victim->group) {
            amounts_add(&victims[i].sum, &victim->sum);
            victim->job = NONE;
            return true;
        }
    }
    return false;
}

/* The extras that the job asks for, while victims go and stay. */
struct extras_choice {
    const struct class *class;
    i128 *left;  /* by extra */
    i128 *given; /* by victim and extra, what its going frees at least */
};

/* Whose going takes a job along; `count`: nobody's. */
static uint32_t victim_of(const struct sched *sched,
                          const struct victim *victims, uint32_t count,
                          uint32_t job)
{
    uint32_t gang = sched->jobs.items[job].gang, with_gang = count;

    for (uint32_t i = 0; i < count; i++) {
        if (victims[i].job == job) {
            return i;
        }
        with_gang = gang != NONE && victims[i].gang == gang ? i : with_gang;
    }
    return with_gang;
}

/* All victims go. */
static struct extras_choice choose_extras(const struct search *search,
                                          uint32_t node,
                                          const struct victim *victims,
                                          uint32_t count)
{
    struct round *round = search->round;
    const struct sched *sched = round->sched;
    struct extras_choice extras = {.class =
                                       class_at(round, search->class_index)};
    uint32_t n = extras.class->extra_count;

    if (n == 0) {
        return extras;
    }
    extras.left = arena_alloc_array(round->arena, n, sizeof(i128));
    extras.given =
        arena_alloc_array(round->arena, (size_t)count * n, sizeof(i128));
    extras_left(sched, node, extras.class, extras.left);
    for (uint32_t at = sched->nodes.items[node].run_first; at != NONE;
         at = sched->runs.items[at].node_next) {
        const struct run *run = &sched->runs.items[at];
        uint32_t v = run->state == RUN_PREEMPTED
                         ? count
                         : victim_of(sched, victims, count, run->job);
        if (v < count) {
            extras_sum_add(extras.given + (size_t)v * n, extras.class,
                           class_at(round, class_of_job(sched, run->job)));
        }
    }
    for (size_t i = 0; i < (size_t)count * n; i++) {
        extras.left[i % n] += extras.given[i];
    }
    return extras;
}

/* Whether the job has its extras, also when this victim (NONE: another) stays
 * after all. */
static bool has_extras(const struct extras_choice *extras, uint32_t victim)
{
    uint32_t n = extras->class->extra_count;

    for (uint32_t i = 0; i < n; i++) {
        i128 kept = victim == NONE ? 0 : extras->given[(size_t)victim * n + i];
        if (extras->left[i] - kept < extras->class->extras[i].amount) {
            return false;
        }
    }
    return true;
}

static void keep_extras(struct extras_choice *extras, uint32_t victim)
{
    uint32_t n = extras->class->extra_count;

    for (uint32_t i = 0; i < n; i++) {
        extras->left[i] -= extras->given[(size_t)victim * n + i];
    }
}

/* Take all of `victims` in mind, and give back those that there is room for
 * beside the job, from the first on; false: it has no room even so. */
static bool reprieve(const struct search *search, uint32_t node,
                     struct victim *victims, uint32_t count)
{
    struct round *round = search->round;
    const struct class *class = class_at(round, search->class_index);
    struct resource_vec room = round->sched->free[node];
    struct extras_choice extras = choose_extras(search, node, victims, count);
    bool breaks_gang = false;

    for (uint32_t i = 0; i < count; i++) {
        amounts_add(&room, &victims[i].sum);
    }
    if (!amounts_fit(&class->request, &room) || !has_extras(&extras, NONE)) {
        return false;
    }
    amounts_subtract(&room, &class->request);
    for (uint32_t i = 0; i < count; i++) {
        /* From the one that best keeps its place. */
        struct victim *victim = &victims[i];
        struct resource_vec none = {0}, rest = room;
        if (breaks_gang && goes_with_gang(victims, i, victim)) {
            continue;
        }
        amounts_subtract(&rest, &victim->sum);
        if (amounts_fit(&none, &rest) && has_extras(&extras, i) &&
            !victim->is_held) {
            room = rest;
            keep_extras(&extras, i);
            victim->job = NONE;
        }
        breaks_gang |= victim->job != NONE && victim->gang != NONE;
    }
    return true;
}

/* What those that go cost: 0 if none of them goes for fairness. */
static u128 sum_costs(const struct search *search, const struct victim *victims,
                      uint32_t count)
{
    bool is_any_charged = false;
    u128 sum = 0;

    for (uint32_t i = 0; i < count; i++) {
        const struct victim *victim = &victims[i];
        if (victim->job == NONE) {
            continue;
        }
        bool is_charged = affordable_is_charged(search, victim);
        is_any_charged |= is_charged;
        if (is_charged || victim->is_revocable) {
            sum += affordable_cost(search->round, victim);
        }
    }
    return is_any_charged ? sum : 0;
}

/* Who alone is too dear keeps its place; how many are left. */
static uint32_t drop_dear(const struct search *search, struct victim *victims,
                          uint32_t count, u128 budget)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < count; i++) {
        u128 cost = affordable_is_charged(search, &victims[i])
                        ? affordable_cost(search->round, &victims[i])
                        : 0;
        if (cost > budget) {
            affordable_note_short(search, budget, cost);
        } else {
            victims[kept++] = victims[i];
        }
    }
    return kept;
}

/* The dearest keep their places first. */
static void put_dear_first(struct round *round, struct victim *victims,
                           uint32_t count)
{
    for (uint32_t i = 1; i < count; i++) {
        struct victim item = victims[i];
        u128 cost = affordable_cost(round, &item);
        uint32_t at = i;
        for (; at > 0 && cost > affordable_cost(round, &victims[at - 1]);
             at--) {
            victims[at] = victims[at - 1];
        }
        victims[at] = item;
    }
}

/* The same where what goes for fairness has a price: those that cost most stay
 * first if those that would have gone cost too much. */
static bool reprieve_priced(const struct search *search, uint32_t node,
                            const struct victim_rules *rules,
                            struct victim *victims, uint32_t *count)
{
    *count = drop_dear(search, victims, *count, rules->budget);
    auto_mem struct victim *all = mem_alloc_array(*count + 1, sizeof(*all));
    memcpy(all, victims, *count * sizeof(*all));
    if (!reprieve(search, node, victims, *count)) {
        return false;
    }
    if (sum_costs(search, victims, *count) <= rules->budget) {
        return true;
    }
    memcpy(victims, all, *count * sizeof(*all));
    put_dear_first(search->round, victims, *count);
    (void)reprieve(search, node, victims, *count);
    u128 cost = sum_costs(search, victims, *count);
    if (cost > rules->budget) {
        affordable_note_short(search, rules->budget, cost);
    }
    return cost <= rules->budget;
}

const struct victim *victims_choose(const struct search *search, uint32_t node,
                                    const struct victim_rules *rules,
                                    uint32_t *ret_count)
{
    uint32_t count;
    struct victim *victims = collect(search, node, rules, &count);
    bool has_room = rules->is_priced
                        ? reprieve_priced(search, node, rules, victims, &count)
                        : reprieve(search, node, victims, count);

    *ret_count = count;
    return has_room ? victims : NULL;
}

const struct victim *victims_all(const struct search *search, uint32_t node,
                                 const struct victim_rules *rules,
                                 uint32_t *ret_count)
{
    const struct sched *sched = search->round->sched;
    struct resource_vec room = sched->free[node];
    struct victim *victims = collect(search, node, rules, ret_count);

    for (uint32_t i = 0; i < *ret_count; i++) {
        amounts_add(&room, &victims[i].sum);
        (void)goes_with_gang(victims, i, &victims[i]);
    }
    if (rules->is_priced) {
        u128 cost = sum_costs(search, victims, *ret_count);
        if (cost > rules->budget) {
            affordable_note_short(search, rules->budget, cost);
            return NULL;
        }
    }
    return memcmp(&room, &sched->nodes.items[node].capacity, sizeof(room)) == 0
               ? victims
               : NULL;
}
