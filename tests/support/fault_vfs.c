#include "fault_vfs.h"

#include <sqlite3.h>
#include <stdio.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/vec.h"

enum { SECTOR_BYTES = 512 };

/* A write or, without bytes, a truncation that was not synced yet. */
struct change {
    int64_t offset; /* of a truncation: the new size */
    size_t byte_count;
    char *bytes; /* owned */
};

/* What the disk knows of a file. */
struct disk_file {
    char *path;
    VEC(char) synced;
    VEC(struct change) changes; /* since the last sync */
};

static struct {
    sqlite3_vfs vfs;
    sqlite3_vfs *real;
    VEC(struct disk_file *) files;
    uint64_t op_count;
    uint64_t full_from, full_until; /* ops; 0: never */
    uint64_t crash_at;              /* op; 0: never */
    bool is_off;
} disk;

struct open_file {
    sqlite3_file base;
    struct disk_file *file; /* NULL: a temporary one */
    sqlite3_file real;      /* as large as the real VFS wants; last */
};

static struct open_file *open_of(sqlite3_file *base)
{
    return container_of(base, struct open_file, base);
}

static void clear_changes(struct disk_file *file)
{
    for (size_t i = 0; i < file->changes.count; i++) {
        mem_free(file->changes.items[i].bytes);
    }
    file->changes.count = 0;
}

static void free_file(struct disk_file *file)
{
    clear_changes(file);
    VEC_FREE(&file->changes);
    VEC_FREE(&file->synced);
    mem_free(file->path);
    mem_free(file);
}

static size_t find_file(const char *path)
{
    size_t i = 0;

    while (i < disk.files.count &&
           strcmp(disk.files.items[i]->path, path) != 0) {
        i++;
    }
    return i;
}

static void resize(struct disk_file *file, size_t byte_count)
{
    size_t old_count = file->synced.count;

    if (byte_count > old_count) {
        VEC_RESERVE(&file->synced, byte_count - old_count);
        memset(file->synced.items + old_count, 0, byte_count - old_count);
    }
    file->synced.count = byte_count;
}

/* Bring `byte_count` bytes of a change from `from` on to the synced state. */
static void bring(struct disk_file *file, const struct change *change,
                  size_t from, size_t byte_count)
{
    size_t begin = (size_t)change->offset + from;

    if (file->synced.count < begin + byte_count) {
        resize(file, begin + byte_count);
    }
    memcpy(file->synced.items + begin, change->bytes + from, byte_count);
}

static void bring_all(struct disk_file *file)
{
    for (size_t i = 0; i < file->changes.count; i++) {
        const struct change *change = &file->changes.items[i];

        if (change->bytes) {
            bring(file, change, 0, change->byte_count);
        } else {
            resize(file, (size_t)change->offset);
        }
    }
    clear_changes(file);
}

/* Count an operation: false when the power is, or goes, off. */
static bool count_op(void)
{
    disk.op_count++;
    if (disk.crash_at > 0 && disk.op_count >= disk.crash_at) {
        disk.is_off = true;
    }
    return !disk.is_off;
}

static void add_change(struct disk_file *file, int64_t offset,
                       const void *bytes, size_t byte_count)
{
    struct change change = {.offset = offset, .byte_count = byte_count};

    if (!file) {
        return;
    }
    if (bytes) {
        change.bytes = mem_dup(bytes, byte_count);
    }
    VEC_PUSH(&file->changes, change);
}

static int fault_close(sqlite3_file *base)
{
    sqlite3_file *real = &open_of(base)->real;

    return real->pMethods->xClose(real);
}

static int fault_read(sqlite3_file *base, void *bytes, int byte_count,
                      sqlite3_int64 offset)
{
    sqlite3_file *real = &open_of(base)->real;

    return disk.is_off ? SQLITE_IOERR_READ
                       : real->pMethods->xRead(real, bytes, byte_count, offset);
}

static int fault_write(sqlite3_file *base, const void *bytes, int byte_count,
                       sqlite3_int64 offset)
{
    struct open_file *open = open_of(base);

    if (disk.is_off) {
        return SQLITE_IOERR_WRITE;
    }
    bool is_on = count_op();
    if (is_on && disk.op_count >= disk.full_from &&
        disk.op_count < disk.full_until) {
        return SQLITE_FULL;
    }
    /* What is under way when the power goes may arrive, or not. */
    add_change(open->file, offset, bytes, (size_t)byte_count);
    if (!is_on) {
        return SQLITE_IOERR_WRITE;
    }
    return open->real.pMethods->xWrite(&open->real, bytes, byte_count, offset);
}

