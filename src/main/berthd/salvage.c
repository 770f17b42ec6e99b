#include "main/berthd/salvage.h"

#include "main/berthd/leader_query.h"
#include "main/common/say.h"
#include "wire/log/log_codec.h"
#include "wire/message/field.h"

enum {
    PAGE_JOBS_MAX = 1000,
    COMMAND_EVENTS_BYTES = 8 << 20, /* of one command, about */
    ANSWER_MS_MAX = 60000,
    /* Clocks of those who made the events differ. */
    MARGIN_MS = 60000,
};

/* Fields of an armadaevents.EventSequence. */
enum {
    SEQUENCE_QUEUE = 1,
    SEQUENCE_JOB_SET = 2,
    SEQUENCE_USER = 3,
    SEQUENCE_EVENTS = 5,
};

/* A job of the store, and what there is to say of it. */
struct found {
    struct job_id id;
    int64_t submitted_ms;
    bool has_ended;
};

struct salvage {
    const struct salvage_options *options;
    struct store_reader *reader;
    int64_t since_ms; /* what the log knows of is older */
    VEC(struct found) jobs;
    struct command *command;              /* being filled, or NULL */
    VEC(struct event_sequence) sequences; /* of it */
    size_t byte_count;                    /* of them */
    uint64_t ended_count, submit_count, object_count;
};

/* How many events the leader had no use for.  It publishes that behind each
 * step, so a further one is asked for. */
static uint64_t late_count(const struct salvage *s)
{
    struct control_metrics metrics;
    auto_ptr(command) step = leader_query(leader_inbox(s->options->leader),
                                          COMMAND_QUERY_QUEUES, ANSWER_MS_MAX);

    (void)step;
    leader_metrics(s->options->leader, &metrics);
    return metrics.late_count;
}

static int keep_time(void *ctx, const struct elog_record *record)
{
    *(int64_t *)ctx = record->time_ms;
    return 0;
}

/* When the last record was made that the store had folded. */
static int find_since(struct salvage *s, struct err *err)
{
    auto_ptr(elog_reader) reader = NULL;
    struct elog_range last = {.from_seq = store_seq(s->options->store),
                              .record_count_max = 1};
    int64_t time_ms = 0;

    if (last.from_seq == 0) {
        s->since_ms = INT64_MAX; /* the log knows of no job that could go on */
        return 0;
    }
    int rc = elog_reader_open(s->options->log, &reader, err);
    if (rc == 0) {
        rc = elog_read(reader, &last, keep_time, &time_ms, err);
    }
    s->since_ms = time_ms - MARGIN_MS;
    return rc < 0 && rc != -ERR_NOT_FOUND ? rc : 0;
}

static bool has_ended(enum stored_job_state state)
{
    return state != STORED_JOB_QUEUED && state != STORED_JOB_LEASED &&
           state != STORED_JOB_PENDING && state != STORED_JOB_RUNNING;
}

static void note_jobs(struct salvage *s, const struct stored_job *jobs,
                      int count)
{
    for (int i = 0; i < count; i++) {
        struct found found = {jobs[i].id, jobs[i].submitted_ms,
                              has_ended(jobs[i].state)};

        if (!found.has_ended || jobs[i].last_transition_ms >= s->since_ms) {
            VEC_PUSH(&s->jobs, found);
        }
    }
}

/* Find the jobs to speak of, newest first. */
static int find_jobs(struct salvage *s, struct err *err)
{
    struct store_filter filter = {.count_max = PAGE_JOBS_MAX};
    int count = PAGE_JOBS_MAX;

    while (count == PAGE_JOBS_MAX) {
        auto_arena arena = {0};
        struct stored_job *jobs = NULL;

        count = store_list(s->reader, &filter, &arena, &jobs, err);
        if (count > 0) {
            note_jobs(s, jobs, count);
            filter.older_than = jobs[count - 1].id;
        }
    }
    return count < 0 ? count : 0;
}

/* Post what was gathered, and wait until it is durable. */
static int settle(struct salvage *s, struct err *err)
{
    struct command *command = steal_ptr(s->command);

    if (!command) {
        return 0;
    }
    size_t byte_count = s->sequences.count * sizeof(struct event_sequence);
    command->events.sequences = arena_alloc(&command->arena, byte_count);
    memcpy(command->events.sequences, s->sequences.items, byte_count);
    command->events.sequence_count = (uint32_t)s->sequences.count;
    s->sequences.count = 0;
    s->byte_count = 0;
    auto_ptr(command) answer =
        leader_ask(leader_inbox(s->options->leader), command, ANSWER_MS_MAX);
    return answer ? 0
                  : err_set(err, -ERR_UNAVAILABLE,
                            "the leader did not recover the jobs that the log "
                            "has lost; start again with --accept-loss");
}

/* Add one event to the command. */
static void add_encoded(struct salvage *s, const struct event_scope *scope,
                        struct str encoded)
{
    auto_strbuf sequence = {0};

