#include "attacker.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SECONDS_MAX = 300, HELD = 0, USAGE = 2, ESCAPED = 3 };

const char *attack_text(const char *name)
{
    const char *text = getenv(name);

    if (!text) {
        fprintf(stderr, "%s is not set\n", name);
        exit(USAGE);
    }
    return text;
}

const char *attack_got(const char *what, const char *detail)
{
    static char text[512];

    snprintf(text, sizeof(text), "%s %s", what, detail);
    return text;
}

void attack_stay(void)
{
    printf("up\n");
    (void)fflush(stdout);
    for (;;) {
        pause();
    }
}

bool attack_opens(const char *path, int flags)
{
    int fd = open(path, flags | O_NONBLOCK | O_CLOEXEC, 0600);

    if (fd >= 0) {
        close(fd);
    }
    return fd >= 0;
}

static const struct attack *find(const char *name)
{
    static const struct attack *const all[] = {
        attacks_on_files, attacks_by_trees, attacks_on_kernel,
        attacks_on_processes};

    for (size_t t = 0; t < sizeof(all) / sizeof(all[0]); t++) {
        for (const struct attack *attack = all[t]; attack->name; attack++) {
            if (strcmp(attack->name, name) == 0) {
                return attack;
            }
        }
    }
    return NULL;
}

int main(int argc, char **argv)
{
    const struct attack *attack = argc == 2 ? find(argv[1]) : NULL;

    if (!attack) {
        fprintf(stderr, "usage: attacker ATTACK\n");
        return USAGE;
    }
    (void)alarm(SECONDS_MAX);
    const char *got = attack->run();
    printf("%s%s\n", got ? "escaped: " : "held", got ? got : "");
    return got ? ESCAPED : HELD;
}
