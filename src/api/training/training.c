/* berth.api.Berth: submits and changes TrainingJobs (model.md 4). */
#include "api/core/state.h"
#include "api/submit/submission.h"
#include "api/submit/validate.h"
#include "api/training/training_private.h"

static const char queue_field[] = "metadata.annotations.armadaproject.io/queue";
static const char class_field[] =
    "metadata.annotations.armadaproject.io/priorityClassName";

/* Submission. */

/* What is wrong with a pod spec is said of its sub-group; users know that as a
 * component. */
static void name_component(struct refusal *refusal)
{
    static const char prefix[] = "podGroup.subGroups[";
    const char *name = strchr(refusal->text, '(');
    const char *end = name ? strstr(name, "): ") : NULL;
    struct refusal whole = *refusal;

    if (!end || strncmp(refusal->text, prefix, sizeof(prefix) - 1) != 0) {
        return;
    }
    size_t at = (size_t)(name + 1 - refusal->text);
    size_t length = (size_t)(end - name - 1);
    int rc = refusal_set(refusal, "spec.%.*s: %s", (int)length, whole.text + at,
                         whole.text + at + length + 3);
    (void)rc;
}

/* The command that makes it; NULL with the refusal. */
static struct command *make_command(struct training_incoming *in)
{
    struct api_call *call = in->call;
    const struct api_ports *ports = &call->api->ports;
    struct submit_rules rules = call->api->config->submit;
    struct submission_context context = {
        .rules = &rules,
        .rng = ports->rng,
        .owner = call->principal.name,
        .now_ms = ports->clock->wall_ms(ports->clock),
        .default_pool =
            api_default_pool(call->api, str_of(in->queue), &call->arena),
    };
    auto_ptr(command) command = command_create(COMMAND_SUBMIT);
    struct command *made = command;
    int rc = 0;

    /* They were always allowed to have more than they ask for. */
    rules.allows_larger_limits = true;
    command->scope = (struct event_scope){
        .queue = arena_str(&command->arena, str_of(in->queue)),
        .job_set = arena_str(&command->arena, str_of(in->job_set)),
        .user = arena_str(&command->arena, context.owner),
    };
    /* One that was refused has no pods, but is made all the same. */
    if (in->job.reason.byte_count == 0) {
        rc = training_group(in);
        rc = rc ? rc
                : submission_build_group(training_request(in), &in->group,
                                         STR(""), &context, command,
                                         &in->refusal);
    }
    if (rc < 0) {
        name_component(&in->refusal);
        return NULL;
    }
    training_put_event(in, command, context.now_ms);
    command = NULL;
    return made;
}

/* What the answer says. */
struct submitted {
    struct spec_hold *hold;
    Berth__Api__SubmitTrainingJobResponse response;
};

/* On the leader's thread. */
static void on_submitted(struct command *command, void *ctx)
{
    struct api_call *call = ctx;
    struct spec_cache *specs = call->api->specs;
    struct submitted *submitted = call->data;
    struct spec_hold *hold = submitted->hold;

    if (!api_call_fail_command(call, command,
                               "Failed to send events to Pulsar")) {
        api_call_reply(call, &submitted->response.base);
    }
    spec_cache_settle(specs, hold, command);
}

static void post(struct training_incoming *in, struct command *command)
{
    struct api_call *call = in->call;
    struct spec_cache *specs = call->api->specs;
    struct submitted *submitted = arena_alloc(&call->arena, sizeof(*submitted));

    submitted->hold = spec_cache_hold(specs, command);
    if (!submitted->hold) {
        command_destroy(command);
        api_call_fail(call, RPC_RESOURCE_EXHAUSTED,
                      "the query store is too far behind what was submitted; "
                      "try again in a moment");
        return;
    }
    berth__api__submit_training_job_response__init(&submitted->response);
    submitted->response.name = message_copy(&call->arena, in->job.name);
    submitted->response.queue = in->queue;
    submitted->response.job_set = in->job_set;
    submitted->response.reason = message_copy(&call->arena, in->job.reason);
    call->data = submitted;
    if (!api_call_post(call, command, on_submitted)) {
        spec_cache_drop(specs, submitted->hold);
    }
}

