#include "elog/log_end.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/hash.h"

enum {
    PLACE_COUNT = 2,
    PLACE_BYTES = 4096, /* apart, so that one bad block takes one of them */
    FILE_BYTES = PLACE_COUNT * PLACE_BYTES,
};

/* "BerthEnd", as a number in a file. */
static const uint64_t magic = 0x646e456874726542u;

/* A place, as it is in the file. */
struct place {
    uint64_t magic;
    uint64_t number; /* of all that were ever put, from 1 */
    uint64_t seq;
    uint64_t checksum;
    uint64_t sum; /* of all that stands before it */
};

struct log_end {
    char *path;
    int fd;
    bool is_damaged;
    uint64_t number; /* of the newest */
    struct log_end_mark mark;
};

static uint64_t sum_of(const struct place *place)
{
    return hash_bytes(place, offsetof(struct place, sum), 0);
}

static bool is_zero(const struct place *place)
{
    const struct place none = {0};

    return memcmp(place, &none, sizeof(none)) == 0;
}

static int fail(const struct log_end *end, struct err *err)
{
    int code = errno == ENOSPC || errno == EDQUOT ? -ERR_FULL : -ERR_IO;

    return err_set(err, code, "%s: %s", end->path, strerrordesc_np(errno));
}

static void read_places(struct log_end *end)
{
    bool has_bad = false;

    for (int i = 0; i < PLACE_COUNT; i++) {
        struct place place = {0};
        ssize_t got = pread(end->fd, &place, sizeof(place), i * PLACE_BYTES);
        bool is_whole = got == sizeof(place) && place.magic == magic &&
                        place.sum == sum_of(&place);

        if (is_whole && place.number > end->number) {
            end->number = place.number;
            end->mark = (struct log_end_mark){place.seq, place.checksum};
        }
        has_bad |= !is_whole && !is_zero(&place);
    }
    end->is_damaged = has_bad && end->number == 0;
}

/* Have the blocks that will be written, so that a full disk is met now. */
static int take_room(struct log_end *end, struct err *err)
{
    static const char zeros[FILE_BYTES];

    off_t byte_count = lseek(end->fd, 0, SEEK_END);
    if (byte_count < 0) {
        return fail(end, err);
    }
    if (byte_count >= FILE_BYTES) {
        return 0;
    }
    errno = ENOSPC;
    ssize_t room = FILE_BYTES - byte_count;
    if (pwrite(end->fd, zeros, (size_t)room, byte_count) != room) {
        return fail(end, err);
    }
    return 0;
}

int log_end_open(const char *path, struct log_end **ret_end, struct err *err)
{
    auto_ptr(log_end) end = mem_alloc(sizeof(*end));
    size_t byte_count = strlen(path) + sizeof("-end");

    end->path = mem_alloc(byte_count);
    snprintf(end->path, byte_count, "%s-end", path);
    end->fd = open(end->path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (end->fd < 0) {
        return fail(end, err);
    }
    read_places(end);
    int rc = take_room(end, err);
    if (rc < 0) {
        return rc;
    }
    *ret_end = steal_ptr(end);
    return 0;
}

void log_end_close(struct log_end *end)
{
    if (!end) {
        return;
    }
    if (end->fd >= 0) {
        close(end->fd);
    }
    mem_free(end->path);
    mem_free(end);
}

const char *log_end_path(const struct log_end *end)
{
    return end->path;
}

struct log_end_mark log_end_get(const struct log_end *end)
{
    return end->mark;
}

bool log_end_is_damaged(const struct log_end *end)
{
    return end->is_damaged;
}

static bool write_place(struct log_end *end, int index,
                        const struct place *place)
{
    return pwrite(end->fd, place, sizeof(*place), index * PLACE_BYTES) ==
           sizeof(*place);
}

void log_end_put(struct log_end *end, struct log_end_mark mark)
{
    struct place place = {
        .magic = magic,
        .number = ++end->number,
        .seq = mark.seq,
        .checksum = mark.checksum,
    };

    place.sum = sum_of(&place);
    end->mark = mark;
    (void)write_place(end, (int)(place.number % PLACE_COUNT), &place);
}

int log_end_reset(struct log_end *end, struct log_end_mark mark,
                  struct err *err)
{
    const struct place none = {0};

    log_end_put(end, mark);
    errno = EIO;
    if (!write_place(end, (int)((end->number + 1) % PLACE_COUNT), &none) ||
        fdatasync(end->fd) < 0) {
        return fail(end, err);
    }
    end->is_damaged = false;
    return 0;
}

void log_end_write_out(struct log_end *end)
{
    (void)sync_file_range(end->fd, 0, 0, SYNC_FILE_RANGE_WRITE);
}
