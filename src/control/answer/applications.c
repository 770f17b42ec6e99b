/* Lists applications of queues with their states. */
#include "control/answer/answers.h"
#include "control/fold/fold.h"
#include "control/state/inbox.h"
#include "control/state/state.h"

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
    ASSERT(app->ask_count + app->allocation_count <=
           jobs_count(answer->c->jobs)); /* jobs are of one application */
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
        add_row(answer, intern_get(&c->queue_names, queue), &list[i]);
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
    uint32_t count, only = INTERN_NONE;

    if (command->apps.queue.byte_count) {
        only = queue_find(c, command->apps.queue);
        if (only == INTERN_NONE) {
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
        if (only == INTERN_NONE || only == queues[i].index) {
            add_queue(&answer, queues[i].index);
        }
    }
    arena_fini(&answer.scratch);
    command_answer(command, COMMAND_OK, "");
}
