/* berth.api.Berth/GetUsage: what queues and users have used. */
#include <time.h>

#include "api/core/message.h"
#include "api/core/state.h"
#include "api/core/view.h"
#include "api/handlers.h"
#include "berth/api.pb-c.h"

enum { SECONDS_PER_DAY = 24 * 3600, DAYS_MAX = 1000000 };

static const double MS_PER_HOUR = 3600e3;

/* Read a day as 2026-01-31; false: it is none. */
static bool read_day(const char *text, int64_t *ret_day)
{
    struct tm parts = {0};
    char again[16];
    const char *end = strptime(text, "%Y-%m-%d", &parts);

    if (!end || *end || parts.tm_year < 70) {
        return false;
    }
    (void)strftime(again, sizeof(again), "%Y-%m-%d", &parts);
    *ret_day = (int64_t)timegm(&parts) / SECONDS_PER_DAY;
    return strcmp(again, text) == 0;
}

static char *write_day(struct arena *arena, int64_t day)
{
    time_t seconds = (time_t)(day * SECONDS_PER_DAY);
    char text[16] = "";
    struct tm parts;

    if (gmtime_r(&seconds, &parts)) {
        (void)strftime(text, sizeof(text), "%Y-%m-%d", &parts);
    }
    return message_copy(arena, str_of(text));
}

/* Thousandths x ms in hours of one. */
static double hours(int64_t amount)
{
    return (double)amount / 1000 / MS_PER_HOUR;
}

static Berth__Api__Usage *usage_message(const struct stored_usage *row,
                                        struct arena *arena)
{
    Berth__Api__Usage *message =
        message_new(arena, &berth__api__usage__descriptor);
    const int64_t *a = row->amounts;

    if (row->day >= 0) {
        message->day = write_day(arena, row->day);
    }
    message->queue = message_copy(arena, row->queue);
    message->user = message_copy(arena, row->owner);
    message->submitted = (uint64_t)a[STORED_USAGE_SUBMITTED];
    message->succeeded = (uint64_t)a[STORED_USAGE_SUCCEEDED];
    message->failed = (uint64_t)a[STORED_USAGE_FAILED];
    message->cancelled = (uint64_t)a[STORED_USAGE_CANCELLED];
    message->preempted = (uint64_t)a[STORED_USAGE_PREEMPTED];
    message->runs = (uint64_t)a[STORED_USAGE_RUNS];
    message->waited_hours = (double)a[STORED_USAGE_WAITED_MS] / MS_PER_HOUR;
    message->ran_hours = (double)a[STORED_USAGE_RAN_MS] / MS_PER_HOUR;
    message->core_hours = hours(a[STORED_USAGE_CORE_USED]);
    message->wasted_core_hours = hours(a[STORED_USAGE_CORE_WASTED]);
    message->cancelled_core_hours = hours(a[STORED_USAGE_CORE_CANCELLED]);
    message->preempted_core_hours = hours(a[STORED_USAGE_CORE_PREEMPTED]);
    message->gpu_hours = hours(a[STORED_USAGE_GPU_USED]);
    message->wasted_gpu_hours = hours(a[STORED_USAGE_GPU_WASTED]);
    message->cancelled_gpu_hours = hours(a[STORED_USAGE_GPU_CANCELLED]);
    message->preempted_gpu_hours = hours(a[STORED_USAGE_GPU_PREEMPTED]);
    return message;
}

/* Read by what rows are apart; what is none of it, or NULL. */
static const char *read_by(const Berth__Api__GetUsageRequest *request,
                           struct store_usage_filter *filter)
{
    for (size_t i = 0; i < request->n_by; i++) {
        const char *by = request->by[i];
        bool is_day = strcmp(by, "day") == 0;
        bool is_queue = strcmp(by, "queue") == 0;
        bool is_user = strcmp(by, "user") == 0;
        filter->by_day |= is_day;
        filter->by_queue |= is_queue;
        filter->by_owner |= is_user;
        if (!is_day && !is_queue && !is_user) {
            return by;
        }
    }
    return NULL;
}

/* What the request asks of the store; false: the call is over. */
static bool make_filter(struct api_call *call,
                        const Berth__Api__GetUsageRequest *request,
                        struct store_usage_filter *ret)
{
    *ret = (struct store_usage_filter){
        .to_day = DAYS_MAX,
        .queue = str_of(request->queue),
        .owner = request->mine ? call->principal.name : str_of(request->user),
        .count_max = request->limit > 0 && request->limit < STORE_LIST_MAX
                         ? request->limit + 1
                         : STORE_LIST_MAX,
    };
    const char *bad_day =
        *request->from_day && !read_day(request->from_day, &ret->from_day)
            ? request->from_day
        : *request->to_day && !read_day(request->to_day, &ret->to_day)
            ? request->to_day
            : NULL;
    const char *bad_by = read_by(request, ret);
    bool is_reversed = *request->to_day && ret->from_day > ret->to_day;
    if (bad_day) {
        api_call_fail(call, RPC_INVALID_ARGUMENT,
                      "\"%s\" is not a day such as 2026-01-31", bad_day);
    } else if (bad_by) {
        api_call_fail(call, RPC_INVALID_ARGUMENT,
                      "by takes queue, user and day, not \"%s\"", bad_by);
    } else if (is_reversed) {
        api_call_fail(call, RPC_INVALID_ARGUMENT,
                      "from %s is later than to %s; give an earlier day first",
                      request->from_day, request->to_day);
    }
    return !bad_day && !bad_by && !is_reversed;
}

static int ask(struct api_call *call, const struct store_usage_filter *filter,
               Berth__Api__GetUsageResponse *ret_response, struct err *err)
{
    struct stored_usage *rows;
    struct readers *readers;

    int rc = reader_pool_lend(call->api->readers, &readers, err);
    if (rc < 0) {
        return rc;
    }
    int count = store_usage(readers->store, filter, &call->arena, &rows, err);
    reader_pool_give_back(call->api->readers, readers);
    if (count < 0) {
        return count;
    }
    /* The last of so many only tells that there are more. */
    ret_response->has_more = (uint32_t)count == filter->count_max;
    count -= ret_response->has_more;
    ret_response->usage = arena_alloc_array(&call->arena, (size_t)count,
                                            sizeof(*ret_response->usage));
    for (int i = 0; i < count; i++) {
        ret_response->usage[ret_response->n_usage++] =
            usage_message(&rows[i], &call->arena);
    }
    return 0;
}

void handle_get_usage(struct api_call *call, struct str request)
{
    Berth__Api__GetUsageResponse response =
        BERTH__API__GET_USAGE_RESPONSE__INIT;
    Berth__Api__GetUsageRequest *message;
    struct store_usage_filter filter;
    struct err err;

    if (!api_call_decode(call, &berth__api__get_usage_request__descriptor,
                         request, &message)) {
        return;
    }
    /* Everybody who is somebody may know what they have used themselves. */
    bool is_own = message->mine && !call->principal.is_anonymous;
    if ((!is_own && !view_check_queue(call, str_of(message->queue))) ||
        !make_filter(call, message, &filter)) {
        return;
    }
    if (ask(call, &filter, &response, &err) < 0) {
        api_call_fail_storage(call, &err);
    } else {
        api_call_reply(call, &response.base);
    }
}
