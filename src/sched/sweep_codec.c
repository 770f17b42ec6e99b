/* Open sweeps in a checkpoint: what has been missed so far. */
#include <stdlib.h>
#include <string.h>

#include "sched/order/sweep.h"
#include "sched/state/history.h"

static int compare_jobs(const void *a, const void *b)
{
    const struct job_id *x = a, *y = b;

    return key128_compare(x->v, y->v);
}

static int compare_names(const void *a, const void *b)
{
    const struct str *x = a, *y = b;

    return str_compare(*x, *y);
}

/* The member with the lowest id, whether it waits or runs. */
static struct job_id member_of(const struct sched *sched,
                               const struct gang *gang)
{
    const struct seq *seqs[] = {&gang->waiting, &gang->leased};
    struct job_id least = {{UINT64_MAX, UINT64_MAX}};

    for (int s = 0; s < 2; s++) {
        for (struct seq_cursor at = {0}; !seq_is_end(seqs[s], at);
             seq_next(seqs[s], &at)) {
            struct job_id id = sched->jobs.items[seq_get(seqs[s], at)].id;
            least = compare_jobs(&id, &least) < 0 ? id : least;
        }
    }
    return least;
}

/* In order, each once. */
static void pack_ids(struct strbuf *buf, struct job_id *ids, uint32_t count)
{
    uint32_t kept_count = 0;

    qsort(ids, count, sizeof(*ids), compare_jobs);
    for (uint32_t i = 0; i < count; i++) {
        if (i == 0 || compare_jobs(&ids[i], &ids[i - 1]) != 0) {
            ids[kept_count++] = ids[i];
        }
    }
    pack_u64(buf, kept_count);
    for (uint32_t i = 0; i < kept_count; i++) {
        pack_key128(buf, ids[i].v);
    }
}

static void pack_jobs(const struct sched *sched, int kind, struct strbuf *buf)
{
    const struct sweep *sweep = &sched->sweeps[kind];
    auto_mem struct job_id *ids =
        mem_alloc_array(sweep->jobs.count + 1, sizeof(*ids));
    uint32_t count = 0;

    for (size_t i = 0; i < sweep->jobs.count; i++) {
        uint32_t job = sweep->jobs.items[i];
        if (sched->jobs.items[job].list != LIST_NONE &&
            sched->job_flags.items[job] & sweep_bit((enum round_kind)kind)) {
            ids[count++] = sched->jobs.items[job].id;
        }
    }
    pack_ids(buf, ids, count);
}

static void pack_gangs(const struct sched *sched, int kind, bool is_of_cut,
                       struct strbuf *buf)
{
    auto_mem struct job_id *ids =
        mem_alloc_array(sched->gangs.count + 1, sizeof(*ids));
    uint32_t id = sched->sweeps[kind].id, count = 0;

    for (size_t g = 0; g < sched->gangs.count; g++) {
        const struct gang *gang = &sched->gangs.items[g];
        uint32_t noted = is_of_cut ? gang->cut[kind] : gang->sweep[kind];
        if (gang->is_live && noted == id) {
            ids[count++] = member_of(sched, gang);
        }
    }
    pack_ids(buf, ids, count);
}

/* What is noted of a class. */
enum note { NOTE_MISSED, NOTE_LENT, NOTE_BARRED, NOTES };

static uint32_t *note_of(struct class *class, enum note note, int kind)
{
    uint32_t *const notes[] = {class->sweep, class->lent_sweep,
                               class->barred_sweep};

    return &notes[note][kind];
}

static void pack_classes(const struct sched *sched, int kind, enum note note,
                         struct strbuf *buf)
{
    auto_mem struct str *names =
        mem_alloc_array(sched->classes.count + 1, sizeof(*names));
    uint32_t id = sched->sweeps[kind].id, count = 0;

    for (size_t c = 0; c < sched->classes.count; c++) {
        struct class *class = &sched->classes.items[c];
        if (class->is_live && !class->is_away &&
            *note_of(class, note, kind) == id) {
            names[count++] = str_make(class->packed, class->packed_bytes);
        }
    }
    qsort(names, count, sizeof(*names), compare_names);
    pack_u64(buf, count);
    for (uint32_t i = 0; i < count; i++) {
        pack_str(buf, names[i]);
    }
}

void sweep_pack(const struct sched *sched, struct strbuf *buf)
{
    for (int kind = 0; kind < 2; kind++) {
        const struct sweep *sweep = &sched->sweeps[kind];
        if (!sweep->is_open) {
            continue;
        }
        pack_u64(buf, (uint64_t)kind);
        pack_u64(buf, sweep->pool_at);
        pack_jobs(sched, kind, buf);
        pack_gangs(sched, kind, false, buf);
        pack_gangs(sched, kind, true, buf);
        for (int note = 0; note < NOTES; note++) {
            pack_classes(sched, kind, (enum note)note, buf);
        }
    }
}

