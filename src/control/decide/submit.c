/* Submissions: adds new jobs to the batch, and answers a repeated client id
 * with the existing job. */
#include <stdio.h>

#include "control/decide/decide.h"
#include "control/fold/fold.h"
#include "control/state/inbox.h"
#include "control/state/state.h"

/* The job that an item repeats; false if it is new.  A negative code when
 * that cannot be found out. */
static int find_original(struct control *c, struct str queue,
                         const struct submit_item *item, struct job_id *ret_job,
                         bool *ret_is_fresh)
{
    const struct control_hooks *hooks = &c->config.hooks;
    struct key128 key = dedup_key(c->dedup, queue, item->client_id);
    uint32_t fresh = map_find(&c->batch.fresh_by_key, key);
    struct job_id job;
    int found = 0;

    *ret_is_fresh = fresh != MAP_NONE;
    if (fresh != MAP_NONE) {
        *ret_job = c->batch.fresh.items[fresh];
        return 1;
    }
    if (dedup_find(c->dedup, key, &job)) {
        found = 1;
    } else if (dedup_has_forgotten(c->dedup) && hooks->find_client_id) {
        found = hooks->find_client_id(hooks->ctx, queue, item->client_id, &job);
    }
    if (found <= 0) {
        return found;
    }
    *ret_job = job;
    return c->batch.time_ms - job_id_time_ms(job) < c->config.deduplication_ms;
}

static bool is_new(const struct submit_item *item)
{
    return key128_compare(item->job.v, item->ret_job.v) == 0;
}

/* Find the originals of all items; how many are new, or a negative code.
 * Items of one request are not compared with each other. */
static int find_originals(struct control *c, struct command *command,
                          bool *ret_must_wait)
{
    int fresh_count = 0;

    *ret_must_wait = false;
    for (uint32_t i = 0; i < command->submit.item_count; i++) {
        struct submit_item *item = &command->submit.items[i];
        bool is_of_batch = false;
        int found = 0;
        item->ret_job = item->job;
        if (item->is_further && !is_new(item - 1)) {
            item->ret_job = item[-1].ret_job;
            continue;
        }
        if (item->client_id.byte_count) {
            found = find_original(c, command->scope.queue, item, &item->ret_job,
                                  &is_of_batch);
        }
        if (found < 0) {
            return found;
        }
        if (!found) {
            item->ret_job = item->job;
        }
        fresh_count += !found;
        *ret_must_wait |= is_of_batch;
    }
    return fresh_count;
}

static void add_submission(struct control *c, struct command *command)
{
    if (command->submit.training_name.byte_count) {
        log_batch_add_encoded(&c->batch.log, &command->scope,
                              command->submit.training_event);
        c->batch.has_training = true;
    }
    if (command->submit.periodic_name.byte_count) {
        log_batch_add_encoded(&c->batch.log, &command->scope,
                              command->submit.periodic_event);
        c->batch.has_periodic = true;
    }
    for (uint32_t i = 0; i < command->submit.item_count; i++) {
        const struct submit_item *item = &command->submit.items[i];
        if (!is_new(item)) {
            c->metrics.duplicate_count++;
            continue;
        }
        log_batch_add_encoded(&c->batch.log, &command->scope, item->event);
        c->batch.submit_count++;
        if (item->client_id.byte_count) {
            struct key128 key =
                dedup_key(c->dedup, command->scope.queue, item->client_id);
            map_put(&c->batch.fresh_by_key, key,
                    (uint32_t)c->batch.fresh.count);
            VEC_PUSH(&c->batch.fresh, item->job);
        }
    }
}

/* Whether an earlier item of the command is a new job of that id; ids of a
 * command go up. */
static bool is_of_command(const struct command *command, uint32_t before,
                          struct job_id id)
{
    uint32_t low = 0, high = before;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const struct submit_item *item = &command->submit.items[middle];
        int order = key128_compare(item->job.v, id.v);
        if (order == 0) {
            return is_new(item);
        }
        if (order < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return false;
}

/* Whether a job that another is to wait for has not ended, and is of its
 * queue. */
static bool can_be_awaited(const struct control *c,
                           const struct command *command, uint32_t item,
                           struct job_id id)
{
    uint32_t job = jobs_find(c->jobs, id);
    struct job_view view;

    if (job == JOBS_NONE) {
        return is_of_command(command, item, id);
    }
    jobs_get(c->jobs, job, &view);
    return str_equal(view.queue, command->scope.queue);
}

/* Answer a command if one of its new jobs waits for a job that does not exist;
 * false: all exist. */
static bool has_lost_waits(struct control *c, struct command *command)
{
    char text[ERR_TEXT_BYTES_MAX], id[ID_TEXT_BYTES_MAX];

    for (uint32_t i = 0; i < command->submit.item_count; i++) {
        const struct submit_item *item = &command->submit.items[i];
        for (uint32_t w = 0; w < item->wait_count && is_new(item); w++) {
            const struct submit_wait *wait = &item->waits[w];
            if (can_be_awaited(c, command, i, wait->on)) {
                continue;
            }
            /* The store follows the log: it knows soon how that job ended. */
            (void)snprintf(text, sizeof(text),
                           wait->is_known
                               ? "job %s has just ended; try again in a moment"
                               : "dependsOn: there is no job %s in this queue",
                           job_id_format(wait->on, id));
            command_answer(
                command, wait->is_known ? COMMAND_OVERLOADED : COMMAND_INVALID,
                text);
            return true;
        }
    }
    return false;
}

void batch_take_submit(struct control *c, struct command *command)
{
    uint32_t queue = queue_find(c, command->scope.queue);
    bool must_wait;
    char text[ERR_TEXT_BYTES_MAX];

    if (queue == INTERN_NONE || !c->queues.items[queue].is_set) {
        snprintf(text, sizeof(text), "could not find queue \"%.*s\"",
                 STR_ARG(command->scope.queue));
        command_answer(command, COMMAND_UNKNOWN_QUEUE, text);
        return;
    }
    if (command->submit.item_count >
        JOBS_MAX - jobs_count(c->jobs) - c->batch.submit_count) {
        command_answer_full(command, JOBS_MAX, "jobs");
        return;
    }
    bool is_training = command->submit.training_name.byte_count > 0;
    if (is_training && training_refuses(c, command)) {
        return;
    }
    bool is_periodic = command->submit.periodic_name.byte_count > 0;
    if (is_periodic && periodic_refuses(c, command)) {
        return;
    }
    int fresh_count = find_originals(c, command, &must_wait);
    if (fresh_count < 0) {
        command_answer(command, COMMAND_UNAVAILABLE,
                       "the client ids of older jobs cannot be read now");
        return;
    }
    if (has_lost_waits(c, command)) {
        return;
    }
    add_submission(c, command);
    ASSERT(c->batch.submit_count <= JOBS_MAX - jobs_count(c->jobs));
    if (fresh_count > 0 || must_wait || is_training || is_periodic) {
        batch_keep(&c->batch, command);
    } else {
        command_answer(command, COMMAND_OK, "");
    }
}
