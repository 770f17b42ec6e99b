#include "api/queries/job_array.h"

#include "api/core/message.h"
#include "wire/message/spec_labels.h"

static const char array_label[] = "berth.dev/array";
static const char index_label[] = "berth.dev/arrayIndex";

/* Where the labels go. */
struct place {
    struct arena *arena;
    Berth__Api__JobSummary *summary;
};

static bool take(void *ctx, struct str key, struct str value)
{
    struct place *place = ctx;

    if (str_equal(key, str_of(array_label))) {
        place->summary->array_id = message_copy(place->arena, value);
    } else if (str_equal(key, str_of(index_label))) {
        place->summary->array_index = message_copy(place->arena, value);
    }
    return true;
}

int job_array_of(struct store_reader *reader, struct job_id id,
                 struct arena *arena, Berth__Api__JobSummary *summary,
                 struct err *err)
{
    auto_arena spec_arena = {0};
    struct place place = {arena, summary};
    struct str spec;

    int rc = store_spec(reader, id, &spec_arena, &spec, err);
    if (rc > 0) {
        spec_labels(spec, take, &place);
    }
    return rc < 0 ? rc : 0;
}

static Berth__Api__JobCounts *
make_counts(const uint32_t counts[STORED_JOB_STATES], struct arena *arena)
{
    Berth__Api__JobCounts *message =
        message_new(arena, &berth__api__job_counts__descriptor);

    message->queued = counts[STORED_JOB_QUEUED];
    message->starting =
        (uint64_t)counts[STORED_JOB_LEASED] + counts[STORED_JOB_PENDING];
    message->running = counts[STORED_JOB_RUNNING];
    message->succeeded = counts[STORED_JOB_SUCCEEDED];
    message->failed =
        (uint64_t)counts[STORED_JOB_FAILED] + counts[STORED_JOB_REJECTED];
    message->cancelled = counts[STORED_JOB_CANCELLED];
    message->preempted = counts[STORED_JOB_PREEMPTED];
    return message;
}

int job_array_stands(struct store_reader *reader, struct job_id id,
                     struct arena *arena, Berth__Api__JobSummary *summary,
                     struct err *err)
{
    struct str array = str_of(summary->array_id);
    uint32_t counts[STORED_JOB_STATES];
    struct job_id newest;

    if (array.byte_count == 0) {
        return 1;
    }
    int rc =
        store_label_newest(reader, str_of(array_label), array, &newest, err);
    if (rc < 0 || key128_is_none(newest.v)) {
        return rc < 0 ? rc : 1; /* of an array that the index has not */
    }
    if (key128_compare(newest.v, id.v) != 0) {
        return 0;
    }
    rc = store_label_states(reader, str_of(array_label), array, counts, err);
    if (rc == 0) {
        summary->array = make_counts(counts, arena);
    }
    return rc < 0 ? rc : 1;
}

int job_array_oldest(struct store_reader *reader,
                     const Berth__Api__JobSummary *summary,
                     struct job_id *ret_oldest, struct err *err)
{
    return store_label_whole(reader, str_of(array_label),
                             str_of(summary->array_id), ret_oldest, err);
}
