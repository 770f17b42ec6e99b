#include "tmpdir.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

void tmpdir_init(struct tmpdir *dir)
{
    const char *base = getenv("TMPDIR");

    int n = snprintf(dir->path, sizeof(dir->path), "%s/berth-test-XXXXXX",
                     base && *base ? base : "/tmp");
    ASSERT(n > 0 && (size_t)n < sizeof(dir->path));
    char *made = mkdtemp(dir->path);
    ASSERT(made);
}

static int remove_one(const char *path, const struct stat *about, int type,
                      struct FTW *where)
{
    (void)about;
    (void)type;
    (void)where;
    return remove(path);
}

void tmpdir_fini(struct tmpdir *dir)
{
    if (dir->path[0]) {
        nftw(dir->path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
        dir->path[0] = '\0';
    }
}

const char *tmpdir_path(const struct tmpdir *dir, const char *name, char *path)
{
    int n = snprintf(path, TMPDIR_PATH_BYTES_MAX, "%s/%s", dir->path, name);

    ASSERT(n > 0 && n < TMPDIR_PATH_BYTES_MAX);
    return path;
}
