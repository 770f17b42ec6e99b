/* berth.api.Berth/GetQueueShares: what queues are due and hold. */
#include "api/core/message.h"
#include "api/core/state.h"
#include "api/handlers.h"
#include "berth/api.pb-c.h"

/* A number that stands for none below 0. */
static Google__Protobuf__DoubleValue *double_or_none(struct arena *arena,
                                                     int64_t value, double one)
{
    if (value < 0) {
        return NULL;
    }
    Google__Protobuf__DoubleValue *message =
        message_new(arena, &google__protobuf__double_value__descriptor);
    message->value = (double)value / one;
    return message;
}

static Berth__Api__QueueShare *share_message(const struct queue_share *share,
                                             struct arena *arena)
{
    Berth__Api__QueueShare *message =
        message_new(arena, &berth__api__queue_share__descriptor);

    message->queue = message_copy(arena, share->queue);
    message->pool = message_copy(arena, share->pool);
    message->weight = (double)share->weight_micro / 1e6;
    message->fair_share = (double)share->fair_share_ppm / 1e6;
    message->adjusted_share = (double)share->adjusted_share_ppm / 1e6;
    message->actual_share = (double)share->actual_share_ppm / 1e6;
    message->demand_share = (double)share->demand_share_ppm / 1e6;
    message->queued_count = share->queued_count;
    message->leased_count = share->leased_count;
    message->pending_count = share->pending_count;
    message->running_count = share->running_count;
    message->job_count = share->job_count;
    message->cordoned = share->is_cordoned;
    message->usage = (double)share->usage_ppm / 1e6;
    message->flow = (double)share->flow_ppm / 1e6;
    message->infinite_flow = (double)share->infinite_flow_ppm / 1e6;
    message->infinite_limit =
        double_or_none(arena, share->infinite_limit_ppm, 1e6);
    message->budget = double_or_none(arena, share->budget_milli, 1e3);
    message->budget_left = double_or_none(arena, share->budget_left_milli, 1e3);
    return message;
}

static void shares_known(struct command *command, void *ctx)
{
    Berth__Api__GetQueueSharesResponse response =
        BERTH__API__GET_QUEUE_SHARES_RESPONSE__INIT;
    struct api_call *call = ctx;
    const Berth__Api__GetQueueSharesRequest *request = call->data;
    struct str pool = str_of(request->pool);
    struct str queue = str_of(request->queue);

    if (!api_call_fail_command(call, command, "log")) {
        response.shares =
            arena_alloc_array(&call->arena, command->queues.share_count,
                              sizeof(*response.shares));
        for (uint32_t i = 0; i < command->queues.share_count; i++) {
            const struct queue_share *share = &command->queues.shares[i];
            if ((!pool.byte_count || str_equal(pool, share->pool)) &&
                (!queue.byte_count || str_equal(queue, share->queue))) {
                response.shares[response.n_shares++] =
                    share_message(share, &call->arena);
            }
        }
        api_call_reply(call, &response.base);
    }
    command_destroy(command);
}

void handle_get_queue_shares(struct api_call *call, struct str request)
{
    Berth__Api__GetQueueSharesRequest *message;

    if (!api_call_decode(call,
                         &berth__api__get_queue_shares_request__descriptor,
                         request, &message)) {
        return;
    }
    call->data = message; /* lives in the call's arena */
    api_call_post(call, command_create(COMMAND_QUERY_QUEUES), shares_known);
}