/* Where it goes, and as what; false: the call is over. */
static bool take_place(struct training_incoming *in,
                       const Berth__Api__SubmitTrainingJobRequest *message)
{
    struct api_call *call = in->call;
    struct training_job *job = &in->job;

    in->queue = *message->queue ? message->queue
                                : message_copy(&call->arena, job->queue);
    in->job_set =
        *message->job_set
            ? message->job_set
            : message_copy(&call->arena,
                           job->job_set.byte_count ? job->job_set : job->name);
    if (!*in->queue) {
        api_call_fail(call, RPC_INVALID_ARGUMENT,
                      "%s: a queue is required, here or from berthctl",
                      queue_field);
        return false;
    }
    if (strlen(in->job_set) > JOB_SET_ID_BYTES_MAX) {
        api_call_fail(call, RPC_INVALID_ARGUMENT,
                      "metadata.annotations.armadaproject.io/jobSet: may have "
                      "%d bytes",
                      JOB_SET_ID_BYTES_MAX);
        return false;
    }
    return api_call_authorize_queue(call, str_of(in->queue));
}

static bool allows_class(struct api_call *call, struct str name,
                         const char *field)
{
    const struct submit_rules *rules = &call->api->config->submit;
    auto_strbuf known = {0};

    if (submit_rules_allow_class(rules, name)) {
        return true;
    }
    for (uint32_t i = 0; i < rules->class_count; i++) {
        strbuf_addf(&known, "%s%.*s", i ? ", " : "",
                    STR_ARG(rules->classes[i]));
    }
    api_call_fail(call, RPC_INVALID_ARGUMENT,
                  "%s: there is no priority class \"%.*s\"; jobs may name %s",
                  field, STR_ARG(name), strbuf_text(&known));
    return false;
}

static void submit(struct training_incoming *in,
                   const Berth__Api__SubmitTrainingJobRequest *message)
{
    struct api_call *call = in->call;
    struct training_rules rules = call->api->config->training;
    struct err err;

    rules.cpu_per_gpu_milli = call->api->cpu_per_gpu_milli;
    int rc = training_job_read(
        str_make(message->resource.data, message->resource.len), &rules,
        &in->job, &err);
    if (rc < 0) {
        api_call_fail(call, RPC_INVALID_ARGUMENT, "%s", err.text);
        return;
    }
    if (!take_place(in, message) ||
        !allows_class(call, in->job.priority_class, class_field)) {
        return;
    }
    struct command *command = make_command(in);
    if (!command) {
        api_call_fail(call, RPC_INVALID_ARGUMENT, "%s", in->refusal.text);
        return;
    }
    post(in, command);
}

void handle_submit_training_job(struct api_call *call, struct str request)
{
    Berth__Api__SubmitTrainingJobRequest *message;

    if (!api_call_decode(call,
                         &berth__api__submit_training_job_request__descriptor,
                         request, &message)) {
        return;
    }
    auto_mem struct training_incoming *in = mem_alloc(sizeof(*in));
    in->call = call;
    submit(in, message);
    training_job_fini(&in->job);
}

/* Changes. */

struct command *training_command(struct api_call *call, enum command_kind kind,
                                 const char *queue, const char *name)
{
    struct command *command = command_create(kind);

    command->scope = (struct event_scope){
        .queue = arena_str(&command->arena, str_of(queue)),
        .user = arena_str(&command->arena, call->principal.name),
    };
    command->training.name = arena_str(&command->arena, str_of(name));
    return command;
}

/* Both name one; false: the call is over. */
static bool check_names(struct api_call *call, const char *queue,
                        const char *name)
{
    if (!*queue || !*name) {
        api_call_fail(call, RPC_INVALID_ARGUMENT, "%s: is required",
                      *queue ? "name" : "queue");
        return false;
    }
    return true;
}

void handle_update_training_job(struct api_call *call, struct str request)
{
    Berth__Api__UpdateTrainingJobRequest *message;

    if (!api_call_decode(call,
                         &berth__api__update_training_job_request__descriptor,
                         request, &message) ||
        !check_names(call, message->queue, message->name) ||
        !api_call_authorize_job_set(call, str_of(message->queue), STR(""))) {
        return;
    }
    struct str priority_class = str_of(message->priority_class_name);
    if (!allows_class(call, priority_class, "priorityClassName")) {
        return;
    }
    struct command *command = training_command(call, COMMAND_TRAINING_UPDATE,
                                               message->queue, message->name);
    command->training.priority_class =
        arena_str(&command->arena, priority_class);
    api_call_post(call, command, api_call_done_empty);
}

void handle_delete_training_job(struct api_call *call, struct str request)
{
    Berth__Api__DeleteTrainingJobRequest *message;

    if (!api_call_decode(call,
                         &berth__api__delete_training_job_request__descriptor,
                         request, &message) ||
        !check_names(call, message->queue, message->name) ||
        !api_call_authorize_job_set(call, str_of(message->queue), STR(""))) {
        return;
    }
    api_call_post(call,
                  training_command(call, COMMAND_TRAINING_DELETE,
                                   message->queue, message->name),
                  api_call_done_empty);
}
