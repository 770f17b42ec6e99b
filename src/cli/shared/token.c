#include "cli/shared/token.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/strbuf.h"
#include "wire/text/host.h"

enum { TOKEN_FILE_BYTES_MAX = 512 };

/* Read a file that nobody else can read or has written; its length, or -1. */
static ssize_t read_own(const char *path, char text[TOKEN_FILE_BYTES_MAX])
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    struct stat about;
    ssize_t count = -1;

    if (fd < 0) {
        return -1;
    }
    if (fstat(fd, &about) == 0 && S_ISREG(about.st_mode) &&
        (about.st_mode & 077) == 0 && about.st_uid == geteuid()) {
        count = read(fd, text, TOKEN_FILE_BYTES_MAX);
    }
    (void)close(fd);
    return count;
}

char *token_find(const char *url, struct arena *arena)
{
    static const char *const paths[] = {"berth-data/token",
                                        "/var/lib/berth/token"};
    struct str port = wire_port(str_of(url));

    if (!wire_is_loopback(str_of(url))) {
        return NULL;
    }
    for (size_t i = 0; i < ARRAY_COUNT(paths); i++) {
        char text[TOKEN_FILE_BYTES_MAX];
        ssize_t count = read_own(paths[i], text);
        const char *space = count > 0 ? memchr(text, ' ', (size_t)count) : NULL;
        const char *end =
            space ? memchr(space, '\n', (size_t)(text + count - space)) : NULL;
        if (end && str_equal(wire_port(str_make(text, (size_t)(space - text))),
                             port)) {
            auto_strbuf value = {0};
            strbuf_addf(&value, "Bearer %.*s", (int)(end - space - 1),
                        space + 1);
            return arena_strdup(arena, strbuf_str(&value));
        }
    }
    return NULL;
}
