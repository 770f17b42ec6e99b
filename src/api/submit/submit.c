/* Submit.SubmitJobs (armada-api.md 3.1). */
#include "api/submit/submit.h"

#include <stdio.h>

#include "api/core/state.h"
#include "api/handlers.h"
#include "api/submit/annotations.h"
#include "api/submit/submission.h"
#include "berth/api.pb-c.h"
#include "wire/message/field.h"

enum {
    RESPONSE_ITEMS = 1,
    RESPONSE_ITEM_JOB_ID = 1,
};

/* On the leader's thread: the ids, in the order of the items; of a group the
 * first job's. */
static void on_submitted(struct command *command, void *ctx)
{
    struct api_call *call = ctx;
    struct spec_cache *specs = call->api->specs;
    struct spec_hold *hold = call->data;

    if (!api_call_fail_command(call, command,
                               "Failed to send events to Pulsar")) {
        auto_strbuf reply = strbuf_make(0);
        for (uint32_t i = 0; i < command->submit.item_count; i++) {
            char id[ID_TEXT_BYTES_MAX];
            if (command->submit.items[i].is_further) {
                continue;
            }
            size_t item = field_begin(&reply, RESPONSE_ITEMS);
            field_put_bytes(
                &reply, RESPONSE_ITEM_JOB_ID,
                str_of(job_id_format(command->submit.items[i].ret_job, id)));
            field_end(&reply, item);
        }
        api_call_reply_bytes(call, strbuf_str(&reply));
    }
    spec_cache_settle(specs, hold, command);
}

/* Post it, held for leases until the store has it. */
static void post(struct api_call *call, struct command *command)
{
    struct spec_cache *specs = call->api->specs;
    struct spec_hold *hold = spec_cache_hold(specs, command);

    if (!hold) {
        command_destroy(command);
        api_call_fail(call, RPC_RESOURCE_EXHAUSTED,
                      "the query store is too far behind what was submitted; "
                      "try again in a moment");
        return;
    }
    call->data = hold;
    if (!api_call_post(call, command, on_submitted)) {
        spec_cache_drop(specs, hold);
    }
}

static void refuse_bytes(struct api_call *call, int rc, const struct err *err)
{
    api_call_fail(
        call, rc == -ERR_LIMIT ? RPC_RESOURCE_EXHAUSTED : RPC_INVALID_ARGUMENT,
        "cannot decode request: %s", err->text);
}

/* Armada's message is the rule's text and nothing else (armada-api.md 3.1), so
 * which item it was stands beside it. */
static void refuse(struct api_call *call, const struct refusal *refusal)
{
    char field[RPC_FIELD_BYTES_MAX];

    if (refusal->item_number > 0) {
        snprintf(field, sizeof(field), "job_request_items[%u]",
                 refusal->item_number - 1);
        rpc_call_set_field(call->rpc, field);
    }
    api_call_fail(call, RPC_INVALID_ARGUMENT, "%s", refusal->text);
}

/* Whether each retry policy that a job names is there; -ERR_INVALID with the
 * refusal. */
static int check_policies(const struct api *api,
                          const Berth__Submission__Request *message,
                          struct refusal *refusal)
{
    for (size_t i = 0; i < message->n_job_request_items; i++) {
        struct str name = annotation_find_own(message->job_request_items[i],
                                              ANNOTATION_RETRY_POLICY);
        const struct queue_entry *entry =
            name.byte_count ? queue_table_find(api->ports.retry_policies, name)
                            : NULL;
        queue_entry_unref(entry);
        if (name.byte_count && !entry) {
            refusal->item_number = (uint32_t)i + 1;
            return refusal_set(refusal,
                               "annotation " ANNOTATION_RETRY_POLICY
                               ": there is no retry policy \"%.*s\"",
                               STR_ARG(name));
        }
    }
    return 0;
}

/* Find the jobs that others wait for; false: the call is over. */
static bool find_depends(struct api_call *call,
                         const Berth__Submission__Request *message,
                         const struct depends **ret_depends)
{
    struct refusal refusal = {.item_number = 0};
    struct readers *readers;
    struct err err;

    int rc = reader_pool_lend(call->api->readers, &readers, &err);
    if (rc < 0) {
        api_call_fail_storage(call, &err);
        return false;
    }
    rc = depends_resolve(message, readers, &call->arena, ret_depends, &refusal);
    reader_pool_give_back(call->api->readers, readers);
    if (rc < 0) {
        refuse(call, &refusal);
    }
    return rc == 0;
}