static int fault_truncate(sqlite3_file *base, sqlite3_int64 size)
{
    struct open_file *open = open_of(base);

    if (disk.is_off) {
        return SQLITE_IOERR_TRUNCATE;
    }
    bool is_on = count_op();
    add_change(open->file, size, NULL, 0);
    if (!is_on) {
        return SQLITE_IOERR_TRUNCATE;
    }
    return open->real.pMethods->xTruncate(&open->real, size);
}

/* The real sync is left out: the machine's own power stays on. */
static int fault_sync(sqlite3_file *base, int flags)
{
    struct open_file *open = open_of(base);

    (void)flags;
    if (disk.is_off || !count_op()) {
        return SQLITE_IOERR_FSYNC;
    }
    if (open->file) {
        bring_all(open->file);
    }
    return SQLITE_OK;
}

static int fault_file_size(sqlite3_file *base, sqlite3_int64 *ret_size)
{
    sqlite3_file *real = &open_of(base)->real;

    return real->pMethods->xFileSize(real, ret_size);
}

static int fault_lock(sqlite3_file *base, int level)
{
    sqlite3_file *real = &open_of(base)->real;

    return real->pMethods->xLock(real, level);
}

static int fault_unlock(sqlite3_file *base, int level)
{
    sqlite3_file *real = &open_of(base)->real;

    return real->pMethods->xUnlock(real, level);
}

static int fault_check_lock(sqlite3_file *base, int *ret_answer)
{
    sqlite3_file *real = &open_of(base)->real;

    return real->pMethods->xCheckReservedLock(real, ret_answer);
}

static int fault_control(sqlite3_file *base, int op, void *arg)
{
    sqlite3_file *real = &open_of(base)->real;

    return real->pMethods->xFileControl(real, op, arg);
}

static int fault_sector_size(sqlite3_file *base)
{
    sqlite3_file *real = &open_of(base)->real;

    return real->pMethods->xSectorSize(real);
}

static int fault_characteristics(sqlite3_file *base)
{
    sqlite3_file *real = &open_of(base)->real;

    return real->pMethods->xDeviceCharacteristics(real);
}

static int fault_shm_map(sqlite3_file *base, int page, int size, int extend,
                         void volatile **ret_p)
{
    sqlite3_file *real = &open_of(base)->real;

    return real->pMethods->xShmMap(real, page, size, extend, ret_p);
}

static int fault_shm_lock(sqlite3_file *base, int offset, int count, int flags)
{
    sqlite3_file *real = &open_of(base)->real;

    return real->pMethods->xShmLock(real, offset, count, flags);
}

static void fault_shm_barrier(sqlite3_file *base)
{
    sqlite3_file *real = &open_of(base)->real;

    real->pMethods->xShmBarrier(real);
}

static int fault_shm_unmap(sqlite3_file *base, int should_delete)
{
    sqlite3_file *real = &open_of(base)->real;

    return real->pMethods->xShmUnmap(real, should_delete);
}

static const sqlite3_io_methods methods = {
    .iVersion = 2,
    .xClose = fault_close,
    .xRead = fault_read,
    .xWrite = fault_write,
    .xTruncate = fault_truncate,
    .xSync = fault_sync,
    .xFileSize = fault_file_size,
    .xLock = fault_lock,
    .xUnlock = fault_unlock,
    .xCheckReservedLock = fault_check_lock,
    .xFileControl = fault_control,
    .xSectorSize = fault_sector_size,
    .xDeviceCharacteristics = fault_characteristics,
    .xShmMap = fault_shm_map,
    .xShmLock = fault_shm_lock,
    .xShmBarrier = fault_shm_barrier,
    .xShmUnmap = fault_shm_unmap,
};

/* The disk's view of `path`; what it holds already counts as synced. */
static struct disk_file *get_file(const char *path)
{
    size_t index = find_file(path);

    if (index < disk.files.count) {
        return disk.files.items[index];
    }
    struct disk_file *file = mem_alloc(sizeof(*file));
    file->path = mem_strdup(path);
    FILE *stream = fopen(path, "rb");
    if (stream) {
        char block[4096];
        size_t got;
        while ((got = fread(block, 1, sizeof(block), stream)) > 0) {
            VEC_RESERVE(&file->synced, got);
            memcpy(file->synced.items + file->synced.count, block, got);
            file->synced.count += got;
        }
        fclose(stream);
    }
    VEC_PUSH(&disk.files, file);
    return file;
}

