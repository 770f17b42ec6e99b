/* Hands out waiting work in turns, and skips many jobs at once. */
#include "sched/explain/round_robin.h"

#include <stdlib.h>

/* A job of a list that is not given: the last plan decides on it. */
struct gap {
    const struct list *list;
    struct seq_cursor at;
};

/* What a list has to give. */
struct supply {
    uint32_t count;
    uint32_t gap_first, gap_count; /* of the sorted gaps */
};

static int compare_gaps(const void *a, const void *b)
{
    const struct gap *x = a, *y = b;

    if (x->list != y->list) {
        return x->list < y->list ? -1 : 1; /* of one array */
    }
    if (x->at.block != y->at.block) {
        return x->at.block < y->at.block ? -1 : 1;
    }
    return x->at.offset < y->at.offset ? -1 : x->at.offset > y->at.offset;
}

/* The planned jobs that still stand in lists by themselves, in order; a plan
 * decides once on each. */
static struct gap *find_gaps(const struct sched *sched, size_t *ret_count)
{
    struct gap *gaps =
        mem_alloc_array(sched->decisions.count + 1, sizeof(*gaps));
    size_t count = 0;

    for (size_t i = 0; i < sched->decisions.count; i++) {
        uint32_t index = sched->decisions.items[i].job;
        const struct job *job = &sched->jobs.items[index];
        enum sched_action action = sched->decisions.items[i].action;
        bool is_gone = job->list == LIST_NONE; /* since the plan was made */
        if (is_gone || job->gang != NONE ||
            (action != SCHED_LEASE && action != SCHED_FAIL)) {
            continue;
        }
        const struct list *list = &sched->lists.items[job->list];
        struct seq_cursor at;
        if (seq_find(&list->seq, index, job_less, sched, &at)) {
            gaps[count++] = (struct gap){list, at};
        }
    }
    if (count) {
        qsort(gaps, count, sizeof(*gaps), compare_gaps);
    }
    *ret_count = count;
    return gaps;
}

static uint32_t first_gap(const struct gap *gaps, size_t count,
                          const struct list *list)
{
    size_t low = 0;

    while (low < count) {
        size_t middle = low + (count - low) / 2;
        if (gaps[middle].list < list) {
            low = middle + 1;
        } else {
            count = middle;
        }
    }
    return (uint32_t)low;
}

/* Gangs are few, and each is looked at; so is nothing else. */
static uint32_t count_gangs(const struct sched *sched, const struct turn *turn)
{
    struct turn ahead = *turn;
    uint32_t count = 0;

    while (turn_take(sched, &ahead) != NONE) {
        count++;
    }
    return count;
}

static struct supply *measure(const struct turns *turns, uint32_t begin,
                              uint32_t end, const struct gap *gaps,
                              size_t gap_count)
{
    struct supply *supplies =
        mem_alloc_array((size_t)(end - begin) + 1, sizeof(*supplies));

    for (uint32_t i = begin; i < end; i++) {
        const struct list *list = turns->items[i].list;
        struct supply *supply = &supplies[i - begin];
        if (list->class_index == NONE) {
            supply->count = count_gangs(turns->sched, &turns->items[i]);
            continue;
        }
        supply->gap_first = first_gap(gaps, gap_count, list);
        while (supply->gap_first + supply->gap_count < gap_count &&
               gaps[supply->gap_first + supply->gap_count].list == list) {
            supply->gap_count++;
        }
        /* A job has one gap, in its list. */
        ASSERT(supply->gap_count <= list->seq.count);
        supply->count = list->seq.count - supply->gap_count;
    }
    return supplies;
}

/* What lists have given after so many whole rounds. */
static uint64_t given(const struct supply *supplies, uint32_t count,
                      uint32_t rounds)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < count; i++) {
        sum += supplies[i].count < rounds ? supplies[i].count : rounds;
    }
    return sum;
}

/* The most whole rounds that give no more than `limit`, less than all. */
static uint32_t whole_rounds(const struct supply *supplies, uint32_t count,
                             uint32_t limit)
{
    uint32_t low = 0, high = limit;

    while (low < high) {
        uint32_t middle = high - (high - low) / 2;
        if (given(supplies, count, middle) <= limit) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    return low;
}

/* Move on by blocks, and past the gaps between what is given. */
static void pass(const struct sched *sched, struct turn *turn, uint32_t count,
                 const struct supply *supply, const struct gap *gaps)
{
    const struct seq *seq = &turn->list->seq;
    const struct gap *gap = gaps + supply->gap_first;
    const struct gap *gaps_end = gap + supply->gap_count;

    if (turn->list->class_index == NONE) {
        while (count-- > 0) {
            (void)turn_take(sched, turn);
        }
        return;
    }
    while (count > 0) {
        uint32_t in_block = seq->blocks[turn->at.block].count;
        const struct gap *next = gap;
        while (next < gaps_end && next->at.block == turn->at.block) {
            next++;
        }
        uint32_t to_give = in_block - (uint32_t)(next - gap);
        if (to_give > count) {
            break;
        }
        count -= to_give;
        gap = next;
        turn->at = (struct seq_cursor){.block = turn->at.block + 1};
    }
    while (count-- > 0) {
        (void)turn_take(sched, turn);
    }
}

uint32_t turns_skip(struct turns *turns, uint32_t begin, uint32_t end,
                    uint32_t skip_count, uint32_t *ret_skipped)
{
    uint32_t count = end - begin, next = end;
    size_t gap_count;
    auto_mem struct gap *gaps = find_gaps(turns->sched, &gap_count);
    auto_mem struct supply *supplies =
        measure(turns, begin, end, gaps, gap_count);
    uint64_t all = given(supplies, count, UINT32_MAX);

    if (all <= skip_count) {
        *ret_skipped = (uint32_t)all;
        return end;
    }
    ASSERT(begin < end); /* nothing gives nothing */
    uint32_t rounds = whole_rounds(supplies, count, skip_count);
    uint64_t rest = skip_count - given(supplies, count, rounds);
    for (uint32_t i = 0; i < count; i++) {
        struct supply *supply = &supplies[i];
        bool has_more = supply->count > rounds;
        uint32_t gone = has_more ? rounds + (rest > 0) : supply->count;
        if (has_more && rest == 0 && next == end) {
            next = begin + i;
        }
        rest -= has_more && rest > 0;
        pass(turns->sched, &turns->items[begin + i], gone, supply, gaps);
    }
    ASSERT(rest == 0 && next < end); /* some list has more to give */
    *ret_skipped = skip_count;
    return next;
}
