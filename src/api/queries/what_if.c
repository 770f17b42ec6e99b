/* berth.api.Berth.WhatIf: what changes would do. */
#include <math.h>

#include "api/core/message.h"
#include "api/core/state.h"
#include "api/handlers.h"
#include "api/submit/submit.h"
#include "berth/api.pb-c.h"
#include "wire/message/field.h"

enum {
    SPAN_S_DEFAULT = 60,
    JOBS_DEFAULT = 1000,
    REQUEST_SUBMISSION = 5, /* the field of WhatIfRequest */
};

/* The answer. */

static Berth__Api__WhatIfOutcome *
outcome_message(const struct what_if_outcome *outcome, struct arena *arena)
{
    Berth__Api__WhatIfOutcome *message =
        message_new(arena, &berth__api__what_if_outcome__descriptor);

    message->started_ms = outcome->started_ms;
    message->preempted_ms = outcome->preempted_ms;
    message->ended_ms = outcome->ended_ms;
    message->node = message_copy(arena, outcome->node);
    message->executor = message_copy(arena, outcome->executor);
    message->pool = message_copy(arena, outcome->pool);
    message->preempted_count = outcome->preempted_count;
    return message;
}

static Berth__Api__WhatIfJob *job_message(const struct what_if_row *row,
                                          struct arena *arena)
{
    Berth__Api__WhatIfJob *message =
        message_new(arena, &berth__api__what_if_job__descriptor);
    char id[ID_TEXT_BYTES_MAX];

    message->job_id = message_copy(arena, str_of(job_id_format(row->job, id)));
    message->queue = message_copy(arena, row->queue);
    message->job_set_id = message_copy(arena, row->job_set);
    message->effect =
        message_copy(arena, str_of(what_if_effect_word(row->effect)));
    message->as_is = outcome_message(&row->as_is, arena);
    message->what_if = outcome_message(&row->what_if, arena);
    return message;
}

static Berth__Api__WhatIfQueueOutcome *
queue_outcome_message(const struct what_if_queue_outcome *outcome,
                      struct arena *arena)
{
    Berth__Api__WhatIfQueueOutcome *message =
        message_new(arena, &berth__api__what_if_queue_outcome__descriptor);

    message->started = outcome->started_count;
    message->preempted = outcome->preempted_count;
    message->ended = outcome->ended_count;
    message->waiting = outcome->waiting_count;
    message->running = outcome->running_count;
    message->mean_wait_seconds =
        outcome->waited_count
            ? (double)outcome->wait_ms_sum / 1000 / outcome->waited_count
            : 0;
    return message;
}

static void set_drained(Berth__Api__WhatIfResponse *response,
                        const struct what_if_answer *answer,
                        struct arena *arena)
{
    response->drained = arena_alloc_array(arena, answer->drained_count,
                                          sizeof(*response->drained));
    for (uint32_t i = 0; i < answer->drained_count; i++) {
        Berth__Api__WhatIfDrained *node =
            message_new(arena, &berth__api__what_if_drained__descriptor);
        node->node = message_copy(arena, answer->drained[i].node);
        node->executor = message_copy(arena, answer->drained[i].executor);
        node->kept_jobs = answer->drained[i].kept_count;
        response->drained[response->n_drained++] = node;
    }
}

static void set_submitted(Berth__Api__WhatIfResponse *response,
                          const struct what_if_answer *answer,
                          struct arena *arena)
{
    response->submitted = arena_alloc_array(arena, answer->submitted_count,
                                            sizeof(*response->submitted));
    for (uint32_t i = 0; i < answer->submitted_count; i++) {
        const struct what_if_submitted *job = &answer->submitted[i];
        Berth__Api__WhatIfSubmitted *message =
            message_new(arena, &berth__api__what_if_submitted__descriptor);
        message->fate = outcome_message(&job->outcome, arena);
        message->refused = job->outcome.is_refused;
        message->why = message_copy(arena, job->why);
        response->submitted[response->n_submitted++] = message;
    }
}

