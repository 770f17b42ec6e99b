/* Older applications of a queue go first, also where there is no room for them
 * (model.md 3.5): their first job or gang without room has a reservation, the
 * pool's or else one of the queue, and other work passes it by the backfill
 * test or waits. */
#include "sched/order/unmet.h"
#include "sched/reserve/reserve.h"

/* Make the reservation; what it is for does not count in its lane then. */
static void make(struct round *round, struct order_hold *hold,
                 const struct claim *claim)
{
    const struct sched *sched = round->sched;
    bool is_counted = claim->serial != 0;
    const struct resource_vec *request =
        claim->is_gang
            ? &sched->gangs.items[claim->item].waiting_sum
            : &class_at(round, class_of_job(sched, claim->job))->request;

    if (is_counted) {
        amounts_subtract(&claim->lane->all, request);
    }
    if (!reserve_make(round, claim, &hold->reservation)) {
        hold->reservation.node_count = 0;
    }
    if (is_counted) {
        amounts_add(&claim->lane->all, request);
    }
    hold->reservation.is_unlisted = !is_counted;
    hold->is_made = true;
}

struct reservation *order_hold(struct round *round, struct lane *lane,
                               uint32_t list)
{
    const struct claim *claim = order_older(round, lane, list);

    if (!claim) {
        return NULL;
    }
    ASSERT(claim->lane == lane);
    struct order_hold *hold = lane->hold;
    if (!hold->is_made) {
        make(round, hold, claim);
    }
    /* What is more urgent goes beside it anywhere. */
    bool binds =
        hold->reservation.node_count &&
        round->sched->lists.items[list].level <= hold->reservation.level;
    return binds ? &hold->reservation : NULL;
}
