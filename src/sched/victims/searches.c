#include "sched/victims/searches.h"

#include "sched/victims/urgency_index.h"

void searches_begin(struct round *round)
{
    round->searches = arena_alloc(round->arena, sizeof(*round->searches));
}

void searches_end(struct round *round)
{
    urgent_forget(round);
    VEC_FREE(&round->searches->touched);
    VEC_FREE(&round->searches->victims);
    VEC_FREE(&round->searches->pods);
}
