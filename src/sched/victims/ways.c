#include "sched/victims/ways.h"

#include "sched/place/place.h"
#include "sched/victims/away.h"
#include "sched/victims/victims.h"

static uint32_t find_here(struct search *search)
{
    return place_find(search);
}

static uint32_t find_victims(struct search *search)
{
    return victims_find(search);
}

static const struct {
    enum way way;
    uint32_t (*find)(struct search *search);
} ORDER[] = {
    {WAY_HERE, find_here},
    {WAY_AWAY, away_find},
    {WAY_PREEMPTING, find_victims},
    {WAY_AWAY_PREEMPTING, away_find_victims},
};

/* Whether what is reserved lets the job take its place only since others may
 * lose theirs to it there. */
static bool is_owing(const struct search *search, enum way way, uint32_t node)
{
    const struct round *round = search->round;
    const struct reservation *hold = round->reserve.hold;
    const struct class *class = class_at(round, search->class_index);

    return (way & WAYS_PREEMPTING) && hold && hold->is_priced &&
           reserve_pass(round, hold, class, node) == BACKFILL_NO &&
           reserve_pass_for_share(round, hold, class, node) ==
               BACKFILL_REVOCABLE;
}

enum way ways_find(struct search *search, unsigned ways, uint32_t *ret_node)
{
    search->round->reserve.owing = NONE;
    for (size_t i = 0; i < sizeof(ORDER) / sizeof(*ORDER); i++) {
        uint32_t node = ways & ORDER[i].way ? ORDER[i].find(search) : NONE;
        if (node != NONE) {
            if (is_owing(search, ORDER[i].way, node)) {
                search->round->reserve.owing = search->job;
            }
            *ret_node = node;
            return ORDER[i].way;
        }
    }
    *ret_node = NONE;
    return WAY_NONE;
}
