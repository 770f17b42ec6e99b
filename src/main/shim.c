/*
 * berth-shim - runs one pod in the given directory.  An executor starts it,
 * never a person.
 */
#include "executor/shim/shim.h"

#include <stdio.h>
#include <string.h>

#include "executor/shim/shim_probe.h"

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--version") == 0) {
        printf("berth-shim %s\n", BERTH_VERSION);
        return 0;
    }
    if (argc == 4 && strcmp(argv[1], "--probe") == 0) {
        return shim_probe(argv[2], argv[3], true);
    }
    if (argc == 4 && strcmp(argv[1], "--probe-fence") == 0) {
        return shim_probe(argv[2], argv[3], false);
    }
    if (argc != 2 || argv[1][0] == '-') {
        fprintf(stderr, "usage: berth-shim RUN_DIRECTORY\n");
        return 2;
    }
    return shim_run(argv[1]);
}
