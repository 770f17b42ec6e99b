#include "elog/sq_sums.h"

#include <stdio.h>

#include "base/hash.h"
#include "elog/sq.h"

enum {
    SUM_BYTES = 8,
    HEADER_BYTES = 100,
    HEADER_PAGE_BYTES = 16, /* where it has the size of a page, */
    HEADER_RESERVED = 20,   /* and the room that is left at its end */
    PAGE_BYTES_MIN = 512,
    PAGE_BYTES_MAX = 65536,
    CONFIRM_TRIES = 3,
    /* Our file control: a uint32_t, the bytes of a page with a checksum; as an
     * answer 0 where there are none.  Given: there are some from now on. */
    CONTROL_SUMS = 0x42657201,
};

static const char prefix[] = "berth-sums-";

/* An open database; the file that it lies over follows. */
struct sums_file {
    sqlite3_file file;
    uint32_t page_bytes; /* 0: no checksums */
    unsigned char *page; /* owned: a page that is being written */
};

struct sums_vfs {
    sqlite3_vfs vfs;
    char name[64];
};

static struct sums_file *sums_of(sqlite3_file *file)
{
    return container_of(file, struct sums_file, file);
}

static sqlite3_file *real_of(sqlite3_file *file)
{
    return (sqlite3_file *)(sums_of(file) + 1);
}

static sqlite3_vfs *base_of(sqlite3_vfs *vfs)
{
    return (sqlite3_vfs *)vfs->pAppData;
}

/* What the head of a database says of its checksums: the bytes of a page, or 0.
 * Of a size that cannot be, the least: by whichever size, that page is
 * damaged. */
static uint32_t page_bytes_of(const unsigned char *head)
{
    uint32_t bytes =
        (uint32_t)head[HEADER_PAGE_BYTES] << 8 | head[HEADER_PAGE_BYTES + 1];

    if (memcmp(head, "SQLite format 3", 16) != 0 ||
        head[HEADER_RESERVED] != SUM_BYTES) {
        return 0;
    }
    bytes = bytes == 1 ? PAGE_BYTES_MAX : bytes;
    bool is_size = bytes >= PAGE_BYTES_MIN && (bytes & (bytes - 1)) == 0;
    return is_size ? bytes : PAGE_BYTES_MIN;
}

/* The checksum of a page: of all that stands before it, and of its place. */
static uint64_t sum_of(const unsigned char *page, uint32_t page_bytes,
                       uint64_t number)
{
    return hash_in_lanes(page, page_bytes - SUM_BYTES, number);
}

/* The one that releases before wrote, and took many times as long for. */
static uint64_t older_sum_of(const unsigned char *page, uint32_t page_bytes,
                             uint64_t number)
{
    return hash_bytes(page, page_bytes - SUM_BYTES, number);
}

static bool is_whole(const unsigned char *page, uint32_t page_bytes,
                     uint64_t number)
{
    uint64_t sum;

    memcpy(&sum, page + page_bytes - SUM_BYTES, sizeof(sum));
    return sum == sum_of(page, page_bytes, number) ||
           sum == older_sum_of(page, page_bytes, number);
}

static bool is_page(const struct sums_file *sums, int byte_count, int64_t at)
{
    return sums->page_bytes > 0 && (uint32_t)byte_count == sums->page_bytes &&
           at % byte_count == 0;
}

/* Whether a file, under the checksums, ends within the page at `at`: SQLite
 * reads the rest of it as zeros, and says nothing. */
static bool is_cut(sqlite3_file *file, uint32_t page_bytes, int64_t at)
{
    sqlite3_int64 byte_count = 0;

    return file->pMethods->xFileSize(file, &byte_count) == SQLITE_OK &&
           byte_count > at && byte_count < at + (int64_t)page_bytes;
}

static int sums_close(sqlite3_file *file)
{
    mem_free(sums_of(file)->page);
    return real_of(file)->pMethods->xClose(real_of(file));
}

