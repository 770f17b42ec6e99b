#include "main/berthd/pod_logs.h"

#include "executor/process/process.h"

/* Who reads logs. */
struct reader {
    const char *jobs_dir;
    struct helper *helper;
};

static int read_logs(const struct log_source *source,
                     const struct log_query *query, struct arena *arena,
                     struct log_answer *ret_answer, struct err *err)
{
    const struct reader *reader = source->ctx;
    auto_strbuf text = {0};
    struct runtime_log_query wanted = {
        .job = query->job,
        .container = query->container,
        .since = query->since,
        .line_count_max = query->tail_lines,
        .byte_count_max = query->byte_count_max < RUNTIME_LOG_BYTES_MAX
                              ? (int64_t)query->byte_count_max
                              : RUNTIME_LOG_BYTES_MAX,
    };

    int rc = reader->helper
                 ? helper_logs(reader->helper, &wanted, &text, err)
                 : process_logs(reader->jobs_dir, &wanted, &text, err);
    if (rc < 0) {
        return rc;
    }
    *ret_answer = (struct log_answer){
        .text = arena_str(arena, strbuf_str(&text)), .is_cut = rc == 1};
    return 0;
}

struct log_source *pod_logs_make(const char *jobs_dir, struct helper *helper,
                                 struct arena *arena)
{
    struct log_source *source = arena_alloc(arena, sizeof(*source));
    struct reader *reader = arena_alloc(arena, sizeof(*reader));

    *reader = (struct reader){arena_strdup(arena, str_of(jobs_dir)), helper};
    *source = (struct log_source){.read = read_logs, .ctx = reader};
    return source;
}
