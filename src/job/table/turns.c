/* Jobs of a queue of which no more than a number are planned or run at once:
 * one that has the turn has it until it ends, and then the oldest that waits
 * gets it.  A turn costs a heap's step, and nothing where no job has a group.
 */
#include "base/heap.h"
#include "job/table/jobs_private.h"

static bool is_older(const struct jobs *jobs, const struct turn_item *a,
                     const struct turn_item *b)
{
    (void)jobs;
    return key128_compare(a->id.v, b->id.v) < 0;
}

DEFINE_HEAP(turns, struct turn_item, 4, const struct jobs *, is_older,
            HEAP_PLAIN);

/* The row of a group of the job's queue; a new one, of that limit, if there is
 * none. */
static uint32_t find_or_make(struct jobs *jobs, uint32_t job, struct str group,
                             uint32_t limit)
{
    struct str queue, job_set;
    auto_strbuf name = {0};

    set_get(jobs, jobs->rows.items[job].set, &queue, &job_set);
    strbuf_add_str(&name, queue);
    strbuf_add_char(&name, '\0');
    strbuf_add_str(&name, group);
    uint32_t text = intern_add(&jobs->strings, strbuf_str(&name));
    uint32_t turn = map_find(&jobs->turn_of, (struct key128){0, text});
    if (turn != MAP_NONE) {
        intern_unref(&jobs->strings, text);
        return turn;
    }
    turn = SLOTS_TAKE(&jobs->turns);
    jobs->turns.items[turn] = (struct turn_row){.name = text, .limit = limit};
    (void)map_put(&jobs->turn_of, (struct key128){0, text}, turn);
    return turn;
}

/* Whether an item is still a job that waits for the group's turn. */
static bool is_waiting(const struct jobs *jobs, uint32_t turn,
                       const struct turn_item *item)
{
    if (!jobs_is_live(jobs, item->job) ||
        !jobs_has_id(jobs, item->job, item->id) ||
        jobs->rows.items[item->job].extra == JOBS_NONE) {
        return false;
    }
    const struct extra_row *extra =
        &jobs->extras.items[jobs->rows.items[item->job].extra];
    return extra->turn == turn && !extra->has_turn;
}

static void join(struct jobs *jobs, uint32_t job, uint32_t turn, bool has_turn)
{
    struct extra_row *extra = extra_of(jobs, job);
    struct turn_row *row = &jobs->turns.items[turn];

    extra->turn = turn;
    extra->has_turn = has_turn;
    row->member_count++;
    row->busy_count += has_turn;
    if (!has_turn) {
        struct turn_item item = {jobs->rows.items[job].id, job};
        VEC_PUSH(&row->waiting, item);
        turns_rise(jobs, row->waiting.items, row->waiting.count - 1, item);
    }
}

/* Give the turn to the jobs that have waited longest, as far as there is room.
 */
static void grant(struct jobs *jobs, uint32_t turn)
{
    struct turn_row *row = &jobs->turns.items[turn];

    while (row->busy_count < row->limit && row->waiting.count > 0) {
        struct turn_item item = row->waiting.items[0];
        turns_remove(jobs, row->waiting.items, --row->waiting.count, 0);
        if (is_waiting(jobs, turn, &item)) {
            extra_of(jobs, item.job)->has_turn = true;
            row->busy_count++;
            jobs_mark_dirty(jobs, item.job);
        }
    }
}

bool turns_begin(struct jobs *jobs, uint32_t job,
                 const struct job_digest *digest)
{
    if (digest->turn_limit == 0) {
        return false;
    }
    uint32_t turn =
        find_or_make(jobs, job, digest->turn_group, digest->turn_limit);
    const struct turn_row *row = &jobs->turns.items[turn];
    bool has_turn = row->busy_count < row->limit;
    join(jobs, job, turn, has_turn);
    return !has_turn;
}

void turns_restore(struct jobs *jobs, uint32_t job, struct str group,
                   uint32_t limit, bool has_turn)
{
    join(jobs, job, find_or_make(jobs, job, group, limit), has_turn);
}

void turns_leave(struct jobs *jobs, uint32_t job)
{
    uint32_t index = jobs->rows.items[job].extra;
    uint32_t turn =
        index == JOBS_NONE ? JOBS_NONE : jobs->extras.items[index].turn;

    if (turn == JOBS_NONE) {
        return;
    }
    struct turn_row *row = &jobs->turns.items[turn];
    row->busy_count -= jobs->extras.items[index].has_turn;
    jobs->extras.items[index].turn = JOBS_NONE;
    jobs->extras.items[index].has_turn = false;
    if (--row->member_count > 0) {
        grant(jobs, turn);
        return;
    }
    (void)map_remove(&jobs->turn_of, (struct key128){0, row->name});
    intern_unref(&jobs->strings, row->name);
    VEC_FREE(&row->waiting);
    *row = (struct turn_row){0};
    SLOTS_GIVE(&jobs->turns, turn);
}

void turns_assert_valid(const struct jobs *jobs)
{
    for (uint32_t turn = 0; turn < jobs->turns.count; turn++) {
        const struct turn_row *row = &jobs->turns.items[turn];
        uint32_t waiting = 0;
        for (size_t i = 0; i < row->waiting.count; i++) {
            waiting += is_waiting(jobs, turn, &row->waiting.items[i]);
        }
        ASSERT(row->busy_count + waiting == row->member_count);
        ASSERT(waiting == 0 || row->busy_count >= row->limit);
    }
}

void turns_fini(struct jobs *jobs)
{
    for (size_t i = 0; i < jobs->turns.count; i++) {
        VEC_FREE(&jobs->turns.items[i].waiting);
    }
    SLOTS_FREE(&jobs->turns);
    map_fini(&jobs->turn_of);
}