static uint32_t unpack_job(struct sched *sched, struct history_reader *reader)
{
    uint32_t job = history_read_job(sched, reader);

    reader->pack.is_bad |= job == NONE;
    return job;
}

static void unpack_jobs(struct sched *sched, struct history_reader *reader,
                        int kind)
{
    uint8_t bit = sweep_bit((enum round_kind)kind);
    uint64_t count = unpack_u64(&reader->pack);

    for (uint64_t i = 0; i < count && !reader->pack.is_bad; i++) {
        uint32_t job = unpack_job(sched, reader);
        if (job != NONE && !(sched->job_flags.items[job] & bit)) {
            sched->job_flags.items[job] |= bit;
            VEC_PUSH(&sched->sweeps[kind].jobs, job);
        }
    }
}

static void unpack_gangs(struct sched *sched, struct history_reader *reader,
                         int kind, bool is_of_cut)
{
    uint64_t count = unpack_u64(&reader->pack);

    for (uint64_t i = 0; i < count && !reader->pack.is_bad; i++) {
        uint32_t job = unpack_job(sched, reader);
        uint32_t g = job == NONE ? NONE : sched->jobs.items[job].gang;
        if (g == NONE) {
            reader->pack.is_bad = true;
            return;
        }
        struct gang *gang = &sched->gangs.items[g];
        *(is_of_cut ? &gang->cut[kind] : &gang->sweep[kind]) =
            sched->sweeps[kind].id;
    }
}

/* The classes of jobs, in the order of what they ask for. */
struct class_names {
    struct class_name {
        struct str packed;
        uint32_t class;
    } *items; /* owned */
    uint32_t count;
};

static int compare_class_names(const void *a, const void *b)
{
    const struct class_name *x = a, *y = b;
    int order = str_compare(x->packed, y->packed);

    return order ? order : (x->class > y->class) - (x->class < y->class);
}

static struct class_names list_classes(const struct sched *sched)
{
    struct class_names names = {
        .items =
            mem_alloc_array(sched->classes.count + 1, sizeof(*names.items)),
    };

    for (uint32_t c = 0; c < sched->classes.count; c++) {
        const struct class *class = &sched->classes.items[c];
        if (class->is_live && !class->is_away) {
            names.items[names.count++] = (struct class_name){
                str_make(class->packed, class->packed_bytes), c};
        }
    }
    qsort(names.items, names.count, sizeof(*names.items), compare_class_names);
    return names;
}

/* The first class that asks for that; NONE if no job does any more. */
static uint32_t find_class(const struct class_names *names, struct str packed)
{
    uint32_t low = 0, high = names->count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (str_compare(names->items[middle].packed, packed) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < names->count && str_equal(names->items[low].packed, packed)
               ? names->items[low].class
               : NONE;
}

static void unpack_classes(struct sched *sched, struct history_reader *reader,
                           const struct class_names *names, int kind,
                           enum note note)
{
    uint64_t count = unpack_u64(&reader->pack);

    for (uint64_t i = 0; i < count && !reader->pack.is_bad; i++) {
        uint32_t class = find_class(names, unpack_str(&reader->pack));
        if (class != NONE) {
            *note_of(&sched->classes.items[class], note, kind) =
                sched->sweeps[kind].id;
        }
    }
}

static void unpack_all_classes(struct sched *sched,
                               struct history_reader *reader, int kind)
{
    struct class_names names = list_classes(sched);

    for (int note = 0; note < NOTES; note++) {
        unpack_classes(sched, reader, &names, kind, (enum note)note);
    }
    mem_free(names.items);
}

void sweep_unpack(struct sched *sched, struct history_reader *reader)
{
    while (reader->pack.rest.byte_count && !reader->pack.is_bad) {
        uint64_t kind = unpack_u64(&reader->pack);
        uint64_t pool_at = unpack_u64(&reader->pack);
        if (reader->pack.is_bad || kind > ROUND_BALANCE ||
            pool_at > sched->policy->pool_count) {
            reader->pack.is_bad = true;
            return;
        }
        struct sweep *sweep = &sched->sweeps[kind];
        sweep->is_open = true;
        sweep->pool_at = (uint32_t)pool_at;
        sweep->id = ++sweep->id_last;
        sweep->version = 0; /* not the present one: much has been told since */
        unpack_jobs(sched, reader, (int)kind);
        unpack_gangs(sched, reader, (int)kind, false);
        unpack_gangs(sched, reader, (int)kind, true);
        unpack_all_classes(sched, reader, (int)kind);
    }
}
