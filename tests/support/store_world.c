#include "store_world.h"

#include "elog/sq.h"
#include "wire/message/field.h"

void store_world_init(struct store_world *world)
{
    *world = (struct store_world){0};
    tmpdir_init(&world->dir);
    tmpdir_path(&world->dir, "store", world->path);
    store_world_reopen(world);
}

void store_world_fini(struct store_world *world)
{
    store_reader_close(world->reader);
    store_close(world->store);
    log_batch_fini(&world->batch);
    tmpdir_fini(&world->dir);
}

void store_world_reopen(struct store_world *world)
{
    store_reader_close(world->reader);
    store_close(world->store);
    int rc = store_sqlite_open(world->path, &world->store, NULL);
    ASSERT(rc == 0);
    rc = store_reader_open(world->store, &world->reader, NULL);
    ASSERT(rc == 0);
}

void store_world_add(struct store_world *world, const char *set,
                     const struct event *event)
{
    struct event_scope scope = {STR("q"), str_of(set), STR("ann")};

    log_batch_add(&world->batch, &scope, event);
}

void store_world_apply(struct store_world *world)
{
    struct elog_record record = {
        .seq = ++world->seq,
        .epoch = 1,
        .checksum = world->seq * 31,
        .payload = log_batch_finish(&world->batch),
    };

    int rc = store_apply(world->store, &record, 1, NULL, NULL, NULL);
    ASSERT(rc == 0);
    log_batch_clear(&world->batch);
}

static void put_label(struct strbuf *meta, struct str key, struct str value)
{
    auto_strbuf entry = {0};

    field_put_bytes(&entry, 1, key);
    field_put_bytes(&entry, 2, value);
    field_put_bytes(meta, 6, strbuf_str(&entry));
}

/* With its client id as the value of two labels. */
void store_world_encode_submit(struct strbuf *buf, struct job_id job,
                               const char *client_id, const char *uri)
{
    char text[ID_TEXT_BYTES_MAX];
    auto_strbuf meta = {0};

    put_label(&meta, STR("client"), str_of(client_id));
    put_label(&meta, STR("berth.dev/array"), str_of(client_id));
    field_put_bytes(buf, 2, str_of(client_id));
    field_put_u64(buf, 3, 5);
    field_put_bytes(buf, 4, strbuf_str(&meta));
    field_put_bytes(buf, 14, str_of(job_id_format(job, text)));
    field_put_bytes(buf, 16, str_of(uri));
}

static void dump_row(sqlite3_stmt *row, struct strbuf *buf)
{
    for (int i = 0; i < sqlite3_column_count(row); i++) {
        struct str value = sq_column_str(row, i);

        for (size_t j = 0; j < value.byte_count; j++) {
            strbuf_addf(buf, "%02x", (unsigned char)value.p[j]);
        }
        strbuf_add_char(buf, ' ');
    }
    strbuf_add_char(buf, '\n');
}

void store_world_dump(const char *path, struct strbuf *buf)
{
    static const char *const tables[] = {
        "progress",  "job_set", "job",       "spec",  "run",  "set_record",
        "client_id", "active",  "set_count", "usage", "label"};
    struct sq_open how = {.path = path, .is_read_only = true};
    sqlite3 *db = NULL;

    int rc = sq_open(&how, &db, NULL);
    ASSERT(rc == 0);
    for (size_t i = 0; i < ARRAY_COUNT(tables); i++) {
        char sql[100];
        sqlite3_stmt *stmt = NULL;

        sqlite3_snprintf(sizeof(sql), sql, "SELECT * FROM %s ORDER BY 1, 2",
                         tables[i]);
        rc = sq_prepare(db, sql, &stmt, NULL);
        ASSERT(rc == 0);
        strbuf_addf(buf, "%s\n", tables[i]);
        while (sq_step(stmt, NULL) == 1) {
            dump_row(stmt, buf);
        }
        sqlite3_finalize(stmt);
    }
    sq_close(db);
}
