#include "elog/elog_sqlite_checkpoint.h"

#include <stdio.h>

#include "base/hash.h"

enum {
    PIECE_BYTES_MAX = 1 << 20,
    PIECES_PER_COMMIT = 4,
    PIECE_COUNT_MAX = 1 << 24, /* 16 TiB */
};

/* A complete checkpoint, as its row says. */
struct row {
    int64_t id;
    struct elog_checkpoint about;
    int64_t piece_count;
    uint64_t checksum;
};

/* One that is being written. */
struct writer {
    sqlite3 *db;
    sqlite3_stmt *insert;
    struct row row;
    bool has_begun; /* a transaction */
};

/* The checksum goes over the pieces in their order, then over the row. */
static uint64_t add_piece(uint64_t checksum, struct str piece)
{
    return hash_bytes(piece.p, piece.byte_count, checksum);
}

static uint64_t add_row(uint64_t checksum, const struct row *row)
{
    uint64_t fields[] = {row->about.seq, row->about.format_version,
                         row->about.byte_count, (uint64_t)row->piece_count};

    return hash_bytes(fields, sizeof(fields), checksum);
}

/* Whether a checkpoint at `seq` may be put; and the id it gets. */
static int begin(struct writer *writer, struct err *err)
{
    sqlite3 *db = writer->db;
    int64_t head_next = 0;
    int64_t newest_seq = 0;
    int64_t last_id = 0;

    int rc = sq_get_int(db, "SELECT next FROM head", &head_next, err);
    if (rc >= 0) {
        rc =
            sq_get_int(db, "SELECT max(seq) FROM checkpoint", &newest_seq, err);
    }
    if (rc >= 0) {
        rc = sq_get_int(db,
                        "SELECT max(coalesce((SELECT max(id) FROM checkpoint),"
                        " 0), coalesce((SELECT max(id) >> 24 FROM"
                        " checkpoint_piece), 0))",
                        &last_id, err);
    }
    if (rc < 0) {
        return rc;
    }
    uint64_t seq = writer->row.about.seq;
    if (seq >= (uint64_t)head_next || seq <= (uint64_t)newest_seq) {
        return err_set(err, -ERR_INVALID,
                       "a checkpoint at record %llu does not follow the "
                       "newest one or is not in the log yet",
                       (unsigned long long)seq);
    }
    writer->row.id = last_id + 1;
    return 0;
}

static int put_piece(struct writer *writer, struct str piece, struct err *err)
{
    struct row *row = &writer->row;
    int rc = 0;

    if (row->piece_count >= PIECE_COUNT_MAX) {
        return err_set(err, -ERR_LIMIT, "the checkpoint is too big");
    }
    if (!writer->has_begun) {
        rc = sq_exec(writer->db, "BEGIN IMMEDIATE", err);
        writer->has_begun = rc == 0;
    }
    if (rc == 0) {
        sq_bind_int(writer->insert, 1, row->id << 24 | row->piece_count);
        sq_bind_blob(writer->insert, 2, piece);
        rc = sq_run(writer->insert, err);
    }
    if (rc < 0) {
        return rc;
    }
    row->checksum = add_piece(row->checksum, piece);
    row->about.byte_count += piece.byte_count;
    row->piece_count++;
    if (row->piece_count % PIECES_PER_COMMIT == 0) {
        writer->has_begun = false;
        rc = sq_commit(writer->db, err);
    }
    return rc;
}

static int put_pieces(struct writer *writer, elog_piece_fn *next, void *ctx,
                      struct err *err)
{
    struct str given;
    int rc;

    while ((rc = next(ctx, &given)) > 0) {
        while (given.byte_count > 0) {
            struct str piece = given;
            if (piece.byte_count > PIECE_BYTES_MAX) {
                piece.byte_count = PIECE_BYTES_MAX;
            }
            rc = put_piece(writer, piece, err);
            if (rc < 0) {
                return rc;
            }
            given.p += piece.byte_count;
            given.byte_count -= piece.byte_count;
        }
    }
    return rc;
}

/* The row that makes it a checkpoint, and no row any more for older ones. */
static int put_row(struct writer *writer, struct err *err)
{
    const struct row *row = &writer->row;
    char sql[400];

    snprintf(sql, sizeof(sql),
             "INSERT INTO checkpoint VALUES (%lld, %lld, %lld, %lld, %lld,"
             " %lld); DELETE FROM checkpoint WHERE id NOT IN (SELECT id FROM"
             " checkpoint ORDER BY seq DESC LIMIT %d)",
             (long long)row->id, (long long)row->about.seq,
             (long long)row->about.format_version,
             (long long)row->about.byte_count, (long long)row->piece_count,
             (long long)add_row(row->checksum, row),
             (int)ELOG_CHECKPOINT_COUNT_MAX);
    int rc = 0;
    if (writer->has_begun) {
        writer->has_begun = false;
        rc = sq_commit(writer->db, err);
    }
    /* Up to here nothing had to be on the disk; this brings it all there. */
    if (rc == 0) {
        rc = sq_exec(writer->db, "PRAGMA synchronous = FULL; BEGIN IMMEDIATE",
                     err);
    }
    if (rc == 0) {
        rc = sq_exec(writer->db, sql, err);
    }
    return rc < 0 ? rc : sq_commit(writer->db, err);
}

/* Remove pieces that belong to no checkpoint, a few in each commit. */
static int remove_orphans(sqlite3 *db, struct err *err)
{
    sqlite3_stmt *remove = NULL;

    int rc = sq_prepare(db,
                        "DELETE FROM checkpoint_piece WHERE id IN"
                        " (SELECT id FROM checkpoint_piece WHERE id >> 24"
                        " NOT IN (SELECT id FROM checkpoint) LIMIT 16)",
                        &remove, err);
    while (rc == 0) {
        rc = sq_run(remove, err);
        if (sqlite3_changes(db) == 0) {
            break;
        }
    }
    sqlite3_finalize(remove);
    return rc;
}