static void reply(struct api_call *call, const struct what_if_answer *answer,
                  uint32_t limit)
{
    Berth__Api__WhatIfResponse response = BERTH__API__WHAT_IF_RESPONSE__INIT;
    struct arena *arena = &call->arena;
    uint32_t count = answer->row_count < limit ? answer->row_count : limit;

    response.began = message_time(arena, answer->began_ms);
    response.span_ms = answer->span_ms;
    response.cut = answer->is_cut;
    response.jobs = arena_alloc_array(arena, count, sizeof(*response.jobs));
    for (uint32_t i = 0; i < count; i++) {
        response.jobs[response.n_jobs++] = job_message(&answer->rows[i], arena);
    }
    response.counts =
        arena_alloc_array(arena, WHAT_IF_EFFECTS, sizeof(*response.counts));
    for (int i = 0; i < WHAT_IF_EFFECTS; i++) {
        Berth__Api__WhatIfCount *of =
            message_new(arena, &berth__api__what_if_count__descriptor);
        of->effect = message_copy(
            arena, str_of(what_if_effect_word((enum what_if_effect)i)));
        of->jobs = answer->counts[i];
        response.counts[response.n_counts++] = of;
    }
    response.queues =
        arena_alloc_array(arena, answer->queue_count, sizeof(*response.queues));
    for (uint32_t i = 0; i < answer->queue_count; i++) {
        Berth__Api__WhatIfQueue *queue =
            message_new(arena, &berth__api__what_if_queue__descriptor);
        queue->name = message_copy(arena, answer->queues[i].name);
        queue->as_is = queue_outcome_message(&answer->queues[i].as_is, arena);
        queue->what_if =
            queue_outcome_message(&answer->queues[i].what_if, arena);
        response.queues[response.n_queues++] = queue;
    }
    set_drained(&response, answer, arena);
    set_submitted(&response, answer, arena);
    api_call_reply(call, &response.base);
}

/* On the thread that answers it. */
static void answered(struct command *command, void *ctx)
{
    struct api_call *call = ctx;
    const uint32_t *limit = call->data;

    if (!api_call_fail_command(call, command, "log")) {
        reply(call, &command->what_if.answer, *limit);
    }
    command_destroy(command);
}

/* The request. */

static bool check_counts(struct api_call *call,
                         const Berth__Api__WhatIfRequest *message)
{
    const size_t counts[] = {message->n_weights, message->n_classes,
                             message->n_add_nodes, message->n_drain_nodes};

    for (size_t i = 0; i < ARRAY_COUNT(counts); i++) {
        if (counts[i] > WHAT_IF_CHANGES_MAX) {
            api_call_fail(call, RPC_INVALID_ARGUMENT,
                          "at most %d changes of each kind",
                          WHAT_IF_CHANGES_MAX);
            return false;
        }
    }
    if (message->span_seconds > WHAT_IF_SPAN_MS_MAX / 1000) {
        api_call_fail(call, RPC_INVALID_ARGUMENT,
                      "span_seconds must be at most %lld, and is %u",
                      (long long)(WHAT_IF_SPAN_MS_MAX / 1000),
                      message->span_seconds);
        return false;
    }
    return true;
}

static bool read_weights(struct api_call *call,
                         const Berth__Api__WhatIfRequest *message,
                         struct command *command)
{
    struct what_if_changes *changes = &command->what_if.changes;
    struct what_if_weight *weights = arena_alloc_array(
        &command->arena, message->n_weights, sizeof(*weights));

    for (size_t i = 0; i < message->n_weights; i++) {
        const Berth__Api__WhatIfWeight *asked = message->weights[i];
        if (!(asked->weight >= 1e-6) || !(asked->weight <= 1e6)) {
            api_call_fail(call, RPC_INVALID_ARGUMENT,
                          "the weight of queue \"%s\" must be from 0.000001 to "
                          "1000000, and is %g",
                          asked->queue, asked->weight);
            return false;
        }
        weights[i] = (struct what_if_weight){
            arena_str(&command->arena, str_of(asked->queue)), asked->weight};
    }
    changes->weights = weights;
    changes->weight_count = (uint32_t)message->n_weights;
    return true;
}

static bool read_classes(struct api_call *call,
                         const Berth__Api__WhatIfRequest *message,
                         struct command *command)
{
    struct what_if_changes *changes = &command->what_if.changes;
    struct arena *arena = &command->arena;
    struct class_change *classes =
        arena_alloc_array(arena, message->n_classes, sizeof(*classes));

