/* Periodic jobs, as the log has them. */
#include "control/fold/periodic.h"

#include "control/state/state.h"
#include "job/table/jobs.h"

static bool has_ended(const struct control *c, struct periodic_kept_run *run)
{
    while (run->ended_count < run->job_count) {
        uint32_t job =
            jobs_find(c->jobs, job_id_after(run->first, run->ended_count));
        if (job != JOBS_NONE && jobs_is_live(c->jobs, job)) {
            return false;
        }
        run->ended_count++;
    }
    return true;
}

void periodic_prune(const struct control *c, struct periodic_entry *entry)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < entry->run_count; i++) {
        if (!has_ended(c, &entry->runs[i])) {
            entry->runs[kept++] = entry->runs[i];
        }
    }
    entry->run_count = kept;
}

/* Its jobs come behind it in the same record. */
static void fold_run(struct control *c, struct periodic_entry *entry,
                     const struct event *event)
{
    const struct periodic_run *run = &event->periodic.run;

    entry->next_ms = event->periodic.next_ms;
    if (run->outcome == PERIODIC_NONE) {
        return;
    }
    periodic_entry_note(entry, run);
    c->metrics.periodic_counts[run->outcome]++;
    if (run->outcome != PERIODIC_SUBMITTED) {
        return;
    }
    periodic_prune(c, entry);
    if (entry->run_count == PERIODIC_RUNS_MAX) { /* of a foreign log */
        entry->run_count--;
        memmove(&entry->runs[0], &entry->runs[1],
                entry->run_count * sizeof(entry->runs[0]));
    }
    entry->runs[entry->run_count++] = (struct periodic_kept_run){
        .first = run->first, .job_count = run->job_count};
}

void periodic_fold(struct control *c, const struct event_scope *scope,
                   const struct event *event)
{
    struct str name = event->periodic.name;
    struct periodic_entry *entry;

    switch ((int)event->type) {
    case EVENT_PERIODIC_SET:
        entry =
            periodic_table_put(&c->periodic_table, scope->queue, name,
                               event->periodic.encoded, &event->periodic.owner);
        if (entry) { /* else of a foreign log, with more than fit */
            entry->next_ms = event->periodic.next_ms;
        }
        break;
    case EVENT_PERIODIC_DELETED:
        (void)periodic_table_remove(&c->periodic_table, scope->queue, name);
        break;
    default:
        entry = periodic_table_find(&c->periodic_table, scope->queue, name);
        if (entry) { /* else it was deleted in the same record */
            fold_run(c, entry, event);
        }
        break;
    }
}

static void pack_entry(struct strbuf *buf, const struct periodic_entry *entry)
{
    const struct periodic_owner *owner = &entry->owner;

    pack_str(buf, entry->queue);
    pack_str(buf, entry->name);
    pack_str(buf, entry->encoded);
    pack_str(buf, owner->name);
    pack_u64(buf, owner->group_count);
    for (uint32_t i = 0; i < owner->group_count; i++) {
        pack_str(buf, owner->groups[i]);
    }
    pack_u64(buf, owner->is_administrator);
    pack_u64(buf, owner->is_anonymous);
    pack_i64(buf, entry->next_ms);
    pack_i64(buf, entry->last.moment_ms);
    pack_u64(buf, entry->last.outcome);
    pack_key128(buf, entry->last.first.v);
    pack_u64(buf, entry->last.job_count);
    pack_str(buf, entry->last.text);
    pack_u64(buf, entry->run_count);
    for (uint32_t i = 0; i < entry->run_count; i++) {
        pack_key128(buf, entry->runs[i].first.v);
        pack_u64(buf, entry->runs[i].job_count);
    }
}

void periodic_pack(const struct control *c, struct strbuf *buf)
{
    const struct periodic_table *table = &c->periodic_table;

    pack_u64(buf, table->entries.count);
    for (size_t i = 0; i < table->entries.count; i++) {
        /* Which runs have ended is known from the jobs: equal states are equal
         * bytes. */
        periodic_prune(c, table->entries.items[i]);
        pack_entry(buf, table->entries.items[i]);
    }
}

static void unpack_owner(struct pack_reader *reader, struct arena *arena,
                         struct periodic_owner *ret_owner)
{
    struct str *groups;

    ret_owner->name = unpack_str(reader);
    ret_owner->group_count = unpack_count(reader, PERIODIC_BYTES_MAX);
    groups = arena_alloc_array(arena, ret_owner->group_count, sizeof(*groups));
    for (uint32_t i = 0; i < ret_owner->group_count; i++) {
        groups[i] = unpack_str(reader);
    }
    ret_owner->groups = groups;
    ret_owner->is_administrator = unpack_u64(reader);
    ret_owner->is_anonymous = unpack_u64(reader);
}

static void unpack_runs(struct pack_reader *reader,
                        struct periodic_entry *entry)
{
    struct periodic_run last = {.moment_ms = unpack_i64(reader)};

    last.outcome =
        (enum periodic_outcome)unpack_count(reader, PERIODIC_REFUSED);
    last.first.v = unpack_key128(reader);
    last.job_count = unpack_count(reader, UINT32_MAX);
    last.text = unpack_str(reader);
    periodic_entry_note(entry, &last);
    entry->run_count = unpack_count(reader, PERIODIC_RUNS_MAX);
    for (uint32_t i = 0; i < entry->run_count; i++) {
        struct job_id first = {unpack_key128(reader)};
        entry->runs[i] = (struct periodic_kept_run){
            .first = first, .job_count = unpack_count(reader, UINT32_MAX)};
    }
}

void periodic_unpack(struct control *c, struct pack_reader *reader)
{
    uint32_t count = unpack_count(reader, PERIODIC_JOBS_MAX);

    for (uint32_t i = 0; i < count && !reader->is_bad; i++) {
        auto_arena arena = {0};
        struct periodic_owner owner = {0};
        struct str queue = unpack_str(reader);
        struct str name = unpack_str(reader);
        struct str encoded = unpack_str(reader);
        unpack_owner(reader, &arena, &owner);
        int64_t next_ms = unpack_i64(reader);
        if (reader->is_bad) {
            return;
        }
        struct periodic_entry *entry = periodic_table_put(
            &c->periodic_table, queue, name, encoded, &owner);
        ASSERT(entry); /* there are no more than fit */
        entry->next_ms = next_ms;
        unpack_runs(reader, entry);
    }
}
