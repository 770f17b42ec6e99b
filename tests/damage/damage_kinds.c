#include "damage_kinds.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"

enum { PATH_BYTES_MAX = 512, PAGE_BYTES = 8192, SECTOR_BYTES = 512 };

/* A damage being done. */
struct doing {
    char path[PATH_BYTES_MAX];  /* of the file */
    char other[PATH_BYTES_MAX]; /* the same of another life */
    char twin[PATH_BYTES_MAX];  /* log's for store's and the other way round */
    int fd;
    off_t size;
    uint64_t draw; /* state */
};

static uint64_t draw(struct doing *d, uint64_t bound)
{
    d->draw = hash_mix(d->draw + 0x9e3779b97f4a7c15u);
    return bound ? d->draw % bound : 0;
}

static bool put(struct doing *d, const void *bytes, size_t count, off_t at)
{
    return pwrite(d->fd, bytes, count, at) == (ssize_t)count;
}

static bool flip_bit(struct doing *d)
{
    off_t at = (off_t)draw(d, (uint64_t)d->size);
    unsigned char byte = 0;

    if (d->size == 0 || pread(d->fd, &byte, 1, at) != 1) {
        return false;
    }
    byte ^= (unsigned char)(1u << draw(d, 8));
    return put(d, &byte, 1, at);
}

static bool fill_block(struct doing *d, size_t bytes, bool is_noise)
{
    unsigned char block[PAGE_BYTES] = {0};
    off_t at = (off_t)(draw(d, (uint64_t)d->size / bytes + 1) * bytes);

    if (at >= d->size) {
        return false;
    }
    if ((off_t)bytes > d->size - at) {
        bytes = (size_t)(d->size - at);
    }
    for (size_t i = 0; is_noise && i < bytes; i++) {
        block[i] = (unsigned char)draw(d, 256);
    }
    return put(d, block, bytes, at);
}

static bool zero_page(struct doing *d)
{
    return fill_block(d, PAGE_BYTES, false);
}

static bool zero_sector(struct doing *d)
{
    return fill_block(d, SECTOR_BYTES, false);
}

static bool noise_page(struct doing *d)
{
    return fill_block(d, PAGE_BYTES, true);
}

static bool move_page(struct doing *d)
{
    unsigned char page[PAGE_BYTES];
    uint64_t count = (uint64_t)d->size / PAGE_BYTES;
    off_t from = (off_t)(draw(d, count) * PAGE_BYTES);
    off_t to = (off_t)(draw(d, count) * PAGE_BYTES);

    return count > 1 && from != to &&
           pread(d->fd, page, PAGE_BYTES, from) == PAGE_BYTES &&
           put(d, page, PAGE_BYTES, to);
}

static bool cut(struct doing *d)
{
    return d->size > 0 &&
           ftruncate(d->fd, (off_t)draw(d, (uint64_t)d->size)) == 0;
}

static bool double_tail(struct doing *d)
{
    unsigned char tail[4 * PAGE_BYTES];
    size_t count = 1 + draw(d, sizeof(tail));

    if (d->size < (off_t)count ||
        pread(d->fd, tail, count, d->size - (off_t)count) != (ssize_t)count) {
        return false;
    }
    return put(d, tail, count, d->size);
}

static bool lose(struct doing *d)
{
    return unlink(d->path) == 0;
}

static bool empty(struct doing *d)
{
    return d->size > 0 && ftruncate(d->fd, 0) == 0;
}

static bool swap(struct doing *d)
{
    char aside[PATH_BYTES_MAX + 8];

    snprintf(aside, sizeof(aside), "%s-aside", d->path);
    return access(d->twin, F_OK) == 0 && rename(d->path, aside) == 0 &&
           rename(d->twin, d->path) == 0 && rename(aside, d->twin) == 0;
}

static bool take_other(struct doing *d)
{
    static unsigned char bytes[1 << 16];
    ssize_t got;
    off_t at = 0;

    int from = open(d->other, O_RDONLY | O_CLOEXEC);
    if (from < 0 || ftruncate(d->fd, 0) != 0) {
        return false;
    }
    while ((got = pread(from, bytes, sizeof(bytes), at)) > 0 &&
           put(d, bytes, (size_t)got, at)) {
        at += got;
    }
    close(from);
    return at > 0;
}

static const struct {
    const char *name;
    bool (*fn)(struct doing *d);
} kinds[] = {
    {"flipped bit", flip_bit},
    {"zeroed page", zero_page},
    {"zeroed sector", zero_sector},
    {"noise in a page", noise_page},
    {"page moved", move_page},
    {"truncated", cut},
    {"tail doubled", double_tail},
    {"deleted", lose},
    {"emptied", empty},
    {"swapped, log and store", swap},
    {"of another log", take_other},
};

struct damage damage_do(const struct damage_target *target, uint64_t seed)
{
    struct doing d = {.draw =
                          hash_bytes(target->name, strlen(target->name), seed)};
    struct stat about = {0};
    /* Of every fourth damage and more, a bit is flipped. */
    uint64_t kind = draw(&d, ARRAY_COUNT(kinds) + 4);
    kind = kind < ARRAY_COUNT(kinds) ? kind : 0;

    snprintf(d.path, sizeof(d.path), "%s/%s", target->folder, target->name);
    snprintf(d.other, sizeof(d.other), "%s/%s",
             target->other ? target->other : "/nowhere", target->name);
    snprintf(d.twin, sizeof(d.twin), "%s/%s", target->folder,
             target->twin ? target->twin : "nothing");
    d.fd = open(d.path, O_RDWR | O_CLOEXEC);
    bool is_done = false;
    if (d.fd >= 0 && fstat(d.fd, &about) == 0) {
        d.size = about.st_size;
        is_done = kinds[kind].fn(&d);
        close(d.fd);
    }
    return (struct damage){kinds[kind].name, target->name,
                           kinds[kind].fn == swap, is_done};
}