    for (size_t i = 0; i < message->n_classes; i++) {
        const Berth__Api__WhatIfClass *asked = message->classes[i];
        if (!(asked->fraction >= 0) || !(asked->fraction <= 1)) {
            api_call_fail(call, RPC_INVALID_ARGUMENT,
                          "the fraction of \"%s\" for class \"%s\" must be "
                          "from 0 to 1, and is %g",
                          asked->resource, asked->priority_class,
                          asked->fraction);
            return false;
        }
        classes[i] = (struct class_change){
            .name = arena_str(arena, str_of(asked->priority_class)),
            .has_priority = asked->priority != NULL,
            .priority = asked->priority ? asked->priority->value : 0,
            .resource = arena_str(arena, str_of(asked->resource)),
            .fraction_ppm = (int64_t)round(asked->fraction * FRACTION_ONE_PPM),
        };
    }
    changes->classes = classes;
    changes->class_count = (uint32_t)message->n_classes;
    return true;
}

static bool read_nodes(struct api_call *call,
                       const Berth__Api__WhatIfRequest *message,
                       struct command *command)
{
    struct what_if_changes *changes = &command->what_if.changes;
    struct arena *arena = &command->arena;
    struct what_if_nodes *nodes =
        arena_alloc_array(arena, message->n_add_nodes, sizeof(*nodes));
    struct str *drained =
        arena_alloc_array(arena, message->n_drain_nodes, sizeof(*drained));
    uint64_t total = 0;

    for (size_t i = 0; i < message->n_add_nodes; i++) {
        const Berth__Api__WhatIfNodes *asked = message->add_nodes[i];
        total += asked->count;
        nodes[i] = (struct what_if_nodes){arena_str(arena, str_of(asked->like)),
                                          asked->count};
    }
    if (total > WHAT_IF_NODES_MAX) {
        api_call_fail(call, RPC_INVALID_ARGUMENT, "at most %d nodes are added",
                      WHAT_IF_NODES_MAX);
        return false;
    }
    for (size_t i = 0; i < message->n_drain_nodes; i++) {
        drained[i] = arena_str(arena, str_of(message->drain_nodes[i]));
    }
    changes->nodes = nodes;
    changes->nodes_count = (uint32_t)message->n_add_nodes;
    changes->drained = drained;
    changes->drained_count = (uint32_t)message->n_drain_nodes;
    return true;
}

/* The bytes of the submission, as a client would send it. */
static struct str submission_bytes(struct str request)
{
    struct field_cursor cursor = field_cursor_make(request);
    struct field field;
    struct str bytes = {0};

    while (!field_cursor_is_done(&cursor) && field_read(&cursor, &field)) {
        if (field.number == REQUEST_SUBMISSION && field.type == FIELD_BYTES) {
            bytes = field.bytes;
        }
    }
    return bytes;
}

static bool read_submission(struct api_call *call, struct str request,
                            struct command *command)
{
    struct str bytes = submission_bytes(request);

    if (bytes.p == NULL || bytes.byte_count == 0) {
        return true;
    }
    struct command *submission = submit_command_make(call, bytes);
    command->what_if.changes.submission = submission;
    return submission != NULL;
}

void handle_what_if(struct api_call *call, struct str request)
{
    Berth__Api__WhatIfRequest *message;

    if (!api_call_decode(call, &berth__api__what_if_request__descriptor,
                         request, &message) ||
        !check_counts(call, message)) {
        return;
    }
    struct command *command = command_create(COMMAND_WHAT_IF);
    if (!read_weights(call, message, command) ||
        !read_classes(call, message, command) ||
        !read_nodes(call, message, command) ||
        !read_submission(call, request, command)) {
        command_destroy(command);
        return;
    }
    uint32_t *limit = arena_alloc(&call->arena, sizeof(*limit));
    *limit = message->job_limit ? message->job_limit : JOBS_DEFAULT;
    call->data = limit;
    command->what_if.changes.policy =
        arena_str(&command->arena, str_of(message->scheduling));
    command->what_if.changes.policy_name =
        arena_strdup(&command->arena,
                     str_of(*message->scheduling_name ? message->scheduling_name
                                                      : "scheduling"));
    command->what_if.span_ms =
        (message->span_seconds ? message->span_seconds : SPAN_S_DEFAULT) *
        INT64_C(1000);
    api_call_post(call, command, answered);
}
