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

/* Whether a job is of the same queue and owner as another: 1, or 0. */
static int is_of_one(struct store_reader *reader, struct job_id id,
                     const Berth__Api__JobSummary *summary, struct err *err)
{
    auto_arena arena = {0};
    struct stored_job job;

    int rc = store_job(reader, id, &arena, &job, err);
    return rc <= 0 ? rc
                   : str_equal(job.queue, str_of(summary->queue)) &&
                         str_equal(job.owner, str_of(summary->owner));
}

/* The newest job of an array that is all of one queue and owner: 1; 0: it is
 * not, or the index has it not. */
static int find_newest(struct store_reader *reader,
                       const Berth__Api__JobSummary *summary,
                       struct job_id *ret_newest, struct err *err)
{
    struct str key = str_of(array_label), array = str_of(summary->array_id);
    struct job_id oldest;

    int rc = store_label_newest(reader, key, array, ret_newest, err);
    if (rc < 0 || key128_is_none(ret_newest->v)) {
        return rc;
    }
    rc = store_label_oldest(reader, key, array, &oldest, err);
    rc = rc < 0 ? rc : is_of_one(reader, oldest, summary, err);
    return rc <= 0 ? rc : is_of_one(reader, *ret_newest, summary, err);
}

int job_array_stands(struct store_reader *reader, struct job_id id,
                     struct arena *arena, Berth__Api__JobSummary *summary,
                     struct err *err)
{
    struct str array = str_of(summary->array_id);
    uint32_t counts[STORED_JOB_STATES];
    struct job_id newest;

    int rc =
        array.byte_count > 0 ? find_newest(reader, summary, &newest, err) : 0;
    if (rc <= 0) {
        return rc < 0 ? rc : JOB_ARRAY_ALONE;
    }
    if (key128_compare(newest.v, id.v) != 0) {
        return JOB_ARRAY_HIDDEN;
    }
    rc = store_label_states(reader, str_of(array_label), array, counts, err);
    if (rc == 0) {
        summary->array = make_counts(counts, arena);
    }
    return rc < 0 ? rc : JOB_ARRAY_ALL;
}

int job_array_oldest(struct store_reader *reader,
                     const Berth__Api__JobSummary *summary,
                     struct job_id *ret_oldest, struct err *err)
{
    return store_label_whole(reader, str_of(array_label),
                             str_of(summary->array_id), ret_oldest, err);
}