    if (!s->command) {
        s->command = command_create(COMMAND_EVENTS);
    }
    field_put_bytes(&sequence, SEQUENCE_QUEUE, scope->queue);
    field_put_bytes(&sequence, SEQUENCE_JOB_SET, scope->job_set);
    field_put_bytes(&sequence, SEQUENCE_USER, scope->user);
    field_put_bytes(&sequence, SEQUENCE_EVENTS, encoded);
    struct event_sequence item = {
        arena_str(&s->command->arena, strbuf_str(&sequence))};
    VEC_PUSH(&s->sequences, item);
    s->byte_count += item.bytes.byte_count;
}

/* Add one event about a job to the command. */
static void add_event(struct salvage *s, const struct stored_job *job,
                      const struct event *event)
{
    struct event_scope scope = {job->queue, job->job_set, job->owner};
    auto_strbuf encoded = {0};

    log_encode_event(&encoded, event);
    add_encoded(s, &scope, strbuf_str(&encoded));
}

static const char *kind_word(const struct stored_object *object)
{
    return object->kind == EVENT_QUEUE_SET          ? "queue"
           : object->kind == EVENT_RETRY_POLICY_SET ? "retry policy"
           : object->kind == EVENT_POOL_SET         ? "pool"
           : object->kind == EVENT_WINDOW_SET       ? "maintenance window"
           : object->kind == EVENT_PERIODIC_SET     ? "periodic job"
           : object->kind == EVENT_TRAINING_JOB_SET ? "TrainingJob"
                                                    : "executor settings";
}

/* Make, change or delete an object as the lost event did. */
static void add_object(struct salvage *s, const struct stored_object *object)
{
    struct event_scope scope = {object->queue, object->job_set, object->user};

    struct err refusal;

    add_encoded(s, &scope, object->event);
    if (settle(s, &refusal) == 0) {
        s->object_count++;
    } else {
        say(SAY_WARN, "log.not_salvaged", say_text("kind", kind_word(object)),
            say_str("name", object->name),
            say_text("advice", "make or change it again"));
    }
}

/* What the lost records said of queues and all else that is no job: before the
 * jobs, which need it. */
static int take_up_objects(struct salvage *s, struct err *err)
{
    auto_arena arena = {0};
    struct stored_object *objects = NULL;

    int count = store_objects(s->reader, store_seq(s->options->store), &arena,
                              &objects, err);
    for (int i = 0; i < count; i++) {
        add_object(s, &objects[i]);
    }
    return count < 0 ? count : 0;
}

/* Speak of one job. */
static int add_job(struct salvage *s, const struct found *found,
                   struct err *err)
{
    auto_arena arena = {0};
    struct stored_job job;
    struct event event = {.job = found->id};

    int rc = store_job(s->reader, found->id, &arena, &job, err);
    if (rc == 1 && found->has_ended) {
        event.type = EVENT_CANCEL;
        event.created_ms = job.last_transition_ms;
        event.cancel.reason = STR("the job had ended; the log lost that");
        s->ended_count++;
    } else if (rc == 1) {
        event.type = EVENT_SUBMIT;
        event.created_ms = job.submitted_ms;
        rc = store_spec(s->reader, found->id, &arena, &event.submit.encoded,
                        err);
        s->submit_count += rc == 1;
    }
    if (rc != 1) {
        return rc;
    }
    add_event(s, &job, &event);
    return s->byte_count >= COMMAND_EVENTS_BYTES ? settle(s, err) : 0;
}

static int take_up(struct salvage *s, struct err *err)
{
    int rc = find_since(s, err);

    rc = rc < 0 ? rc : take_up_objects(s, err);
    rc = rc < 0 ? rc : find_jobs(s, err);
    /* The oldest first: that is how they stood in their queues. */
    for (size_t i = s->jobs.count; rc == 0 && i > 0; i--) {
        rc = add_job(s, &s->jobs.items[i - 1], err);
    }
    return rc < 0 ? rc : settle(s, err);
}

int salvage(const struct salvage_options *options, struct err *err)
{
    struct salvage s = {.options = options};

    int rc = store_reader_open(options->store, &s.reader, err);
    if (rc < 0) {
        return rc;
    }
    uint64_t late = late_count(&s);
    rc = take_up(&s, err);
    if (rc == 0) {
        say(SAY_WARN, "log.salvaged",
            say_int("jobs",
                    (int64_t)(s.submit_count - (late_count(&s) - late))),
            say_int("ended", (int64_t)s.ended_count),
            say_int("objects", (int64_t)s.object_count),
            say_text("advice",
                     "check with berthctl get queues that all queues exist"));
    }
    command_destroy(s.command);
    VEC_FREE(&s.jobs);
    VEC_FREE(&s.sequences);
    store_reader_close(s.reader);
    return rc;
}
