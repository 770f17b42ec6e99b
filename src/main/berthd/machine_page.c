#include "main/berthd/machine_page.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "main/berthd/metric_table.h"

enum { STAT_BYTES_MAX = 1024, US_PER_S = 1000000 };

static void put(struct strbuf *out, const char *name, double value)
{
    metric_head(out, name);
    strbuf_addf(out, "%s %.15g\n", name, value);
}

/* The first bytes of a file of /proc, as a text; "" where it cannot be read. */
static void read_text(const char *path, char text[STAT_BYTES_MAX])
{
    FILE *file = fopen(path, "re");
    size_t count = file ? fread(text, 1, STAT_BYTES_MAX - 1, file) : 0;

    text[count] = '\0';
    if (file) {
        (void)fclose(file);
    }
}

static void put_memory(struct strbuf *out)
{
    char text[STAT_BYTES_MAX];
    uint64_t whole, resident;

    read_text("/proc/self/statm", text);
    if (sscanf(text, "%" SCNu64 " %" SCNu64, &whole, &resident) == 2) {
        double page = (double)sysconf(_SC_PAGESIZE);
        put(out, "process_virtual_memory_bytes", (double)whole * page);
        put(out, "process_resident_memory_bytes", (double)resident * page);
    }
}

static void put_cpu(struct strbuf *out)
{
    struct rusage used;

    if (getrusage(RUSAGE_SELF, &used) == 0) {
        put(out, "process_cpu_seconds_total",
            (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
                (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) /
                    US_PER_S);
    }
}

/* Field 22 of the line is when it started, in ticks since the machine did; the
 * second field is a name in brackets. */
static void put_start(struct strbuf *out)
{
    char text[STAT_BYTES_MAX];
    struct timespec now, up;
    uint64_t ticks;

    read_text("/proc/self/stat", text);
    const char *at = strrchr(text, ')');
    for (int field = 2; at && field < 22; field++) {
        at = strchr(at + 1, ' ');
    }
    if (at && sscanf(at, "%" SCNu64, &ticks) == 1 &&
        clock_gettime(CLOCK_REALTIME, &now) == 0 &&
        clock_gettime(CLOCK_BOOTTIME, &up) == 0) {
        put(out, "process_start_time_seconds",
            (double)(now.tv_sec - up.tv_sec) +
                (double)ticks / (double)sysconf(_SC_CLK_TCK));
    }
}

static void put_descriptors(struct strbuf *out)
{
    struct rlimit limit;
    uint32_t count = 0;
    DIR *folder = opendir("/proc/self/fd");

    while (folder && readdir(folder)) {
        count++;
    }
    if (folder) {
        (void)closedir(folder);
        put(out, "process_open_fds", count - 3); /* ., .. and the folder */
    }
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        put(out, "process_max_fds", (double)limit.rlim_cur);
    }
}

static double size_of(const char *path, const char *ending)
{
    auto_strbuf whole = {0};
    struct stat about;

    strbuf_addf(&whole, "%s%s", path, ending);
    return stat(strbuf_text(&whole), &about) == 0 ? (double)about.st_size : 0;
}

static void put_disk(struct strbuf *out, const struct data_dir *dir)
{
    struct statvfs about;

    if (statvfs(dir->path, &about) == 0) {
        double block = (double)about.f_frsize;
        put(out, "berth_data_free_bytes", (double)about.f_bavail * block);
        put(out, "berth_data_size_bytes", (double)about.f_blocks * block);
    }
    put(out, "berth_log_size_bytes",
        size_of(dir->log, "") + size_of(dir->log, "-wal"));
    put(out, "berth_store_size_bytes",
        size_of(dir->store, "") + size_of(dir->store, "-wal"));
}

void machine_page_put(struct strbuf *out, const struct data_dir *dir)
{
    metric_head(out, "berth_info");
    strbuf_add_text(out, "berth_info{version=\"" BERTH_VERSION "\"} 1\n");
    put_memory(out);
    put_cpu(out);
    put_start(out);
    put_descriptors(out);
    put_disk(out, dir);
}