static int sums_read(sqlite3_file *file, void *bytes, int byte_count,
                     sqlite3_int64 at)
{
    struct sums_file *sums = sums_of(file);

    int rc =
        real_of(file)->pMethods->xRead(real_of(file), bytes, byte_count, at);
    if (rc == SQLITE_IOERR_SHORT_READ && is_page(sums, byte_count, at) &&
        is_cut(real_of(file), sums->page_bytes, at)) {
        return SQLITE_IOERR_DATA;
    }
    if (rc != SQLITE_OK) {
        return rc;
    }
    if (at == 0 && byte_count >= HEADER_BYTES) {
        sums->page_bytes = page_bytes_of(bytes);
    }
    if (is_page(sums, byte_count, at) &&
        !is_whole(bytes, sums->page_bytes, (uint64_t)(at / byte_count) + 1)) {
        return SQLITE_IOERR_DATA;
    }
    return SQLITE_OK;
}

static int sums_write(sqlite3_file *file, const void *bytes, int byte_count,
                      sqlite3_int64 at)
{
    struct sums_file *sums = sums_of(file);

    if (at == 0 && byte_count >= HEADER_BYTES) {
        sums->page_bytes = page_bytes_of(bytes);
    }
    if (is_page(sums, byte_count, at)) {
        if (!sums->page) {
            sums->page = mem_alloc(PAGE_BYTES_MAX);
        }
        uint64_t sum =
            sum_of(bytes, sums->page_bytes, (uint64_t)(at / byte_count) + 1);
        memcpy(sums->page, bytes, sums->page_bytes);
        memcpy(sums->page + sums->page_bytes - SUM_BYTES, &sum, sizeof(sum));
        bytes = sums->page;
    }
    return real_of(file)->pMethods->xWrite(real_of(file), bytes, byte_count,
                                           at);
}

static int sums_truncate(sqlite3_file *file, sqlite3_int64 byte_count)
{
    return real_of(file)->pMethods->xTruncate(real_of(file), byte_count);
}

static int sums_sync(sqlite3_file *file, int flags)
{
    return real_of(file)->pMethods->xSync(real_of(file), flags);
}

static int sums_size(sqlite3_file *file, sqlite3_int64 *ret_byte_count)
{
    return real_of(file)->pMethods->xFileSize(real_of(file), ret_byte_count);
}

static int sums_lock(sqlite3_file *file, int level)
{
    return real_of(file)->pMethods->xLock(real_of(file), level);
}

static int sums_unlock(sqlite3_file *file, int level)
{
    return real_of(file)->pMethods->xUnlock(real_of(file), level);
}

static int sums_is_reserved(sqlite3_file *file, int *ret_is_reserved)
{
    return real_of(file)->pMethods->xCheckReservedLock(real_of(file),
                                                       ret_is_reserved);
}

static int sums_control(sqlite3_file *file, int what, void *value)
{
    if (what != CONTROL_SUMS) {
        return real_of(file)->pMethods->xFileControl(real_of(file), what,
                                                     value);
    }
    uint32_t *page_bytes = value;
    if (*page_bytes > 0) {
        sums_of(file)->page_bytes = *page_bytes;
    }
    *page_bytes = sums_of(file)->page_bytes;
    return SQLITE_OK;
}

static int sums_sector(sqlite3_file *file)
{
    return real_of(file)->pMethods->xSectorSize(real_of(file));
}

static int sums_traits(sqlite3_file *file)
{
    return real_of(file)->pMethods->xDeviceCharacteristics(real_of(file));
}

static int sums_shm_map(sqlite3_file *file, int page, int byte_count,
                        int is_write, void volatile **ret_memory)
{
    return real_of(file)->pMethods->xShmMap(real_of(file), page, byte_count,
                                            is_write, ret_memory);
}

static int sums_shm_lock(sqlite3_file *file, int offset, int count, int flags)
{
    return real_of(file)->pMethods->xShmLock(real_of(file), offset, count,
                                             flags);
}

static void sums_shm_barrier(sqlite3_file *file)
{
    real_of(file)->pMethods->xShmBarrier(real_of(file));
}

static int sums_shm_unmap(sqlite3_file *file, int is_deleted)
{
    return real_of(file)->pMethods->xShmUnmap(real_of(file), is_deleted);
}

/* Version 2: no memory mapping, so every page passes here. */
static const sqlite3_io_methods sums_methods = {
    .iVersion = 2,
    .xClose = sums_close,
    .xRead = sums_read,
    .xWrite = sums_write,
    .xTruncate = sums_truncate,
    .xSync = sums_sync,
    .xFileSize = sums_size,
    .xLock = sums_lock,
    .xUnlock = sums_unlock,
    .xCheckReservedLock = sums_is_reserved,
    .xFileControl = sums_control,
    .xSectorSize = sums_sector,
    .xDeviceCharacteristics = sums_traits,
    .xShmMap = sums_shm_map,
    .xShmLock = sums_shm_lock,
    .xShmBarrier = sums_shm_barrier,
    .xShmUnmap = sums_shm_unmap,
};

