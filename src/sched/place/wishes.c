#include "sched/place/wishes.h"

#include "sched/state/node_shapes.h"

/* A taint counts more than all preferences together. */
enum { TAINT_COST = PREFERENCES_MAX * PREFERENCE_WEIGHT_MAX + 1 };

static const int64_t UNKNOWN = INT64_MIN;

bool wishes_has(const struct search *search)
{
    const struct sched *sched = search->round->sched;

    return (sched->soft_node_count > 0 ||
            class_at(search->round, search->class_index)->has_wishes) &&
           sched->policy->rules_revision >= POLICY_RULES_WISHES;
}

static const struct requirement *requirement_of(const struct search *search)
{
    struct round *round = search->round;
    struct class *class = class_at(round, search->class_index);

    if (!class->requirement) {
        class->requirement =
            class_decode(round->sched, search->class_index, round->arena);
    }
    return class->requirement;
}

static int64_t compute(const struct requirement *requirement,
                       const struct node_record *record)
{
    int64_t score = 0;

    for (uint32_t i = 0; i < requirement->preference_count; i++) {
        const struct preference *preference = &requirement->preferences[i];
        if (affinity_term_matches(&preference->term, record->labels,
                                  record->label_count, record->name)) {
            score += preference->weight;
        }
    }
    for (uint32_t i = 0; i < record->taint_count; i++) {
        bool is_soft = record->taints[i].effect == TAINT_PREFER_NO_SCHEDULE;
        for (uint32_t t = 0; is_soft && t < requirement->toleration_count;
             t++) {
            is_soft = !toleration_matches(&requirement->tolerations[t],
                                          &record->taints[i]);
        }
        score -= is_soft ? TAINT_COST : 0;
    }
    return score;
}

/* Where the class notes its scores, by kind; NULL: nowhere. */
static int64_t *notes_of(const struct search *search)
{
    struct round *round = search->round;
    struct class *class = class_at(round, search->class_index);

    if (!class->wishes && !class->asks_names &&
        round->kinds_bytes < NODE_SHAPES_BYTES_MAX) {
        size_t count = node_shapes_count(round->sched);
        class->wishes =
            arena_alloc_array(round->arena, count, sizeof(*class->wishes));
        for (size_t i = 0; i < count; i++) {
            class->wishes[i] = UNKNOWN;
        }
        round->kinds_bytes += count * sizeof(*class->wishes);
    }
    return class->wishes;
}

int64_t wishes_score(const struct search *search, uint32_t node)
{
    struct round *round = search->round;
    const struct node_record *record = round->sched->nodes.items[node].record;
    int64_t *notes = notes_of(search);
    int64_t *known = notes ? &notes[round->sched->kinds_of[node]] : NULL;

    ASSERT(record);
    if (known && *known != UNKNOWN) {
        return *known;
    }
    const struct requirement *requirement = requirement_of(search);
    int64_t score = compute(requirement, record);
    round->counters->nodes_examined += requirement->preference_count;
    if (known) {
        *known = score;
    }
    return score;
}

/* No node is liked better. */
static int64_t score_max(const struct search *search)
{
    const struct requirement *requirement = requirement_of(search);
    int64_t sum = 0;

    for (uint32_t i = 0; i < requirement->preference_count; i++) {
        sum += requirement->preferences[i].weight;
    }
    return sum;
}

struct choice {
    struct search search;
    uint64_t key;
    uint32_t node;
    int64_t score, score_max;
};

/* A better one becomes the choice; whether none can be better still. */
static bool take_better(void *context, uint32_t node)
{
    struct choice *choice = context;
    const struct sched *sched = choice->search.round->sched;

    if (sched->nodes.items[node].key != choice->key) {
        return true; /* where there is no key_max, for a key of 0 */
    }
    int64_t score = wishes_score(&choice->search, node);
    if (score > choice->score && place_allows(&choice->search, node)) {
        choice->score = score;
        choice->node = node;
    }
    return choice->score == choice->score_max;
}

uint32_t wishes_choose(const struct search *search, uint32_t first)
{
    struct round *round = search->round;
    struct class *class = class_at(round, search->class_index);
    uint64_t key = round->sched->nodes.items[first].key;
    struct choice choice = {
        .search = *search,
        .key = key,
        .node = first,
        .score = wishes_score(search, first),
        .score_max = score_max(search),
    };
    struct node_query query = {
        .request = &class->request,
        .key_min = key,
        .rank_min = round->sched->ranks[first] + 1,
        .key_max = key,
        .kinds = place_kinds(round, class),
        .match = take_better,
        .context = &choice,
    };

    if (choice.score < choice.score_max) {
        (void)node_index_find(&round->pool->index, &query,
                              &round->counters->nodes_examined);
    }
    return choice.node;
}
