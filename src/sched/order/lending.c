#include "sched/order/lending.h"

#include "sched/order/lanes.h"
#include "sched/order/sweep_undo.h"

bool lending_missed(const struct round *round, const struct class *class)
{
    return round->is_resumed &&
           class->lent_sweep[round->kind] == round->sweep_id;
}

void lending_begin(struct round *round)
{
    ASSERT(!round->is_lending); /* borrowed work has one pass a round */
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

void lending_miss(const struct round *round, struct class *class)
{
    if (!round_is_what_if(round)) {
        sweep_stamp_class(round, class, SWEEP_CLASS_LENT);
    }
}
