/* Holds two courses against each other. */
#include <stdlib.h>

#include "control/what_if/private.h"

enum { NEVER = -1 };

/* A moment that a course did not come to is never. */
static int64_t until(int64_t at_ms, int64_t span_ms)
{
    return at_ms > span_ms ? NEVER : at_ms;
}

static uint32_t count_preemptions(const struct what_if *what_if,
                                  const struct what_if_job *job,
                                  int64_t span_ms)
{
    uint32_t count = 0;

    for (uint32_t i = job->last_preemption; i != WHAT_IF_NONE;
         i = what_if->preemptions.items[i].before) {
        /* The list goes back in time. */
        ASSERT(what_if->preemptions.items[i].before == WHAT_IF_NONE ||
               what_if->preemptions.items[i].before < i);
        count += what_if->preemptions.items[i].at_ms <= span_ms;
    }
    return count;
}

/* How a job fared up to a moment; `job` NULL: nothing befell it. */
static struct what_if_outcome outcome_of(const struct what_if *what_if,
                                         const struct what_if_job *job,
                                         int64_t span_ms)
{
    struct what_if_outcome outcome = {
        .started_ms = NEVER, .preempted_ms = NEVER, .ended_ms = NEVER};

    if (!job) {
        return outcome;
    }
    outcome.started_ms = until(job->started_ms, span_ms);
    outcome.preempted_ms = until(job->preempted_ms, span_ms);
    outcome.ended_ms = until(job->ended_ms, span_ms);
    outcome.preempted_count = count_preemptions(what_if, job, span_ms);
    outcome.is_refused = job->is_refused && outcome.ended_ms != NEVER;
    if (job->ran_at_first || outcome.started_ms != NEVER) {
        outcome.node = intern_get(&what_if->names, job->node);
        outcome.executor = intern_get(&what_if->names, job->executor);
        outcome.pool = intern_get(&what_if->names, job->pool);
    }
    return outcome;
}

static const struct what_if_job *find(const struct what_if *what_if,
                                      struct job_id id)
{
    uint32_t at = map_find(&what_if->index, id.v);

    return at == MAP_NONE ? NULL : &what_if->jobs.items[at];
}

bool what_if_outcome_of(const struct what_if *what_if, struct job_id id,
                        struct what_if_outcome *ret_outcome)
{
    const struct what_if_job *job = find(what_if, id);

    *ret_outcome = outcome_of(what_if, job, INT64_MAX);
    return job != NULL;
}

static enum what_if_effect effect_of(const struct what_if_outcome *as_is,
                                     const struct what_if_outcome *what_if)
{
    if (as_is->is_refused != what_if->is_refused) {
        return what_if->is_refused ? WHAT_IF_REFUSED : WHAT_IF_NOT_REFUSED;
    }
    if (as_is->preempted_ms != what_if->preempted_ms) {
        bool is_worse = what_if->preempted_ms != NEVER &&
                        (as_is->preempted_ms == NEVER ||
                         what_if->preempted_ms < as_is->preempted_ms);
        return is_worse ? WHAT_IF_PREEMPTED : WHAT_IF_KEPT;
    }
    if (as_is->started_ms == NEVER || what_if->started_ms == NEVER) {
        return as_is->started_ms == what_if->started_ms ? WHAT_IF_SAME
               : as_is->started_ms == NEVER             ? WHAT_IF_STARTS
                                                        : WHAT_IF_WAITS;
    }
    if (as_is->started_ms != what_if->started_ms) {
        return what_if->started_ms < as_is->started_ms ? WHAT_IF_EARLIER
                                                       : WHAT_IF_LATER;
    }
    return str_equal(as_is->node, what_if->node) &&
                   str_equal(as_is->executor, what_if->executor)
               ? WHAT_IF_SAME
               : WHAT_IF_MOVES;
}

/* When a row's effect shows first. */
static int64_t shows_ms(const struct what_if_row *row)
{
    int64_t at_ms = row->what_if.started_ms != NEVER ? row->what_if.started_ms
                                                     : row->as_is.started_ms;

    return row->what_if.preempted_ms != NEVER ? row->what_if.preempted_ms
                                              : at_ms;
}

static int compare_rows(const void *a, const void *b)
{
    const struct what_if_row *left = a, *right = b;

    if (left->effect != right->effect) {
        return left->effect < right->effect ? -1 : 1;
    }
    int64_t left_ms = shows_ms(left), right_ms = shows_ms(right);
    if (left_ms != right_ms) {
        return left_ms < right_ms ? -1 : 1;
    }
    return key128_compare(left->job.v, right->job.v);
}