static int sums_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file,
                     int flags, int *ret_flags)
{
    sqlite3_vfs *base = base_of(vfs);

    if (!(flags & SQLITE_OPEN_MAIN_DB)) {
        return base->xOpen(base, name, file, flags, ret_flags);
    }
    *sums_of(file) = (struct sums_file){0};
    int rc = base->xOpen(base, name, real_of(file), flags, ret_flags);
    if (real_of(file)->pMethods) {
        file->pMethods = &sums_methods;
    }
    return rc;
}

static int sums_delete(sqlite3_vfs *vfs, const char *name, int sync_folder)
{
    return base_of(vfs)->xDelete(base_of(vfs), name, sync_folder);
}

static int sums_access(sqlite3_vfs *vfs, const char *name, int flags,
                       int *ret_is_so)
{
    return base_of(vfs)->xAccess(base_of(vfs), name, flags, ret_is_so);
}

static int sums_full_path(sqlite3_vfs *vfs, const char *name, int byte_count,
                          char *ret_path)
{
    return base_of(vfs)->xFullPathname(base_of(vfs), name, byte_count,
                                       ret_path);
}

static int sums_randomness(sqlite3_vfs *vfs, int byte_count, char *bytes)
{
    return base_of(vfs)->xRandomness(base_of(vfs), byte_count, bytes);
}

static int sums_sleep(sqlite3_vfs *vfs, int us)
{
    return base_of(vfs)->xSleep(base_of(vfs), us);
}

static int sums_time(sqlite3_vfs *vfs, double *ret_time)
{
    return base_of(vfs)->xCurrentTime(base_of(vfs), ret_time);
}

static int sums_last_error(sqlite3_vfs *vfs, int byte_count, char *text)
{
    return base_of(vfs)->xGetLastError(base_of(vfs), byte_count, text);
}

static int sums_time_ms(sqlite3_vfs *vfs, sqlite3_int64 *ret_time)
{
    return base_of(vfs)->xCurrentTimeInt64(base_of(vfs), ret_time);
}

static struct sums_vfs *make_vfs(sqlite3_vfs *base, const char *name)
{
    struct sums_vfs *made = mem_alloc(sizeof(*made));

    snprintf(made->name, sizeof(made->name), "%s", name);
    made->vfs = (sqlite3_vfs){
        .iVersion = 2,
        .szOsFile = (int)sizeof(struct sums_file) + base->szOsFile,
        .mxPathname = base->mxPathname,
        .zName = made->name,
        .pAppData = base,
        .xOpen = sums_open,
        .xDelete = sums_delete,
        .xAccess = sums_access,
        .xFullPathname = sums_full_path,
        .xRandomness = sums_randomness,
        .xSleep = sums_sleep,
        .xCurrentTime = sums_time,
        .xGetLastError = sums_last_error,
        .xCurrentTimeInt64 = sums_time_ms,
    };
    return made;
}

const char *sq_sums_vfs(const char *base_vfs)
{
    char name[64];
    sqlite3_vfs *base = sqlite3_vfs_find(base_vfs);

    if (!base) {
        return NULL;
    }
    snprintf(name, sizeof(name), "%s%s", prefix, base->zName);
    sqlite3_vfs *found = sqlite3_vfs_find(name);
    if (!found) {
        /* SQLite keeps it as long as the program runs. */
        found = &make_vfs(base, name)->vfs;
        (void)sqlite3_vfs_register(found, 0);
    }
    return found->zName;
}

void sq_sums_begin(sqlite3 *db)
{
    int byte_count = SUM_BYTES;

    (void)sqlite3_file_control(db, "main", SQLITE_FCNTL_RESERVE_BYTES,
                               &byte_count);
}

static uint32_t page_bytes_in(sqlite3 *db)
{
    uint32_t page_bytes = 0;

    (void)sqlite3_file_control(db, "main", CONTROL_SUMS, &page_bytes);
    return page_bytes;
}

bool sq_sums_are_kept(sqlite3 *db)
{
    return page_bytes_in(db) > 0;
}

