/* For lending: which jobs wait without a place, and what is free (model.md
 * 5.5). */
#include <stdlib.h>

#include "sched/explain/round_robin.h"

/* More urgent first, then by queue; lists of one queue by their first work. */
static int compare_turns(const void *a, const void *b)
{
    const struct turn *x = a;
    const struct turn *y = b;

    if (x->list->level != y->list->level) {
        return x->list->level > y->list->level ? -1 : 1;
    }
    if (x->rank != y->rank) {
        return x->rank < y->rank ? -1 : 1;
    }
    return job_is_before(x->first, y->first)
               ? -1
               : job_is_before(y->first, x->first);
}

/* The first of a list that is not empty; of a gang the job that stands for
 * it. */
static const struct job *first_of(const struct sched *sched,
                                  const struct list *list)
{
    uint32_t item = seq_get(&list->seq, (struct seq_cursor){0});

    ASSERT(item != NONE && list->seq.count > 0);
    return &sched->jobs.items[list->class_index == NONE
                                  ? sched->gangs.items[item].position
                                  : item];
}

bool sched_job_may_borrow(const struct sched *sched, uint32_t job)
{
    uint32_t c = sched->lists.items[sched->jobs.items[job].list].class_index;
    uint32_t priority_class = sched->classes.items[c].priority_class;

    return sched->policy->classes[priority_class].may_borrow;
}

/* The job that stands for an item, or NONE when it is not to be lent. */
static uint32_t job_of_item(const struct sched *sched, const struct list *list,
                            uint32_t item)
{
    uint32_t job = item;

    if (list->class_index == NONE) {
        const struct gang *gang = &sched->gangs.items[item];
        if (gang->leased.count) {
            return NONE; /* growth does not borrow */
        }
        job = gang->position;
    }
    return sched->job_flags.items[job] & JOB_PLANNED ||
                   !sched_job_may_borrow(sched, job)
               ? NONE
               : job;
}

uint32_t turn_take(const struct sched *sched, struct turn *turn)
{
    while (!turn->is_over) {
        turn->is_over = seq_is_end(&turn->list->seq, turn->at);
        if (!turn->is_over) {
            uint32_t job = job_of_item(sched, turn->list,
                                       seq_get(&turn->list->seq, turn->at));
            seq_next(&turn->list->seq, &turn->at);
            ASSERT(job == NONE || sched->jobs.items[job].run == NONE);
            if (job != NONE) {
                return job;
            }
        }
    }
    return NONE;
}

/* Whether nothing of a list may be lent: all of it are of one class. */
static bool is_kept_home(const struct sched *sched, const struct list *list)
{
    uint32_t c = list->class_index;

    return c != NONE &&
           !sched->policy->classes[sched->classes.items[c].priority_class]
                .may_borrow;
}

static void collect(struct sched *sched, struct turns *turns)
{
    for (size_t i = 0; i < sched->lists.count; i++) {
        const struct list *list = &sched->lists.items[i];
        if (list->use_count == 0 || list->is_borrowed || list->seq.count == 0 ||
            sched->queues.items[list->queue].is_cordoned ||
            is_kept_home(sched, list)) {
            continue;
        }
        ASSERT(turns->count < sched->lists.count);
        turns->items[turns->count++] = (struct turn){
            .list = list,
            .first = first_of(sched, list),
            .rank = sched->queues.items[list->queue].rank,
        };
    }
    if (turns->count) {
        qsort(turns->items, turns->count, sizeof(*turns->items), compare_turns);
    }
}

/* Of lists that are equally urgent each gives one in turn; the first
 * `skip_count` are passed over. */
static uint32_t hand_out(struct turns *turns, uint32_t skip_count,
                         uint32_t count_max, uint32_t *ret_jobs)
{
    uint32_t count = 0;

    for (uint32_t begin = 0, end; begin < turns->count; begin = end) {
        bool is_more = true;
        end = begin;
        while (end < turns->count && turns->items[end].list->level ==
                                         turns->items[begin].list->level) {
            end++;
        }
        uint32_t from = begin, skipped = 0;
        if (skip_count > 0) {
            from = turns_skip(turns, begin, end, skip_count, &skipped);
            skip_count -= skipped;
            is_more = from < end;
        }
        while (is_more && count < count_max) {
            is_more = false;
            for (uint32_t i = from; i < end && count < count_max; i++) {
                uint32_t job = turn_take(turns->sched, &turns->items[i]);
                is_more |= job != NONE;
                if (job != NONE) {
                    ret_jobs[count++] = job;
                }
            }
            from = begin;
        }
    }
    ASSERT(count <= count_max);
    return count;
}

/* Mark what the last plan decides to start or fail. */
static void mark(struct sched *sched, bool is_marked)
{
    for (size_t i = 0; i < sched->decisions.count; i++) {
        const struct sched_decision *decision = &sched->decisions.items[i];
        uint8_t *flags = &sched->job_flags.items[decision->job];
        if (decision->action == SCHED_LEASE || decision->action == SCHED_FAIL) {
            *flags = is_marked ? *flags | JOB_PLANNED
                               : (uint8_t)(*flags & ~JOB_PLANNED);
        }
    }
}

uint32_t sched_lend_candidates(struct sched *sched, uint32_t skip_count,
                               uint32_t count_max, uint32_t *ret_jobs)
{
    struct turns turns = {
        .sched = sched,
        .items = mem_alloc_array(sched->lists.count + 1, sizeof(struct turn)),
    };

    queues_sync(sched);
    mark(sched, true);
    collect(sched, &turns);
    uint32_t count = hand_out(&turns, skip_count, count_max, ret_jobs);
    mark(sched, false);
    mem_free(turns.items);
    return count;
}