typedef VEC(struct what_if_row) rows_vec;

/* A job that something befell in one course or both; the names are those of the
 * course `of`. */
static void add_row(rows_vec *rows, const struct what_if *of,
                    const struct what_if_job *job,
                    const struct what_if_outcome *as_is,
                    const struct what_if_outcome *what_if,
                    struct what_if_answer *answer)
{
    enum what_if_effect effect = effect_of(as_is, what_if);
    struct what_if_row row = {
        .job = job->id,
        .queue = intern_get(&of->queue_names, job->queue),
        .job_set = intern_get(&of->names, job->job_set),
        .effect = effect,
        .as_is = *as_is,
        .what_if = *what_if,
    };

    ASSERT(effect < WHAT_IF_EFFECTS);
    answer->counts[effect]++;
    if (effect != WHAT_IF_SAME) {
        VEC_PUSH(rows, row);
    }
}

static void copy_outcome(struct what_if_outcome *outcome, struct arena *arena)
{
    outcome->node = arena_str(arena, outcome->node);
    outcome->executor = arena_str(arena, outcome->executor);
    outcome->pool = arena_str(arena, outcome->pool);
}

static int check_at(const struct what_if *what_if, size_t index,
                    struct err *err)
{
    return index % WHAT_IF_JOBS_AT_ONCE == 0 ? what_if_check_stop(what_if, err)
                                             : 0;
}

/* All jobs that something befell, as rows, in no order. */
static int match_jobs(const struct what_if *as_is,
                      const struct what_if *what_if, rows_vec *rows,
                      struct what_if_answer *answer, struct err *err)
{
    int64_t span_ms = answer->span_ms;
    int rc = 0;

    for (size_t i = 0; i < what_if->jobs.count && rc == 0; i++) {
        const struct what_if_job *job = &what_if->jobs.items[i];
        struct what_if_outcome before =
            outcome_of(as_is, find(as_is, job->id), span_ms);
        struct what_if_outcome after = outcome_of(what_if, job, span_ms);
        add_row(rows, what_if, job, &before, &after, answer);
        rc = check_at(what_if, i, err);
    }
    for (size_t i = 0; i < as_is->jobs.count && rc == 0; i++) {
        const struct what_if_job *job = &as_is->jobs.items[i];
        if (!find(what_if, job->id)) {
            struct what_if_outcome before = outcome_of(as_is, job, span_ms);
            struct what_if_outcome after = outcome_of(what_if, NULL, span_ms);
            add_row(rows, as_is, job, &before, &after, answer);
        }
        rc = check_at(what_if, i, err);
    }
    return rc;
}

/* The first rows, which live on in the arena. */
static void keep_rows(const rows_vec *rows, struct arena *arena,
                      struct what_if_answer *answer)
{
    if (rows->count > 1) {
        qsort(rows->items, rows->count, sizeof(*rows->items), compare_rows);
    }
    answer->row_count = rows->count < WHAT_IF_ROWS_MAX ? (uint32_t)rows->count
                                                       : WHAT_IF_ROWS_MAX;
    answer->rows =
        arena_alloc_array(arena, answer->row_count, sizeof(*answer->rows));
    for (uint32_t i = 0; i < answer->row_count; i++) {
        struct what_if_row *row = &answer->rows[i];
        *row = rows->items[i];
        row->queue = arena_str(arena, row->queue);
        row->job_set = arena_str(arena, row->job_set);
        copy_outcome(&row->as_is, arena);
        copy_outcome(&row->what_if, arena);
    }
}

static int compare_jobs(const struct what_if *as_is,
                        const struct what_if *what_if, struct arena *arena,
                        struct what_if_answer *answer, struct err *err)
{
    rows_vec rows = {0};

    int rc = match_jobs(as_is, what_if, &rows, answer, err);
    if (rc == 0) {
        keep_rows(&rows, arena, answer);
        rc = what_if_check_stop(what_if, err);
    }
    VEC_FREE(&rows);
    return rc;
}

/* Queues. */

static void add_job(struct what_if_queue_outcome *queue,
                    const struct what_if_outcome *outcome)
{
    if (outcome->started_ms != NEVER) {
        queue->started_count++;
        queue->wait_ms_sum += outcome->started_ms;
    }
    queue->preempted_count += outcome->preempted_ms != NEVER;
    queue->ended_count += outcome->ended_ms != NEVER;
}

