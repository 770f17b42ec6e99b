#include "main/berthd/notify_source.h"

#include "base/hash.h"
#include "base/strbuf.h"
#include "notify/note.h"
#include "wire/log/log_codec.h"
#include "wire/message/spec_labels.h"

/* By which a job names targets, in either spelling (api/submit). */
static const char *const notify_keys[] = {"berth.dev/notify",
                                          "armadaproject.io/notify"};

/* What is read of the log. */
struct reading {
    struct notify_source *source;
    uint64_t seq;              /* of the record at hand */
    struct str queue, job_set; /* the last ones, in the arena */
};

static void free_set(struct notify_set *set)
{
    mem_free((void *)(uintptr_t)set->queue.p);
    mem_free((void *)(uintptr_t)set->name.p);
}

void notify_source_fini(struct notify_source *source)
{
    for (size_t i = 0; i < source->sets.count; i++) {
        free_set(&source->sets.items[i]);
    }
    VEC_FREE(&source->sets);
    map_fini(&source->set_indexes);
    VEC_FREE(&source->ends);
    arena_fini(&source->arena);
}

/* Reading ends out of the log. */

/* As what a job ends by this event; 0: it does not. */
static enum stored_job_state end_of(const struct event *event)
{
    if (event->type == EVENT_SUCCEEDED) {
        return STORED_JOB_SUCCEEDED;
    }
    if (event->type == EVENT_CANCELLED) {
        return STORED_JOB_CANCELLED;
    }
    if (event->type != EVENT_FAILED || !event->error.is_terminal) {
        return (enum stored_job_state)0;
    }
    return event->error.kind == ERROR_REJECTED    ? STORED_JOB_REJECTED
           : event->error.kind == ERROR_PREEMPTED ? STORED_JOB_PREEMPTED
                                                  : STORED_JOB_FAILED;
}

static int take_item(const struct log_item *item, void *ctx)
{
    struct reading *reading = ctx;
    struct notify_source *source = reading->source;
    enum stored_job_state state = end_of(&item->event);

    if (!state || item->scope.queue.byte_count == 0 ||
        item->scope.job_set.byte_count == 0) {
        return 0;
    }
    if (!str_equal(reading->queue, item->scope.queue) ||
        !str_equal(reading->job_set, item->scope.job_set)) {
        reading->queue = arena_str(&source->arena, item->scope.queue);
        reading->job_set = arena_str(&source->arena, item->scope.job_set);
    }
    VEC_PUSH(&source->ends,
             (struct notify_end){item->event.job, reading->queue,
                                 reading->job_set, state, reading->seq});
    return 0;
}

static int take_record(void *ctx, const struct elog_record *record)
{
    struct reading *reading = ctx;
    auto_arena arena = {0};
    struct err err;

    reading->seq = record->seq;
    /* The projector has read it before us: it says what is wrong with it. */
    return log_decode(record->payload, &arena, take_item, reading, &err);
}

/* Read the ends of the next records: how many these are, or a code. */
static int read_ends(struct notify_source *source, uint64_t store_seq,
                     struct err *err)
{
    struct elog_range range = {.from_seq = source->seq + 1,
                               .record_count_max = NOTIFY_SOURCE_RECORDS_MAX,
                               .byte_count_max = NOTIFY_SOURCE_BYTES_MAX};
    struct reading reading = {.source = source};

    source->ends.count = source->next_end = 0;
    arena_reset(&source->arena);
    if (store_seq <= source->seq) {
        return 0;
    }
    if (store_seq - source->seq < range.record_count_max) {
        range.record_count_max = (uint32_t)(store_seq - source->seq);
    }
    int count = elog_read(source->log, &range, take_record, &reading, err);
    source->read_seq = source->seq + (count > 0 ? (uint64_t)count : 0);
    return count;
}

/* What targets want. */

struct names_of {
    const struct notify_source *source;
    uint32_t asked;
};

static bool take_annotation(void *ctx, struct str key, struct str value)
{
    struct names_of *names = ctx;
    const struct notify_source *source = names->source;

    for (size_t k = 0; k < ARRAY_COUNT(notify_keys); k++) {
        for (uint32_t i = 0;
             str_equal(key, str_of(notify_keys[k])) && i < source->target_count;
             i++) {
            names->asked |= notify_target_is_named(&source->targets[i], value)
                                ? 1u << i
                                : 0;
        }
    }
    return true;
}

