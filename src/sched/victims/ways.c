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

enum way ways_find(struct search *search, unsigned ways, uint32_t *ret_node)
{
    for (size_t i = 0; i < sizeof(ORDER) / sizeof(*ORDER); i++) {
        uint32_t node = ways & ORDER[i].way ? ORDER[i].find(search) : NONE;
        if (node != NONE) {
            *ret_node = node;
            return ORDER[i].way;
        }
    }
    *ret_node = NONE;
    return WAY_NONE;
}