static int fault_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *base,
                      int flags, int *ret_flags)
{
    struct open_file *open = open_of(base);

    (void)vfs;
    base->pMethods = NULL;
    if (disk.is_off) {
        return SQLITE_CANTOPEN;
    }
    open->file = name ? get_file(name) : NULL;
    int rc = disk.real->xOpen(disk.real, name, &open->real, flags, ret_flags);
    if (rc == SQLITE_OK) {
        base->pMethods = &methods;
    }
    return rc;
}

static int fault_delete(sqlite3_vfs *vfs, const char *name, int sync_folder)
{
    (void)vfs;
    if (disk.is_off) {
        return SQLITE_IOERR_DELETE;
    }
    size_t index = find_file(name);
    if (index < disk.files.count) {
        free_file(disk.files.items[index]);
        disk.files.items[index] = disk.files.items[--disk.files.count];
    }
    return disk.real->xDelete(disk.real, name, sync_folder);
}

void fault_vfs_install(bool is_default)
{
    ASSERT(!disk.real);
    disk.real = sqlite3_vfs_find(NULL);
    disk.vfs = *disk.real;
    disk.vfs.zName = FAULT_VFS;
    disk.vfs.pNext = NULL;
    disk.vfs.szOsFile = (int)sizeof(struct open_file) + disk.real->szOsFile;
    disk.vfs.xOpen = fault_open;
    disk.vfs.xDelete = fault_delete;
    sqlite3_vfs_register(&disk.vfs, is_default);
}

void fault_vfs_remove(void)
{
    sqlite3_vfs_unregister(&disk.vfs);
    /* Else the next one in SQLite's list would be the default. */
    (void)sqlite3_vfs_register(disk.real, 1);
    for (size_t i = 0; i < disk.files.count; i++) {
        free_file(disk.files.items[i]);
    }
    VEC_FREE(&disk.files);
    memset(&disk, 0, sizeof(disk));
}

uint64_t fault_vfs_op_count(void)
{
    return disk.op_count;
}

void fault_vfs_plan_full(uint64_t first, uint64_t count)
{
    disk.full_from = disk.op_count + first;
    disk.full_until = disk.full_from + count;
}

void fault_vfs_plan_crash(uint64_t nth)
{
    disk.crash_at = disk.op_count + nth;
}

bool fault_vfs_is_off(void)
{
    return disk.is_off;
}

/* Bring a subset of the sectors of a change. */
static void bring_some(struct disk_file *file, const struct change *change,
                       uint64_t *seed)
{
    size_t from = 0;

    while (from < change->byte_count) {
        size_t end = (size_t)change->offset + from;
        size_t byte_count = SECTOR_BYTES - end % SECTOR_BYTES;
        if (byte_count > change->byte_count - from) {
            byte_count = change->byte_count - from;
        }
        *seed = hash_mix(*seed + 0x9e3779b97f4a7c15u);
        if (*seed & 1) {
            bring(file, change, from, byte_count);
        }
        from += byte_count;
    }
}

static void bring_subset(struct disk_file *file, uint64_t *seed)
{
    for (size_t i = 0; i < file->changes.count; i++) {
        const struct change *change = &file->changes.items[i];

        *seed = hash_mix(*seed + 0x9e3779b97f4a7c15u);
        uint64_t fate = *seed & 3;
        if (change->bytes && fate == 0) {
            bring_some(file, change, seed); /* torn */
        } else if (change->bytes && fate <= 2) {
            bring(file, change, 0, change->byte_count);
        } else if (!change->bytes && fate <= 1) {
            resize(file, (size_t)change->offset);
        }
    }
    clear_changes(file);
}

void fault_vfs_power_on(uint64_t seed)
{
    for (size_t i = 0; i < disk.files.count; i++) {
        struct disk_file *file = disk.files.items[i];
        char shm[1024];

        bring_subset(file, &seed);
        FILE *stream = fopen(file->path, "wb");
        ASSERT(stream);
        if (file->synced.count > 0) {
            size_t put =
                fwrite(file->synced.items, 1, file->synced.count, stream);
            ASSERT(put == file->synced.count);
        }
        fclose(stream);
        /* Memory that was shared is gone with the power. */
        snprintf(shm, sizeof(shm), "%s-shm", file->path);
        unlink(shm);
    }
    disk.is_off = false;
    disk.crash_at = 0;
    disk.full_from = 0;
    disk.full_until = 0;
}