/* The targets that are told of each end, or that the job names, as bits. */
static int asked_by(struct notify_source *source, struct job_id job,
                    struct arena *arena, uint32_t *ret_asked, struct err *err)
{
    struct names_of names = {source, 0};
    bool is_any_on_request = false;
    struct str spec;

    for (uint32_t i = 0; i < source->target_count; i++) {
        is_any_on_request |= source->targets[i].is_on_request;
        names.asked |= source->targets[i].is_on_request ? 0 : 1u << i;
    }
    int rc = is_any_on_request
                 ? store_spec(source->store, job, arena, &spec, err)
                 : 0;
    if (rc > 0) {
        spec_annotations(spec, take_annotation, &names);
    }
    *ret_asked = names.asked;
    return rc < 0 ? rc : 0;
}

/* The targets of `asked` that want an event, as bits. */
static uint32_t wanted(const struct notify_source *source, uint32_t asked,
                       enum notify_event event, struct str queue,
                       enum stored_job_state state, uint64_t seq)
{
    uint32_t bits = 0;

    for (uint32_t i = 0; i < source->target_count; i++) {
        bool is_wanted =
            (asked & (1u << i)) != 0 && seq > source->told_seqs[i] &&
            notify_target_wants(&source->targets[i], event, queue, state);
        bits |= is_wanted ? 1u << i : 0;
    }
    return bits;
}

static void add_note(struct notify_source *source, uint32_t targets,
                     uint64_t seq, const char *id, const struct strbuf *body,
                     int64_t now_ms)
{
    for (uint32_t i = 0; i < source->target_count; i++) {
        if (targets & (1u << i)) {
            (void)outbox_add(source->outbox, i, seq, str_of(id),
                             strbuf_str(body), now_ms);
        }
    }
}

static int add_job(struct notify_source *source, const struct notify_end *ended,
                   uint32_t targets, struct arena *arena, int64_t now_ms,
                   struct err *err)
{
    auto_strbuf body = {0};
    char id[NOTE_ID_BYTES_MAX];
    struct stored_job job;
    struct stored_run run;
    int has_run = 0;

    int rc = store_job(source->store, ended->job, arena, &job, err);
    if (rc == 1 && !key128_is_none(job.latest_run.v)) {
        has_run = store_run(source->store, job.latest_run, arena, &run, err);
    }
    if (rc <= 0 || has_run < 0) {
        return rc < 0 ? rc : has_run;
    }
    note_job_id(&job, id);
    note_put_job(&job, has_run ? &run : NULL, &body);
    add_note(source, targets, ended->seq, id, &body, now_ms);
    return 0;
}

/* Sets that may have ended. */

static struct key128 key_of(struct str queue, struct str name)
{
    uint64_t hash = hash_bytes(queue.p, queue.byte_count, name.byte_count);

    return (struct key128){hash, hash_bytes(name.p, name.byte_count, hash)};
}

static void note_set(struct notify_source *source,
                     const struct notify_end *ended, uint32_t asked)
{
    struct key128 key = key_of(ended->queue, ended->job_set);
    uint32_t index = map_find(&source->set_indexes, key);
    struct notify_set *set =
        index == MAP_NONE ? NULL : &source->sets.items[index];

    if (set && str_equal(set->queue, ended->queue) &&
        str_equal(set->name, ended->job_set)) {
        set->seq = ended->seq;
        set->asked = asked;
        return;
    }
    (void)map_put(&source->set_indexes, key, (uint32_t)source->sets.count);
    VEC_PUSH(&source->sets,
             (struct notify_set){
                 str_make(str_dup(ended->queue), ended->queue.byte_count),
                 str_make(str_dup(ended->job_set), ended->job_set.byte_count),
                 ended->seq, asked});
}

/* Whether records of a set are left to be read: 1 or 0, or a code. */
static int has_more(struct notify_source *source, const struct notify_set *set,
                    struct err *err)
{
    uint64_t seq;
    int64_t key;

    int rc = store_job_set(source->store, set->queue, set->name, &key, err);
    return rc <= 0 ? rc
                   : store_job_set_seqs(source->store, key, source->seq, &seq,
                                        1, err);
}

