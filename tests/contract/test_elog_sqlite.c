/*
 * elog_sqlite against the contract of the port.  The lock is off, so that two
 * writers can meet and only the fencing keeps them apart.
 */
#include "elog/elog_sqlite.h"
#include "elog/sq.h"
#include "elog_contract.h"
#include "tmpdir.h"

static void *place_create(void)
{
    struct tmpdir *dir = mem_alloc(sizeof(*dir));

    tmpdir_init(dir);
    return dir;
}

static void place_destroy(void *place)
{
    struct tmpdir *dir = (struct tmpdir *)place;

    tmpdir_fini(dir);
    mem_free(dir);
}

static struct elog *open_place(void *place)
{
    char path[TMPDIR_PATH_BYTES_MAX];
    struct elog *log = NULL;
    struct elog_sqlite_options options = {.is_unlocked = true};

    int rc =
        elog_sqlite_open(tmpdir_path((const struct tmpdir *)place, "log", path),
                         &options, &log, NULL);
    ASSERT(rc == 0);
    return log;
}

static void spoil(void *place)
{
    char path[TMPDIR_PATH_BYTES_MAX];
    struct sq_open how = {
        .path = tmpdir_path((const struct tmpdir *)place, "log", path)};
    sqlite3 *db = NULL;

    int rc = sq_open(&how, &db, NULL);
    ASSERT(rc == 0);
    rc = sq_exec(db,
                 "UPDATE checkpoint_piece SET bytes = x'00' || substr(bytes,"
                 " 2) WHERE id = (SELECT max(id) FROM checkpoint_piece)",
                 NULL);
    ASSERT(rc == 0);
    sq_close(db);
}

int main(void)
{
    return elog_contract_run(&(struct elog_contract){
        .name = "elog_sqlite",
        .place_create = place_create,
        .open = open_place,
        .checkpoint_spoil = spoil,
        .place_destroy = place_destroy,
    });
}
