/* Whether a node may run a job: labels and taints, avoided nodes, reserved
 * nodes. */
#include "sched/place/exclusive_node.h"
#include "sched/place/gpu_nodes.h"
#include "sched/place/place.h"
#include "sched/state/away_variants.h"
#include "sched/state/extras.h"
#include "sched/state/node_shapes.h"
#include "sched/state/windows.h"

/* Ask about labels and taints themselves. */
static bool is_static_match(const struct search *search, uint32_t index)
{
    struct round *round = search->round;
    struct class *class = class_at(round, search->class_index);

    if (!class->requirement) {
        class->requirement =
            class_decode(round->sched, search->class_index, round->arena);
    }
    round->counters->nodes_examined += class->match_work;
    return match_static(round->sched, class->requirement, index) ==
               SCHED_EXCLUSIONS &&
           (!class->is_away || away_is_of_type(round->sched, class, index));
}

uint64_t *place_kinds(struct round *round, struct class *class)
{
    size_t words = node_shapes_word_count(round->sched);

    if (!class->kinds && !class->asks_names &&
        round->kinds_bytes < NODE_SHAPES_BYTES_MAX) {
        class->kinds =
            arena_alloc_array(round->arena, words, sizeof(*class->kinds));
        round->kinds_bytes += words * sizeof(*class->kinds);
    }
    return class->kinds;
}

/* Whether labels and taints allow the class on a node's kind, and nobody whom
 * such nodes are kept for. */
static bool is_allowed_kind(const struct search *search, uint32_t index)
{
    struct round *round = search->round;

    return is_static_match(search, index) &&
           !(round->gpus &&
             gpu_nodes_keep_kind(round->gpus, search->class_index, index,
                                 &round->counters->nodes_examined));
}

/* Likewise, by what the class remembers of kinds. */
static bool is_kind_match(const struct search *search, uint32_t index)
{
    struct round *round = search->round;
    uint32_t kind = round->sched->kinds_of[index];
    uint64_t *kinds = place_kinds(round, class_at(round, search->class_index));

    if (!kinds) {
        return is_static_match(search, index);
    }
    uint32_t shift = kind % 32 * 2;
    uint64_t *word = &kinds[kind / 32];
    if (!(*word >> shift & 1)) {
        *word |= (uint64_t)(is_allowed_kind(search, index) ? 3 : 1) << shift;
    }
    return *word >> shift & 2;
}

bool place_matches_class(const struct search *search, uint32_t index)
{
    struct round *round = search->round;
    const struct node *node = &round->sched->nodes.items[index];
    const struct class *class = class_at(round, search->class_index);

    if (!node->is_accepting || node->pool != round->p ||
        (node->is_on_trial && node->trial_plan == round->sched->plan_count)) {
        return false;
    }
    if (windows_bar(round->sched, class, index, round->now_ms)) {
        return false;
    }
    bool is_any =
        class->is_plain && !node->taint_set && !class->is_away && !round->gpus;
    return (is_any || is_kind_match(search, index)) &&
           !(round->gpus &&
             gpu_nodes_keep(round->gpus, search->class_index, index,
                            &round->counters->nodes_examined));
}

bool place_matches_ever(const struct search *search, uint32_t index)
{
    return place_matches_class(search, index) &&
           !job_avoids(search->round->sched, search->job, index);
}

bool place_matches(const struct search *search, uint32_t index)
{
    return place_matches_ever(search, index) &&
           !exclusive_node_bars(search->round, search->job, index);
}

bool place_is_special(const struct search *search)
{
    const struct round *round = search->round;
    const struct sched *sched = round->sched;

    return round->reserve.own ||
           (sched->job_flags.items[search->job] & JOB_AVOIDS) ||
           (exclusive_is_any(sched) &&
            sched->jobs.items[search->job].gang != NONE &&
            exclusive_node_is_for(
                &sched->gangs.items[sched->jobs.items[search->job].gang]));
}

/* Whether growth keeps off a node for work that asks for its GPUs.  That is
 * only said late in a round, so what was learnt before still holds; what is
 * learnt by it, see note_keeping(). */
static bool is_kept(const struct search *search, uint32_t index)
{
    const struct sched *sched = search->round->sched;
    const struct resource_vec *request =
        &class_at(search->round, search->class_index)->request;
    int64_t has = 0, asks = 0;

    for (uint32_t r = 0; r < RESOURCE_COLUMNS_MAX; r++) {
        if (sched->gpu_columns >> r & 1) {
            has |= sched->nodes.items[index].capacity.v[r];
            asks |= request->v[r];
        }
    }
    return has > 0 && asks <= 0;
}

bool place_passes(const struct search *search, uint32_t index)
{
    struct round *round = search->round;
    const struct class *class = class_at(round, search->class_index);

    if (round->is_growth_off_gpus && is_kept(search, index)) {
        return false;
    }
    bool passes =
        reserve_pass(round, round->reserve.hold, class, index) != BACKFILL_NO &&
        !(round->reserve.is_for_share &&
          reserve_is_soon(round, class, index)) &&
        reserve_pass(round, round->reserve.own, class, index) != BACKFILL_NO &&
        !exclusive_node_is_kept(round, search->job, search->class_index, index);
    round->reserve.has_refused |= !passes;
    return passes;
}

bool place_allows(const struct search *search, uint32_t index)
{
    return place_matches(search, index) && place_passes(search, index) &&
           extras_fit(search->round->sched, index,
                      class_at(search->round, search->class_index));
}

bool place_allows_evicting(const struct search *search, uint32_t index)
{
    const struct sched *sched = search->round->sched;

    return exclusive_node_is_given(sched, index)
               ? place_allows(search, index)
               : place_matches_ever(search, index) &&
                     place_passes(search, index);
}
