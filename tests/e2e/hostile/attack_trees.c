/* Trees for whoever lists and copies the files of a job. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "attacker.h"

enum {
    LONG_DEPTH = 16, /* of 255 bytes: a path of 4,095 */
    LONG_NAME_BYTES = 255,
    WIDE_FOLDERS = 200,
    WIDE_FILES = 199, /* in each: 40,000 entries */
    LINKS = 100,
    NAME_BYTES = 64,
};

static const char *long_path(void)
{
    char name[LONG_NAME_BYTES + 1];

    memset(name, 'n', LONG_NAME_BYTES);
    name[LONG_NAME_BYTES] = '\0';
    for (int i = 0; i < LONG_DEPTH; i++) {
        if (mkdir(name, 0700) < 0 || chdir(name) < 0) {
            exit(2);
        }
    }
    (void)attack_opens("below", O_WRONLY | O_CREAT);
    return NULL;
}

/* Names of one file, which are made faster than files. */
static const char *many_entries(void)
{
    char name[NAME_BYTES];

    (void)attack_opens("one", O_WRONLY | O_CREAT);
    for (int d = 0; d < WIDE_FOLDERS; d++) {
        snprintf(name, sizeof(name), "d%d", d);
        (void)mkdir(name, 0700);
        for (int f = 0; f < WIDE_FILES; f++) {
            snprintf(name, sizeof(name), "d%d/f%d", d, f);
            (void)!link("one", name);
        }
    }
    return NULL;
}

static void make_socket(const char *name)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    snprintf(address.sun_path, sizeof(address.sun_path), "%s", name);
    (void)!bind(fd, (const struct sockaddr *)&address, sizeof(address));
}

/* Under names that others may open: what is no file, or somebody else's. */
static const char *false_output(void)
{
    char name[NAME_BYTES];

    if (chdir(attack_text("BERTH_OUTPUT_DIR")) < 0) {
        exit(2);
    }
    for (int i = 0; i < LINKS; i++) {
        snprintf(name, sizeof(name), "link%d", i);
        (void)!symlink(attack_text("ATTACK_SECRET"), name);
        snprintf(name, sizeof(name), "fifo%d", i);
        (void)mkfifo(name, 0666);
    }
    (void)!symlink("/", "root");
    (void)!symlink(".", "loop");
    (void)!symlink("../../..", "up");
    (void)!link(attack_text("ATTACK_SECRET"), "hard");
    (void)!link("/etc/passwd", "hard-passwd");
    make_socket("socket");
    (void)attack_opens("about", O_WRONLY | O_CREAT);
    (void)attack_opens("mine", O_WRONLY | O_CREAT);
    (void)!link("mine", "mine-too");
    return NULL;
}

const struct attack attacks_by_trees[] = {
    {"long-path", long_path},
    {"many-entries", many_entries},
    {"false-output", false_output},
    {NULL, NULL},
};