static void add_tally(struct what_if_queue_outcome *queue,
                      const struct what_if_tally *tally, int64_t span_ms)
{
    queue->waited_count = tally->waited_count;
    queue->waiting_count = tally->waiting_count;
    queue->running_count = tally->running_count;
    if (queue->started_count < tally->waited_count) {
        queue->wait_ms_sum +=
            (tally->waited_count - queue->started_count) * span_ms;
    }
}

/* How all queues fare, by their index in the course; to be freed. */
static struct what_if_queue_outcome *
queue_outcomes_of(const struct what_if *what_if, int64_t span_ms)
{
    uint32_t count = intern_count(&what_if->queue_names);
    struct what_if_queue_outcome *outcomes =
        mem_alloc_array(count, sizeof(*outcomes));

    for (size_t i = 0; i < what_if->jobs.count; i++) {
        const struct what_if_job *job = &what_if->jobs.items[i];
        struct what_if_outcome outcome = outcome_of(what_if, job, span_ms);
        add_job(&outcomes[job->queue], &outcome);
    }
    for (uint32_t i = 0; i < count; i++) {
        add_tally(&outcomes[i], &what_if->tallies.items[i], span_ms);
    }
    return outcomes;
}

static int compare_queues(const void *a, const void *b)
{
    return str_compare(((const struct what_if_queue *)a)->name,
                       ((const struct what_if_queue *)b)->name);
}

static void add_queues(const struct what_if *as_is,
                       const struct what_if *what_if, struct arena *arena,
                       struct what_if_answer *answer)
{
    const struct intern *names = &what_if->queue_names; /* it knows them all */
    struct what_if_queue_outcome *before =
        queue_outcomes_of(as_is, answer->span_ms);
    struct what_if_queue_outcome *after =
        queue_outcomes_of(what_if, answer->span_ms);

    answer->queue_count = intern_count(names);
    answer->queues =
        arena_alloc_array(arena, answer->queue_count, sizeof(*answer->queues));
    for (uint32_t i = 0; i < answer->queue_count; i++) {
        struct str name = intern_get(names, i);
        uint32_t index = intern_find(&as_is->queue_names, name);
        answer->queues[i] = (struct what_if_queue){
            .name = arena_str(arena, name),
            .what_if = after[i],
        };
        if (index != INTERN_NONE) {
            answer->queues[i].as_is = before[index];
        }
    }
    mem_free(before);
    mem_free(after);
    if (answer->queue_count > 1) {
        qsort(answer->queues, answer->queue_count, sizeof(*answer->queues),
              compare_queues);
    }
}

static void tell_drained(const struct what_if *what_if, struct arena *arena,
                         struct what_if_answer *answer)
{
    answer->drained_count = (uint32_t)what_if->drained.count;
    answer->drained = arena_alloc_array(arena, answer->drained_count,
                                        sizeof(*answer->drained));
    for (uint32_t i = 0; i < answer->drained_count; i++) {
        const struct what_if_kept *kept = &what_if->drained.items[i];
        answer->drained[i] = (struct what_if_drained){
            arena_str(arena, intern_get(&what_if->names, kept->node)),
            arena_str(arena, intern_get(&what_if->names, kept->executor)),
            kept->job_count};
    }
}

static void tell_submitted(const struct what_if *what_if, struct arena *arena,
                           struct what_if_answer *answer)
{
    answer->submitted_count = (uint32_t)what_if->new_jobs.count;
    answer->submitted = arena_alloc_array(arena, answer->submitted_count,
                                          sizeof(*answer->submitted));
    for (uint32_t i = 0; i < answer->submitted_count; i++) {
        const struct what_if_new_job *new_job = &what_if->new_jobs.items[i];
        answer->submitted[i] = (struct what_if_submitted){
            .job = new_job->job,
            .outcome = outcome_of(what_if, find(what_if, new_job->job),
                                  answer->span_ms),
            .why = arena_str(arena, str_of(new_job->why)),
        };
        copy_outcome(&answer->submitted[i].outcome, arena);
    }
}

int what_if_compare(const struct what_if *as_is, const struct what_if *what_if,
                    struct arena *arena, struct what_if_answer *ret_answer,
                    struct err *err)
{
    *ret_answer = (struct what_if_answer){
        .began_ms = what_if->began_ms,
        .span_ms = as_is->span_ms < what_if->span_ms ? as_is->span_ms
                                                     : what_if->span_ms,
        .is_cut = as_is->is_cut || what_if->is_cut,
    };
    int rc = compare_jobs(as_is, what_if, arena, ret_answer, err);
    if (rc == 0) {
        add_queues(as_is, what_if, arena, ret_answer);
        tell_drained(what_if, arena, ret_answer);
        tell_submitted(what_if, arena, ret_answer);
    }
    return rc;
}
