#include "sched/victims/away.h"

#include "sched/order/round.h"
#include "sched/place/place.h"
#include "sched/victims/victims.h"

/* Whether labels and taints allow any variant of a class on a node. */
static bool is_variant_allowed(const struct sched *sched, uint32_t class_index,
                               uint32_t node)
{
    uint32_t variant = sched->classes.items[class_index].variant;

    for (; variant != NONE; variant = sched->classes.items[variant].variant) {
        auto_arena arena = {0};
        if (away_is_of_type(sched, &sched->classes.items[variant], node) &&
            match_static(sched, class_decode(sched, variant, &arena), node) ==
                SCHED_EXCLUSIONS) {
            return true;
        }
    }
    return false;
}

enum sched_exclusion away_match(const struct sched *sched,
                                const struct requirement *requirement,
                                uint32_t class_index, uint32_t node)
{
    enum sched_exclusion why = match_static(sched, requirement, node);

    return why == SCHED_EXCLUDED_TAINT &&
                   is_variant_allowed(sched, class_index, node)
               ? SCHED_EXCLUSIONS
               : why;
}

/* Searching. */

typedef uint32_t find_fn(const struct search *search);

static uint32_t find_with(struct search *search, find_fn *find)
{
    struct round *round = search->round;
    uint32_t base = search->class_index;
    uint32_t node = NONE;

    for (uint32_t at = class_at(round, base)->variant;
         node == NONE && at != NONE; at = class_at(round, at)->variant) {
        search->class_index = at;
        node = find(search);
    }
    if (node == NONE) {
        search->class_index = base;
    }
    return node;
}

uint32_t away_find(struct search *search)
{
    return find_with(search, place_find);
}

uint32_t away_find_victims(struct search *search)
{
    return find_with(search, victims_find);
}

bool away_victims_may_be(const struct search *search)
{
    struct search there = *search;
    uint32_t at = class_at(search->round, search->class_index)->variant;

    for (; at != NONE; at = class_at(search->round, at)->variant) {
        there.class_index = at;
        if (victims_may_be(&there)) {
            return true;
        }
    }
    return false;
}
