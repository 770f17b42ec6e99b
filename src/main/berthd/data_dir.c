#include "main/berthd/data_dir.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/strbuf.h"

static const char *inside(const char *folder, const char *name,
                          struct arena *arena)
{
    auto_strbuf path = {0};

    strbuf_addf(&path, "%s/%s", folder, name);
    return arena_strdup(arena, strbuf_str(&path));
}

int data_dir_open(const char *path, struct arena *arena,
                  struct data_dir *ret_dir, struct err *err)
{
    char whole[PATH_MAX];
    struct stat about;

    if (mkdir(path, 0711) != 0 && errno != EEXIST) {
        return err_set(err, -ERR_IO, "cannot create the data directory %s: %s",
                       path, strerror(errno));
    }
    if (!realpath(path, whole) || stat(whole, &about) != 0) {
        return err_set(err, -ERR_IO, "%s: %s", path, strerror(errno));
    }
    if (!S_ISDIR(about.st_mode)) {
        return err_set(err, -ERR_IO, "%s is not a directory", path);
    }
    const char *folder = arena_strdup(arena, str_of(whole));
    *ret_dir = (struct data_dir){
        .path = folder,
        .log = inside(folder, "log.db", arena),
        .store = inside(folder, "store.db", arena),
        .jobs = inside(folder, "jobs", arena),
        .token = inside(folder, "token", arena),
        .notified = inside(folder, "notified", arena),
    };
    return 0;
}
