/* For lending: whether a pool has own work that waits, and room for a class. */
#include "sched/state/extras.h"
#include "sched/state/floating.h"
#include "sched/state/nodes.h"
#include "sched/victims/away.h"

/* Nodes looked at for work that never fits; the rest is taken to wait. */
enum { OWN_LOOKS_MAX = 1 << 16 };

/* Whether some of a list's work could start if there were room. */
static bool list_waits(struct sched *sched, const struct list *list,
                       uint32_t *looks)
{
    if (list->class_index != NONE) {
        /* All of it ask for the same. */
        uint32_t job = seq_get(&list->seq, (struct seq_cursor){0});
        return sched_has_place(sched, job, looks);
    }
    for (struct seq_cursor at = {0}; !seq_is_end(&list->seq, at);
         seq_next(&list->seq, &at)) {
        struct gang *gang = &sched->gangs.items[seq_get(&list->seq, at)];
        if (gang->leased.count == 0 &&
            (*looks > OWN_LOOKS_MAX || gang_could_start(sched, gang, looks))) {
            return true;
        }
    }
    return false;
}

bool sched_has_own_waiting(struct sched *sched)
{
    uint32_t looks = 0;

    for (size_t i = 0; i < sched->lists.count; i++) {
        const struct list *list = &sched->lists.items[i];
        if (list->use_count > 0 && !list->is_borrowed && list->seq.count > 0 &&
            (looks > OWN_LOOKS_MAX || list_waits(sched, list, &looks))) {
            return true;
        }
    }
    return false;
}

/* How many of a request are in an amount, at most `max`. */
static uint32_t times(const struct resource_vec *free,
                      const struct resource_vec *request, uint32_t max)
{
    int64_t count = max;

    for (int r = 0; r < RESOURCE_COLUMNS_MAX; r++) {
        if (request->v[r] > 0) {
            int64_t here = free->v[r] > 0 ? free->v[r] / request->v[r] : 0;
            count = here < count ? here : count;
        }
    }
    ASSERT(count >= 0 && count <= max);
    return (uint32_t)count;
}

bool sched_class_fits(const struct sched *sched, uint32_t class_index,
                      uint32_t count)
{
    const struct class *class = &sched->classes.items[class_index];
    auto_arena arena = {0};
    const struct requirement *requirement =
        class_decode(sched, class_index, &arena);
    uint32_t found = 0;

    for (uint32_t i = 0; i < sched->nodes.count && found < count; i++) {
        if (!sched->nodes.items[i].is_accepting) {
            continue;
        }
        uint32_t here = times(&sched->free[i], &class->request, count - found);
        here = extras_times(sched, i, class, here);
        if (here && match_static(sched, requirement, i) == SCHED_EXCLUSIONS) {
            found += here;
        }
    }
    ASSERT(found <= count);
    return found >= count && !class->is_impossible;
}

bool sched_has_place_at(const struct sched *sched, uint32_t job,
                        const struct sched_elsewhere *there,
                        uint32_t *ret_looks)
{
    const struct sched *at = there->sched;
    uint32_t own = sched->lists.items[sched->jobs.items[job].list].class_index;
    uint32_t class_index = there->class_of(there->context, own);
    const struct class *class = &at->classes.items[class_index];
    uint32_t wanted = NONE;
    auto_arena arena = {0};
    const struct requirement *requirement =
        class_decode(at, class_index, &arena);

    if (there->pool.byte_count) {
        wanted = intern_find(at->pool_names, there->pool);
        if (wanted == INTERN_NONE) {
            return false; /* no node is in it */
        }
    }
    for (uint32_t i = 0; i < at->nodes.count && !class->is_impossible; i++) {
        const struct node *node = &at->nodes.items[i];
        (*ret_looks)++;
        if (!node->record || !pool_is_for(at, node->pool, wanted) ||
            !amounts_fit(&class->request, &node->capacity) ||
            extras_times_empty(at, i, class, 1) == 0 ||
            !floating_may_fit(at, node->pool, &class->request)) {
            continue;
        }
        if (away_match(at, requirement, class_index, i) == SCHED_EXCLUSIONS) {
            return true;
        }
    }
    return false;
}

struct resource_vec sched_idle(const struct sched *sched)
{
    struct resource_vec idle = {0};

    for (uint32_t i = 0; i < sched->nodes.count; i++) {
        if (sched->nodes.items[i].is_accepting) {
            for (int r = 0; r < RESOURCE_COLUMNS_MAX; r++) {
                idle.v[r] +=
                    sched->free[i].v[r] > 0 && !sched->policy->is_floating[r]
                        ? sched->free[i].v[r]
                        : 0;
            }
        }
    }
    return idle;
}
