#include "store/labels.h"

#include "base/hash.h"
#include "store/store.h"
#include "store/store_sqlite_file.h"
#include "wire/message/spec_labels.h"

int64_t label_hash(struct str key, struct str value)
{
    uint64_t hash = hash_bytes(key.p, key.byte_count, 1);

    return (int64_t)hash_bytes(value.p, value.byte_count, hash);
}

bool store_label_is_indexed(struct str key)
{
    return !str_equal(key, STR("berth.dev/arrayIndex"));
}

static bool take_array(void *ctx, struct str key, struct str value)
{
    int64_t *hash = ctx;

    if (str_equal(key, STR("berth.dev/array"))) {
        *hash = label_hash(key, value);
    }
    return true;
}

int64_t label_array_of(struct str spec)
{
    int64_t hash = 0;

    spec_labels(spec, take_array, &hash);
    return hash;
}

/* What is run for each label. */
struct run {
    sqlite3_stmt *stmt;
    unsigned char job[STORE_ID_BYTES];
    struct err *err;
    int rc;
};

static bool run_one(void *ctx, struct str key, struct str value)
{
    struct run *run = ctx;

    if (store_label_is_indexed(key)) {
        sq_bind_int(run->stmt, 1, label_hash(key, value));
        sq_bind_blob(run->stmt, 2,
                     str_make((const char *)run->job, STORE_ID_BYTES));
        run->rc = sq_run(run->stmt, run->err);
    }
    return run->rc >= 0;
}

int labels_run(struct str spec, struct job_id job, sqlite3_stmt *stmt,
               struct err *err)
{
    struct run run = {.stmt = stmt, .err = err};

    (void)store_id_put(job.v, run.job);
    spec_labels(spec, run_one, &run);
    return run.rc;
}