/* The command of a decoded request of somebody who may submit; NULL with the
 * refusal. */
static struct command *build(struct api *api, struct str owner,
                             Berth__Submission__Request *message,
                             const struct depends *depends,
                             struct pod_remarks_made *remarks,
                             struct arena *arena, struct refusal *refusal)
{
    const struct api_ports *ports = &api->ports;
    const struct submission_context context = {
        .rules = &api->config->submit,
        .rng = ports->rng,
        .owner = owner,
        .now_ms = ports->clock->wall_ms(ports->clock),
        .default_pool = api_default_pool(api, str_of(message->queue), arena),
        .depends = depends,
        .remarks = remarks,
    };
    struct command *command = command_create(COMMAND_SUBMIT);

    if (submission_build(message, &context, command, refusal) < 0) {
        command_destroy(command);
        return NULL;
    }
    return command;
}

/* The command of a request, which is only checked if `remarks` is not NULL;
 * NULL: the call is over. */
static struct command *make(struct api_call *call, struct str request,
                            struct pod_remarks_made *remarks)
{
    Berth__Submission__Request *message;
    struct refusal refusal = {.item_number = 0};
    const struct depends *depends = NULL;
    struct err err;

    int rc = submission_decode(request, &call->arena, &message, &err);
    if (rc < 0) {
        refuse_bytes(call, rc, &err);
        return NULL;
    }
    if (!api_call_authorize_queue(call, str_of(message->queue))) {
        return NULL;
    }
    if (check_policies(call->api, message, &refusal) < 0) {
        refuse(call, &refusal);
        return NULL;
    }
    if (depends_are_given(message) && !find_depends(call, message, &depends)) {
        return NULL;
    }
    struct command *command = build(call->api, call->principal.name, message,
                                    depends, remarks, &call->arena, &refusal);
    if (!command) {
        refuse(call, &refusal);
    }
    return command;
}

struct command *submit_command_make(struct api_call *call, struct str request)
{
    return make(call, request, NULL);
}

struct command *submit_command_check(struct api_call *call, struct str request)
{
    struct pod_remarks_made remarks = {.arena = &call->arena};

    return make(call, request, &remarks);
}

/* Whether somebody may submit to a queue. */
static bool may_submit(struct api *api, const struct principal *owner,
                       struct str queue, struct arena *arena)
{
    const struct queue_entry *entry =
        queue_table_find(api->ports.queues, queue);
    bool is_allowed =
        entry &&
        (auth_has_permission(&api->auth, owner, PERMISSION_SUBMIT_ANY_JOBS) ||
         api_queue_grants(entry, owner, VERB_SUBMIT, arena));

    queue_entry_unref(entry);
    return is_allowed;
}

struct command *submit_command_as(struct api *api,
                                  const struct principal *owner,
                                  struct str request, struct arena *arena,
                                  struct refusal *refusal)
{
    Berth__Submission__Request *message;
    struct err err;

    if (submission_decode(request, arena, &message, &err) < 0) {
        (void)refusal_set(refusal, "%s", err.text);
        return NULL;
    }
    if (!may_submit(api, owner, str_of(message->queue), arena)) {
        (void)refusal_set(refusal,
                          "%.*s may not submit to queue \"%s\", or it is gone",
                          STR_ARG(owner->name), message->queue);
        return NULL;
    }
    return check_policies(api, message, refusal) < 0
               ? NULL
               : build(api, owner->name, message, NULL, NULL, arena, refusal);
}

void handle_submit_jobs(struct api_call *call, struct str request)
{
    struct command *command = submit_command_make(call, request);

    if (!command) {
        return;
    }
    if (command->submit.item_count == 0) {
        command_destroy(command);
        api_call_reply_empty(call);
        return;
    }
    post(call, command);
}

void handle_check_jobs(struct api_call *call, struct str request)
{
    struct pod_remarks_made remarks = {.arena = &call->arena};
    struct command *command = make(call, request, &remarks);
    Berth__Api__CheckJobsResponse response =
        BERTH__API__CHECK_JOBS_RESPONSE__INIT;

    if (command) {
        command_destroy(command);
        response.n_remarks = remarks.count;
        response.remarks = arena_alloc_array(&call->arena, remarks.count,
                                             sizeof(*response.remarks));
        for (uint32_t i = 0; i < remarks.count; i++) {
            response.remarks[i] =
                arena_strdup(&call->arena, str_of(remarks.items[i]));
        }
        api_call_reply(call, &response.base);
    }
}