void sq_sums_copy(sqlite3 *from, sqlite3 *to)
{
    uint32_t page_bytes = page_bytes_in(from);

    if (page_bytes > 0) {
        (void)sqlite3_file_control(to, "main", CONTROL_SUMS, &page_bytes);
    }
}

/* Read past the checksums: 1, or 0 at the end of the file, or -1. */
static int read_plain(sqlite3_file *file, void *bytes, uint32_t byte_count,
                      uint64_t at)
{
    int rc =
        file->pMethods->xRead(file, bytes, (int)byte_count, (sqlite3_int64)at);

    return rc == SQLITE_OK ? 1 : rc == SQLITE_IOERR_SHORT_READ ? 0 : -1;
}

/* Look at the pages of an open file, as sq_sums_scan(). */
static bool scan_file(sqlite3_file *file, uint64_t after_page,
                      uint64_t page_count_max, struct sq_sums_scan *scan)
{
    unsigned char head[HEADER_BYTES];
    int got = read_plain(file, head, sizeof(head), 0);
    uint32_t page_bytes = got == 1 ? page_bytes_of(head) : 0;

    if (page_bytes == 0) {
        scan->is_at_end = true;
        return got >= 0;
    }
    auto_mem unsigned char *page = mem_alloc(PAGE_BYTES_MAX);
    while (scan->page_count < page_count_max && scan->bad_page == 0) {
        uint64_t number = after_page + scan->page_count + 1;

        uint64_t at = (number - 1) * page_bytes;

        got = read_plain(file, page, page_bytes, at);
        bool is_short = got == 0 && is_cut(file, page_bytes, (int64_t)at);
        if (got < 1 && !is_short) {
            scan->is_at_end = true;
            return got >= 0;
        }
        scan->page_count++;
        scan->byte_count += page_bytes;
        scan->bad_page =
            !is_short && is_whole(page, page_bytes, number) ? 0 : number;
    }
    return true;
}

/* A descriptor of our own would not do: when a process closes one, it loses all
 * its locks on the file, and another process takes the write-ahead file for
 * nobody's. */
int sq_sums_scan(const char *path, uint64_t after_page, uint64_t page_count_max,
                 struct sq_sums_scan *ret_scan, struct err *err)
{
    struct sq_open how = {.path = path};
    sqlite3_file *file = NULL;
    sqlite3 *db = NULL;

    *ret_scan = (struct sq_sums_scan){0};
    int rc = sq_open(&how, &db, err);
    if (rc < 0) {
        return rc;
    }
    (void)sqlite3_file_control(db, "main", SQLITE_FCNTL_FILE_POINTER, &file);
    ASSERT(file && file->pMethods == &sums_methods);
    if (!scan_file(real_of(file), after_page, page_count_max, ret_scan)) {
        rc = err_set(err, -ERR_IO, "%s: cannot be read", path);
    }
    sq_close(db);
    return rc;
}

/* Move all of the write-ahead file into the database: 1, or 0 if some of it has
 * to stay. */
static int move_wal(const char *path, struct err *err)
{
    struct sq_open how = {.path = path};
    sqlite3_stmt *stmt = NULL;
    sqlite3 *db = NULL;
    bool is_all = false;

    int rc = sq_open(&how, &db, err);
    if (rc == 0) {
        rc = sq_prepare(db, "PRAGMA wal_checkpoint(PASSIVE)", &stmt, err);
    }
    if (rc == 0) {
        rc = sq_step(stmt, err);
        /* Whether it was hindered, the frames there are, and those moved. */
        is_all = rc == 1 && sqlite3_column_int(stmt, 0) == 0 &&
                 sqlite3_column_int(stmt, 1) == sqlite3_column_int(stmt, 2);
    }
    sqlite3_finalize(stmt);
    sq_close(db);
    return rc < 0 ? rc : is_all;
}

int sq_sums_confirm(const char *path, uint64_t page, struct err *err)
{
    struct sq_sums_scan scan = {.bad_page = page};
    int rc = 1;

    /* It may be written just while it is read. */
    for (int i = 0; rc == 1 && scan.bad_page > 0 && i < CONFIRM_TRIES; i++) {
        rc = move_wal(path, err);
        if (rc == 1 && sq_sums_scan(path, page - 1, 1, &scan, err) < 0) {
            rc = -ERR_IO;
        }
    }
    return rc < 0 ? rc : rc == 1 && scan.bad_page > 0;
}