static int add_set(struct notify_source *source, const struct notify_set *set,
                   struct arena *arena, int64_t now_ms, struct err *err)
{
    auto_strbuf body = {0};
    char id[NOTE_ID_BYTES_MAX];
    struct stored_job_set counts;

    int rc = store_job_set_counts(source->store, set->queue, set->name, arena,
                                  &counts, err);
    if (rc <= 0 || !note_set_has_ended(&counts)) {
        return rc < 0 ? rc : 0;
    }
    uint32_t targets = wanted(source, set->asked, NOTIFY_JOB_SET, set->queue,
                              note_set_state(&counts), set->seq);
    note_set_id(&counts, id);
    note_put_set(&counts, &body);
    add_note(source, targets, set->seq, id, &body, now_ms);
    return 0;
}

/* Tell of the sets that have ended; keep those of which more is to come. */
static int add_sets(struct notify_source *source, struct arena *arena,
                    int64_t now_ms, struct err *err)
{
    size_t kept = 0;
    int rc = 0;

    map_fini(&source->set_indexes);
    for (size_t i = 0; i < source->sets.count; i++) {
        struct notify_set *set = &source->sets.items[i];
        bool is_room = kept < NOTIFY_SOURCE_SETS_MAX;
        int more = rc < 0 || !outbox_has_room(source->outbox)
                       ? 1
                       : has_more(source, set, err);
        if (rc == 0 && more == 0) {
            rc = add_set(source, set, arena, now_ms, err);
        }
        rc = rc < 0 ? rc : more < 0 ? more : 0;
        if (rc < 0 || (more > 0 && is_room)) {
            (void)map_put(&source->set_indexes, key_of(set->queue, set->name),
                          (uint32_t)kept);
            source->sets.items[kept++] = *set;
        } else {
            free_set(set);
        }
    }
    source->sets.count = kept;
    return rc;
}

static bool any_wants_sets(const struct notify_source *source)
{
    bool wants = false;

    for (uint32_t i = 0; i < source->target_count; i++) {
        wants |= (source->targets[i].events & NOTIFY_JOB_SET) != 0;
    }
    return wants;
}

static int take_end(struct notify_source *source,
                    const struct notify_end *ended, int64_t now_ms,
                    struct err *err)
{
    auto_arena arena = {0};
    uint32_t asked;

    int rc = asked_by(source, ended->job, &arena, &asked, err);
    uint32_t targets = rc < 0 ? 0
                              : wanted(source, asked, NOTIFY_JOB, ended->queue,
                                       ended->state, ended->seq);
    if (targets) {
        rc = add_job(source, ended, targets, &arena, now_ms, err);
    }
    if (rc == 0 && any_wants_sets(source)) {
        note_set(source, ended, asked);
    }
    return rc;
}

/* Hand over what has been read, as far as there is room: 1 when it is done. */
static int take_ends(struct notify_source *source, int64_t now_ms,
                     struct err *err)
{
    while (source->next_end < source->ends.count) {
        if (!outbox_has_room(source->outbox)) {
            return 0;
        }
        int rc = take_end(source, &source->ends.items[source->next_end], now_ms,
                          err);
        if (rc < 0) {
            return rc;
        }
        source->next_end++;
    }
    source->seq = source->read_seq;
    return 1;
}

int notify_source_go_on(struct notify_source *source, uint64_t store_seq,
                        int64_t now_ms, struct err *err)
{
    auto_arena arena = {0};
    int rc = 1;

    if (source->read_seq <= source->seq) {
        rc = read_ends(source, store_seq, err);
    }
    if (rc > 0) {
        rc = take_ends(source, now_ms, err);
    }
    if (rc >= 0 && source->read_seq <= source->seq) {
        int added = add_sets(source, &arena, now_ms, err);
        rc = added < 0 ? added : rc;
    }
    return rc;
}

uint64_t notify_source_position(const struct notify_source *source,
                                uint32_t target)
{
    uint64_t seq = source->next_end < source->ends.count
                       ? source->ends.items[source->next_end].seq - 1
                       : source->seq;

    if (source->targets[target].events & NOTIFY_JOB_SET) {
        for (size_t i = 0; i < source->sets.count; i++) {
            uint64_t before = source->sets.items[i].seq - 1;
            seq = before < seq ? before : seq;
        }
    }
    return outbox_position(source->outbox, target, seq);
}
