/* Applications: which job is of which, and how they stand. */
#include "control/fold/apps.h"

#include <stdlib.h>

#include "control/answer/answers.h"
#include "control/fold/fold.h"
#include "control/state/state.h"

struct str application_of(const struct job_view *view,
                          const struct job_digest *digest)
{
    return digest->application_id.byte_count ? digest->application_id
                                             : view->job_set;
}

/* A job of a queue. */
struct fed {
    struct job_id id;
    uint32_t job;
};

static int compare_fed(const void *a, const void *b)
{
    const struct fed *x = a;
    const struct fed *y = b;

    return key128_compare(x->id.v, y->id.v);
}

static void feed(struct control *c, uint32_t job)
{
    struct job_view view;
    struct job_digest digest;

    jobs_get(c->jobs, job, &view);
    jobs_digest(c->jobs, job, &digest);
    pools_job_application(c->pools, job, application_of(&view, &digest),
                          digest.has_stateaware_off);
}

/* In order of ids, not of the table: what an application is at first hangs on
 * which of its jobs is told first, and leaders number jobs as they met them. */
void apps_feed(struct control *c, uint32_t queue)
{
    VEC(struct fed) list = {0};

    for (uint32_t job = 0; job < jobs_index_end(c->jobs); job++) {
        if (jobs_is_live(c->jobs, job) && c->links.items[job].queue == queue) {
            struct job_view view;
            jobs_get(c->jobs, job, &view);
            VEC_PUSH(&list, (struct fed){view.id, job});
        }
    }
    if (list.count) {
        qsort(list.items, list.count, sizeof(*list.items), compare_fed);
    }
    for (size_t i = 0; i < list.count; i++) {
        feed(c, list.items[i].job);
    }
    VEC_FREE(&list);
}

/* What people call a state. */
static const char *state_name(enum sched_app_state state)
{
    static const char *const names[SCHED_APP_STATES] = {
        [SCHED_APP_NEW] = "New",
        [SCHED_APP_ACCEPTED] = "Accepted",
        [SCHED_APP_STARTING] = "Starting",
        [SCHED_APP_RUNNING] = "Running",
        [SCHED_APP_COMPLETING] = "Completing",
        [SCHED_APP_COMPLETED] = "Completed",
        [SCHED_APP_EXPIRED] = "Expired",
    };

    return names[state];
}

void apps_count(const struct control *c, uint32_t queue,
                struct application_counts *ret_counts)
{
    uint32_t counts[SCHED_APP_STATES];

    pools_application_counts(c->pools, queue, counts);
    *ret_counts = (struct application_counts){
        .is_by_applications = pools_queue_has_applications(c->pools, queue),
        .accepted = counts[SCHED_APP_ACCEPTED],
        .starting = counts[SCHED_APP_STARTING],
        .running = counts[SCHED_APP_RUNNING],
        .completing = counts[SCHED_APP_COMPLETING],
        .completed = counts[SCHED_APP_COMPLETED],
    };
}

/* The answer in the making. */
struct apps_answer {
    struct control *c;
    struct command *command;
    struct arena scratch;
    int64_t now_ms;
    uint32_t capacity;
};

static bool is_asked_for(const struct apps_answer *answer, const char *state)
{
    const struct command *command = answer->command;

    for (uint32_t i = 0; i < command->apps.state_count; i++) {
        if (str_equal(command->apps.states[i], str_of(state))) {
            return true;
        }
    }
    return command->apps.state_count == 0;
}

static void add_row(struct apps_answer *answer, struct str queue,
                    const struct sched_application *app)
{
    struct command *command = answer->command;
    const char *state = state_name(app->state);
    uint32_t at = command->apps.total_count;

    if (!is_asked_for(answer, state)) {
        return;
    }
    command->apps.total_count++;
    if (at < command->apps.skip_count ||
        command->apps.row_count == answer->capacity) {
        return;
    }
    command->apps.rows[command->apps.row_count++] = (struct application_row){
        .queue = arena_str(&command->arena, queue),
        .id = arena_str(&command->arena, app->id),
        .state = str_of(state),
        .since_ms = app->since_ms,
        .until_ms = app->until_ms == INT64_MAX ? 0 : app->until_ms,
        .submitted_ms = app->submitted_ms,
        .ask_count = app->ask_count,
        .allocation_count = app->allocation_count,
        .has_stateaware_off = app->has_stateaware_off,
    };
}

static void add_queue(struct apps_answer *answer, uint32_t queue)
{
    struct control *c = answer->c;
    struct sched_application *list;

    arena_reset(&answer->scratch);
    uint32_t count = pools_applications(c->pools, queue, answer->now_ms,
                                        &answer->scratch, &list);
    for (uint32_t i = 0; i < count; i++) {
        add_row(answer, names_get(&c->queue_names, queue), &list[i]);
    }
}

void apps_answer(struct control *c, struct command *command)
{
    struct apps_answer answer = {
        .c = c,
        .command = command,
        .now_ms = control_now_ms(c),
        .capacity = command->apps.limit < APPLICATION_ROWS_MAX
                        ? command->apps.limit
                        : APPLICATION_ROWS_MAX,
    };
    uint32_t count, only = NAMES_NONE;

    if (command->apps.queue.byte_count) {
        only = queue_find(c, command->apps.queue);
        if (only == NAMES_NONE) {
            command_answer(command, COMMAND_NOT_FOUND,
                           "there is no such queue");
            return;
        }
    }
    command->apps.rows =
        arena_alloc_array(&command->arena, (size_t)answer.capacity + 1,
                          sizeof(struct application_row));
    auto_mem struct named *queues = queues_sorted(c, &count);
    for (uint32_t i = 0; i < count; i++) {
        if (only == NAMES_NONE || only == queues[i].index) {
            add_queue(&answer, queues[i].index);
        }
    }
    arena_fini(&answer.scratch);
    command_answer(command, COMMAND_OK, "");
}
