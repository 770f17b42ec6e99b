#include "notify/note.h"

#include <jansson.h>
#include <stdio.h>

#include "base/hash.h"
#include "wire/text/printable.h"
#include "wire/text/rfc3339.h"
#include "wire/text/utf8.h"

enum { MS_PER_S = 1000, NANOS_PER_MS = 1000000, MILLISECOND_DIGITS = 3 };

static const enum stored_job_state ends[] = {
    STORED_JOB_SUCCEEDED, STORED_JOB_FAILED,   STORED_JOB_CANCELLED,
    STORED_JOB_PREEMPTED, STORED_JOB_REJECTED,
};

const char *note_state_word(enum stored_job_state state)
{
    switch (state) {
    case STORED_JOB_SUCCEEDED:
        return "succeeded";
    case STORED_JOB_FAILED:
        return "failed";
    case STORED_JOB_CANCELLED:
        return "cancelled";
    case STORED_JOB_PREEMPTED:
        return "preempted";
    case STORED_JOB_REJECTED:
        return "rejected";
    case STORED_JOB_QUEUED:
    case STORED_JOB_PENDING:
    case STORED_JOB_RUNNING:
    case STORED_JOB_LEASED:
        break;
    }
    return "";
}

enum stored_job_state note_state_of(struct str word)
{
    for (size_t i = 0; i < ARRAY_COUNT(ends); i++) {
        if (str_equal(word, str_of(note_state_word(ends[i])))) {
            return ends[i];
        }
    }
    return (enum stored_job_state)0;
}

enum stored_job_state note_set_state(const struct stored_job_set *set)
{
    const uint64_t *counts = set->counts;

    if (counts[STORED_JOB_FAILED] + counts[STORED_JOB_REJECTED] +
            counts[STORED_JOB_PREEMPTED] >
        0) {
        return STORED_JOB_FAILED;
    }
    return counts[STORED_JOB_CANCELLED] > 0 ? STORED_JOB_CANCELLED
                                            : STORED_JOB_SUCCEEDED;
}

static uint64_t ended_count(const struct stored_job_set *set)
{
    uint64_t count = 0;

    for (size_t i = 0; i < ARRAY_COUNT(ends); i++) {
        count += set->counts[ends[i]];
    }
    return count;
}

static uint64_t job_count(const struct stored_job_set *set)
{
    uint64_t count = 0;

    for (size_t i = 0; i < ARRAY_COUNT(set->counts); i++) {
        count += set->counts[i];
    }
    return count;
}

bool note_set_has_ended(const struct stored_job_set *set)
{
    return job_count(set) > 0 && ended_count(set) == job_count(set);
}

void note_job_id(const struct stored_job *job, char text[NOTE_ID_BYTES_MAX])
{
    char id[ID_TEXT_BYTES_MAX];

    (void)snprintf(text, NOTE_ID_BYTES_MAX, "job-%s",
                   job_id_format(job->id, id));
}

void note_set_id(const struct stored_job_set *set, char text[NOTE_ID_BYTES_MAX])
{
    uint64_t hash =
        hash_bytes(set->queue.p, set->queue.byte_count, set->name.byte_count);

    hash = hash_bytes(set->name.p, set->name.byte_count, hash);
    (void)snprintf(text, NOTE_ID_BYTES_MAX, "set-%016llx-%lld",
                   (unsigned long long)hash, (long long)set->changed_ms);
}

/* A text of a job; what is no UTF-8 in it is escaped. */
static void set_text(json_t *object, const char *key, struct str text)
{
    auto_strbuf clean = {0};

    if (text.byte_count > NOTE_REASON_BYTES_MAX) {
        text.byte_count = NOTE_REASON_BYTES_MAX;
    }
    if (utf8_is_text(text)) {
        strbuf_add_str(&clean, text);
    } else {
        wire_printable(text, PRINTABLE_TEXT, &clean);
    }
    (void)json_object_set_new(object, key, json_string(strbuf_text(&clean)));
}

static void set_word(json_t *object, const char *key, const char *word)
{
    (void)json_object_set_new(object, key, json_string(word));
}

static void set_count(json_t *object, const char *key, uint64_t count)
{
    (void)json_object_set_new(object, key, json_integer((json_int_t)count));
}

/* Nothing for what has not been. */
static void set_time(json_t *object, const char *key, int64_t ms)
{
    char text[WIRE_RFC3339_TEXT_BYTES_MAX];

    if (ms > 0) {
        set_word(object, key,
                 wire_rfc3339_format(ms / MS_PER_S,
                                     (int32_t)(ms % MS_PER_S) * NANOS_PER_MS,
                                     MILLISECOND_DIGITS, text));
    }
}

static json_t *run_json(const struct stored_run *run)
{
    json_t *object = json_object();
    char id[ID_TEXT_BYTES_MAX];

    set_word(object, "id", run_id_format(run->id, id));
    set_text(object, "executor", run->cluster);
    set_text(object, "node", run->node);
    set_text(object, "pool", run->pool);
    set_time(object, "leased", run->leased_ms);
    set_time(object, "started", run->started_ms);
    set_time(object, "ended", run->finished_ms);
    (void)json_object_set_new(object, "exitCode", json_integer(run->exit_code));
    return object;
}

static int add_bytes(const char *bytes, size_t byte_count, void *ctx)
{
    struct strbuf *out = ctx;

    strbuf_add(out, bytes, byte_count);
    return 0;
}

/* Append an object, which is given away.  What moves a cursor or hides text is
 * escaped, also where JSON would let it stand. */
static void put(const char *type, int64_t time_ms, json_t *data,
                struct strbuf *out)
{
    json_t *object = json_object();
    auto_strbuf text = {0};

    set_word(object, "type", type);
    set_time(object, "timestamp", time_ms);
    (void)json_object_set_new(object, "data", data);
    (void)json_dump_callback(object, add_bytes, &text, JSON_COMPACT);
    wire_printable(strbuf_str(&text), PRINTABLE_JSON, out);
    json_decref(object);
}

void note_put_job(const struct stored_job *job, const struct stored_run *run,
                  struct strbuf *out)
{
    json_t *data = json_object();
    char id[ID_TEXT_BYTES_MAX];
    bool is_cancelled = job->state == STORED_JOB_CANCELLED;

    set_text(data, "queue", job->queue);
    set_text(data, "jobSet", job->job_set);
    set_word(data, "jobId", job_id_format(job->id, id));
    set_word(data, "state", note_state_word(job->state));
    set_text(data, "reason", is_cancelled ? job->cancel_reason : job->error);
    set_text(data, "owner", job->owner);
    set_text(data, "namespace", job->namespace_);
    set_time(data, "submitted", job->submitted_ms);
    set_time(data, "ended", job->last_transition_ms);
    set_count(data, "runs", job->run_count);
    if (run) {
        (void)json_object_set_new(data, "lastRun", run_json(run));
    }
    put("job.ended", job->last_transition_ms, data, out);
}

void note_put_set(const struct stored_job_set *set, struct strbuf *out)
{
    json_t *data = json_object(), *jobs = json_object();

    set_text(data, "queue", set->queue);
    set_text(data, "jobSet", set->name);
    set_word(data, "state", note_state_word(note_set_state(set)));
    set_time(data, "ended", set->changed_ms);
    set_count(jobs, "total", job_count(set));
    for (size_t i = 0; i < ARRAY_COUNT(ends); i++) {
        set_count(jobs, note_state_word(ends[i]), set->counts[ends[i]]);
    }
    (void)json_object_set_new(data, "jobs", jobs);
    put("job_set.ended", set->changed_ms, data, out);
}
