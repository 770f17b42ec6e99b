#include "api/queries/job_usage.h"

#include "api/core/message.h"
#include "wire/message/spec_labels.h"

enum { USAGE_LABELS_MAX = 256 };

/* Where the labels go. */
struct place {
    struct arena *arena;
    Berth__Api__JobUsage *usage;
};

static bool add_label(void *ctx, struct str key, struct str value)
{
    struct place *place = ctx;
    Berth__Api__JobUsage__LabelsEntry *entry = message_new(
        place->arena, &berth__api__job_usage__labels_entry__descriptor);

    entry->key = message_copy(place->arena, key);
    entry->value = message_copy(place->arena, value);
    place->usage->labels[place->usage->n_labels++] = entry;
    return place->usage->n_labels < USAGE_LABELS_MAX;
}

static int add_labels(struct store_reader *reader, struct job_id id,
                      struct place *place, struct err *err)
{
    auto_arena arena = {0};
    struct str spec;

    int rc = store_spec(reader, id, &arena, &spec, err);
    if (rc > 0) {
        place->usage->labels = arena_alloc_array(place->arena, USAGE_LABELS_MAX,
                                                 sizeof(*place->usage->labels));
        spec_labels(spec, add_label, place);
    }
    return rc < 0 ? rc : 0;
}

/* Runs that are not over are not charged yet. */
static void add_runs(const struct stored_run *runs, int count,
                     Berth__Api__JobUsage *usage)
{
    for (int i = 0; i < count; i++) {
        int64_t ran_ms = runs[i].finished_ms - runs[i].leased_ms;
        if (runs[i].finished_ms == 0 || ran_ms < 0) {
            continue;
        }
        usage->ran_ms += ran_ms;
        usage->wasted_ms += runs[i].state == STORED_RUN_SUCCEEDED ? 0 : ran_ms;
    }
}

/* The newest lease comes first. */
static int64_t waited_ms(const struct stored_job *job,
                         const struct stored_run *runs, int count)
{
    bool has_ended =
        job->state >= STORED_JOB_SUCCEEDED && job->state != STORED_JOB_LEASED;

    return count > 0   ? runs[count - 1].leased_ms - job->submitted_ms
           : has_ended ? job->last_transition_ms - job->submitted_ms
                       : 0;
}

int job_usage_of(struct store_reader *reader, const struct stored_job *job,
                 struct arena *arena, Berth__Api__JobSummary *summary,
                 struct err *err)
{
    struct place place = {
        arena, message_new(arena, &berth__api__job_usage__descriptor)};
    auto_arena runs_arena = {0};
    struct stored_run *runs;

    int count = store_runs_of_job(reader, job->id, &runs_arena, &runs, err);
    if (count < 0) {
        return count;
    }
    place.usage->core_milli = job->core_milli;
    place.usage->gpu_milli = job->gpu_milli;
    place.usage->waited_ms = waited_ms(job, runs, count);
    add_runs(runs, count, place.usage);
    summary->usage = place.usage;
    return add_labels(reader, job->id, &place, err);
}