static int put_with(struct writer *writer, elog_piece_fn *next, void *ctx,
                    struct err *err)
{
    int rc = begin(writer, err);
    if (rc == 0) {
        rc = remove_orphans(writer->db, err);
    }
    if (rc == 0) {
        rc =
            sq_prepare(writer->db, "INSERT INTO checkpoint_piece VALUES (?, ?)",
                       &writer->insert, err);
    }
    if (rc == 0) {
        rc = put_pieces(writer, next, ctx, err);
    }
    return rc < 0 ? rc : put_row(writer, err);
}

int elog_sqlite_checkpoint_put(sqlite3 *db, struct elog_checkpoint *about,
                               elog_piece_fn *next, void *ctx, struct err *err)
{
    struct writer writer = {.db = db, .row.about = *about};

    int rc = sq_exec(db, "PRAGMA synchronous = NORMAL", err);
    if (rc == 0) {
        rc = put_with(&writer, next, ctx, err);
    }
    sq_rollback(db);
    sqlite3_finalize(writer.insert);
    /* What this leaves behind the next one removes: no reason to fail. */
    int removed = remove_orphans(db, NULL);
    (void)removed;
    *about = writer.row.about;
    return rc;
}

/* Go over the pieces of a checkpoint in order; `each` may be NULL.  1 if they
 * are what the row says, 0 if not. */
static int walk(sqlite3 *db, const struct row *row, elog_checkpoint_fn *each,
                void *ctx, struct err *err)
{
    sqlite3_stmt *select = NULL;
    uint64_t checksum = 0;
    uint64_t byte_count = 0;
    int64_t piece_count = 0;

    int rc = sq_prepare(db,
                        "SELECT bytes FROM checkpoint_piece"
                        " WHERE id >= ? AND id < ? ORDER BY id",
                        &select, err);
    if (rc == 0) {
        sq_bind_int(select, 1, row->id << 24);
        sq_bind_int(select, 2, (row->id + 1) << 24);
    }
    while (rc >= 0 && (rc = sq_step(select, err)) == 1) {
        struct str piece = sq_column_str(select, 0);

        checksum = add_piece(checksum, piece);
        byte_count += piece.byte_count;
        piece_count++;
        if (each) {
            rc = each(ctx, &row->about, piece);
        }
    }
    sqlite3_finalize(select);
    if (rc < 0) {
        return rc;
    }
    return byte_count == row->about.byte_count &&
           piece_count == row->piece_count &&
           add_row(checksum, row) == row->checksum;
}

/* The newest checkpoint that is valid and that the log continues: 1, or 0. */
static int find(sqlite3 *db, uint64_t known_seq, struct row *ret_row,
                struct err *err)
{
    sqlite3_stmt *select = NULL;
    bool is_found = false;

    int rc = sq_prepare(db,
                        "SELECT c.id, c.seq, c.format_version, c.byte_count,"
                        " c.piece_count, c.checksum FROM checkpoint c, head h"
                        " WHERE c.seq >= h.first - 1 ORDER BY c.seq DESC",
                        &select, err);
    while (rc >= 0 && !is_found && (rc = sq_step(select, err)) == 1) {
        *ret_row = (struct row){
            .id = sqlite3_column_int64(select, 0),
            .about = {(uint64_t)sqlite3_column_int64(select, 1),
                      (uint32_t)sqlite3_column_int64(select, 2),
                      (uint64_t)sqlite3_column_int64(select, 3)},
            .piece_count = sqlite3_column_int64(select, 4),
            .checksum = (uint64_t)sqlite3_column_int64(select, 5),
        };
        is_found = ret_row->about.seq == known_seq;
        if (!is_found) {
            rc = walk(db, ret_row, NULL, NULL, err);
            is_found = rc == 1;
        }
    }
    sqlite3_finalize(select);
    return rc < 0 ? rc : is_found;
}

int elog_sqlite_checkpoint_find(sqlite3 *db, uint64_t known_seq,
                                uint64_t *ret_seq, struct err *err)
{
    struct row row;

    int rc = find(db, known_seq, &row, err);
    if (rc < 0) {
        return rc;
    }
    *ret_seq = rc == 1 ? row.about.seq : 0;
    return 0;
}

static int fail_without(sqlite3 *db, struct err *err)
{
    int64_t first_seq = 1;

    int rc = sq_get_int(db, "SELECT first FROM head", &first_seq, err);
    if (rc < 0) {
        return rc;
    }
    if (first_seq > 1) {
        return err_set(err, -ERR_CORRUPT,
                       "%s: no valid checkpoint is left, and the log begins "
                       "only at record %lld: restore the newest backup",
                       sqlite3_db_filename(db, "main"), (long long)first_seq);
    }
    return 0;
}

int elog_sqlite_checkpoint_get(sqlite3 *db, struct elog_checkpoint *ret_about,
                               elog_checkpoint_fn *each, void *ctx,
                               struct err *err)
{
    struct row row;

    /* One snapshot: what was found valid is what is shown. */
    int rc = sq_exec(db, "BEGIN", err);
    if (rc == 0) {
        rc = find(db, 0, &row, err);
    }
    if (rc == 0) {
        rc = fail_without(db, err);
    } else if (rc == 1) {
        rc = walk(db, &row, each, ctx, err);
    }
    sq_rollback(db);
    if (rc == 1) {
        *ret_about = row.about;
    }
    return rc;
}
