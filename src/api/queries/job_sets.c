/* berth.api.Berth/ListJobSets: job sets, and the states of their jobs. */
#include "api/core/message.h"
#include "api/core/state.h"
#include "api/core/view.h"
#include "api/handlers.h"
#include "berth/api.pb-c.h"

enum { LIST_JOB_SETS_MAX = 1000 }; /* in one answer */

static Berth__Api__JobSetStatus *set_message(const struct stored_job_set *set,
                                             struct arena *arena)
{
    Berth__Api__JobSetStatus *message =
        message_new(arena, &berth__api__job_set_status__descriptor);
    const uint64_t *counts = set->counts;

    message->queue = message_copy(arena, set->queue);
    message->job_set = message_copy(arena, set->name);
    message->queued = counts[STORED_JOB_QUEUED];
    message->starting = counts[STORED_JOB_LEASED] + counts[STORED_JOB_PENDING];
    message->running = counts[STORED_JOB_RUNNING];
    message->succeeded = counts[STORED_JOB_SUCCEEDED];
    message->failed = counts[STORED_JOB_FAILED] + counts[STORED_JOB_REJECTED];
    message->cancelled = counts[STORED_JOB_CANCELLED];
    message->preempted = counts[STORED_JOB_PREEMPTED];
    message->last_transition = message_time(arena, set->changed_ms);
    return message;
}

static int list(struct api_call *call,
                const Berth__Api__ListJobSetsRequest *request,
                Berth__Api__ListJobSetsResponse *ret_response, struct err *err)
{
    uint32_t limit = request->limit > 0 && request->limit < LIST_JOB_SETS_MAX
                         ? request->limit
                         : LIST_JOB_SETS_MAX;
    struct stored_job_set *sets;
    struct readers *readers;

    int rc = reader_pool_lend(call->api->readers, &readers, err);
    if (rc < 0) {
        return rc;
    }
    /* One more than wanted tells that there are more. */
    int count = store_job_sets(
        readers->store, str_of(request->queue), str_of(request->after_queue),
        str_of(request->after_job_set), limit + 1, &call->arena, &sets, err);
    reader_pool_give_back(call->api->readers, readers);
    if (count < 0) {
        return count;
    }
    ret_response->has_more = (uint32_t)count > limit;
    ret_response->job_sets = arena_alloc_array(&call->arena, (size_t)count,
                                               sizeof(*ret_response->job_sets));
    for (int i = 0; i < count && (uint32_t)i < limit; i++) {
        ret_response->job_sets[ret_response->n_job_sets++] =
            set_message(&sets[i], &call->arena);
    }
    return 0;
}

void handle_list_job_sets(struct api_call *call, struct str request)
{
    Berth__Api__ListJobSetsResponse response =
        BERTH__API__LIST_JOB_SETS_RESPONSE__INIT;
    Berth__Api__ListJobSetsRequest *message;
    struct err err;

    if (!api_call_decode(call, &berth__api__list_job_sets_request__descriptor,
                         request, &message) ||
        !view_check_queue(call, str_of(message->queue))) {
        return;
    }
    if (list(call, message, &response, &err) < 0) {
        api_call_fail_storage(call, &err);
    } else {
        api_call_reply(call, &response.base);
    }
}
