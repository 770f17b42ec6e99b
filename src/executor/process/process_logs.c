#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "executor/files/file.h"
#include "executor/files/run_file.h"
#include "executor/port/log_cut.h"
#include "executor/process/process_private.h"

/* The last `count` lines. */
static struct str keep_lines(struct str log, int64_t count)
{
    size_t at = log.byte_count;

    for (; at > 0; at--) {
        if (log.p[at - 1] == '\n' && at != log.byte_count && --count == 0) {
            break;
        }
    }
    return str_make(log.p + at, log.byte_count - at);
}

static int select_lines(struct str log, const struct runtime_log_query *query,
                        struct strbuf *buf, struct err *err)
{
    char since[WIRE_RFC3339_TEXT_BYTES_MAX];

    if (query->since.byte_count > 0) {
        if (!log_cut_time(query->since, since)) {
            return err_set(err, -ERR_INVALID,
                           "\"%.*s\" is not an RFC 3339 time",
                           STR_ARG(query->since));
        }
        log = log_cut_since(log, since);
    }
    if (query->line_count_max >= 0) {
        log = query->line_count_max == 0
                  ? STR("")
                  : keep_lines(log, query->line_count_max);
    }
    struct str kept = log_cut_bytes(log, query->byte_count_max);
    strbuf_add_str(buf, kept);
    return kept.byte_count < log.byte_count;
}

/* Which file is the container's. */
static int find_container(const struct run_spec *spec, struct str name)
{
    for (size_t i = 0; i < spec->containers.count; i++) {
        const struct run_container *container = &spec->containers.items[i];
        if (name.byte_count == 0 ? container->kind == RUN_MAIN
                                 : str_equal(str_of(container->name), name)) {
            return (int)i;
        }
    }
    return -1;
}

static int read_log(int run_fd, int index,
                    const struct runtime_log_query *query, struct strbuf *buf,
                    struct err *err)
{
    char path[32];
    struct stat st;

    snprintf(path, sizeof(path), "%s/%d", RUN_LOG_NAME, index);
    int fd = file_open(run_fd, path, err);
    if (fd < 0) {
        return fd == -ERR_NOT_FOUND ? 0 : fd;
    }
    if (fstat(fd, &st) < 0) {
        close(fd);
        return err_set(err, -ERR_IO, "the log: %s", strerror(errno));
    }
    int rc = 0;
    if (st.st_size > 0) {
        void *map =
            mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, fd, 0);
        if (map == MAP_FAILED) {
            rc = err_set(err, -ERR_IO, "the log: %s", strerror(errno));
        } else {
            rc = select_lines(str_make(map, (size_t)st.st_size), query, buf,
                              err);
            (void)munmap(map, (size_t)st.st_size);
        }
    }
    close(fd);
    return rc;
}

int process_open_job(const char *data_dir, struct job_id job, const char *what,
                     struct err *err)
{
    char path[PROCESS_PATH_BYTES_MAX], id[ID_TEXT_BYTES_MAX];

    snprintf(path, sizeof(path), "%.900s/jobs/%s", data_dir,
             job_id_format(job, id));
    int run_fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return run_fd >= 0
               ? run_fd
               : err_set(err, -ERR_NOT_FOUND,
                         "this executor has no %s of job %s: it has not "
                         "started there, or the %s were removed, by "
                         "executor.process.retention",
                         what, id, what);
}

int process_logs(const char *data_dir, const struct runtime_log_query *query,
                 struct strbuf *buf, struct err *err)
{
    char id[ID_TEXT_BYTES_MAX];
    struct run_spec spec;

    ASSERT(query->byte_count_max > 0);
    int run_fd = process_open_job(data_dir, query->job, "logs", err);
    if (run_fd < 0) {
        return run_fd;
    }
    int rc = run_spec_read(run_fd, &spec, err);
    if (rc == 0) {
        int index = find_container(&spec, query->container);
        rc = index < 0 ? err_set(err, -ERR_NOT_FOUND,
                                 "the pod of job %s has no container "
                                 "\"%.*s\"",
                                 job_id_format(query->job, id),
                                 STR_ARG(query->container))
                       : read_log(run_fd, index, query, buf, err);
        run_spec_fini(&spec);
    }
    close(run_fd);
    return rc;
}
