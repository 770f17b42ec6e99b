#include "measure.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

double measure_now_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

double measure_resident_bytes(void)
{
    long pages = 0, ignored;
    FILE *file = fopen("/proc/self/statm", "r");

    if (file) {
        if (fscanf(file, "%ld %ld", &ignored, &pages) != 2) {
            pages = 0;
        }
        fclose(file);
    }
    return (double)pages * (double)sysconf(_SC_PAGESIZE);
}

void measure_print(const struct figure *figure, double value)
{
    printf("{\"name\":\"%s\",\"value\":%.6g,\"unit\":\"%s\"", figure->name,
           value, figure->unit);
    if (figure->peer > 0) {
        printf(",\"peer\":%.6g", figure->peer);
    }
    printf("}\n");
    fflush(stdout);
}

void measure_print_text(const char *name, const char *text)
{
    printf("{\"name\":\"%s\",\"text\":\"%s\"}\n", name, text);
    fflush(stdout);
}
