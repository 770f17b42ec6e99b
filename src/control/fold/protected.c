/* Runs whose eviction would violate a disruption budget.  Each executor reports
 * all of its own at once; this file passes them to the planner. */
#include "control/fold/executors.h"
#include "control/state/state.h"

static void encode(struct strbuf *buf, const struct control_executor *executor,
                   const struct str *runs, uint32_t count)
{
    struct event event;

    if (count == 0) {
        return;
    }
    memset(&event, 0, sizeof(event));
    event.type = EVENT_EXECUTOR_NODES;
    event.nodes.executor_id = executor->id;
    event.nodes.pool = str_of(executor->pool);
    event.nodes.has_protected = true;
    event.nodes.protected_runs = runs;
    event.nodes.protected_count = count;
    log_encode_event(buf, &event);
}

/* What was encoded; no runs if nothing was. */
static const struct str *decode(const struct control_executor *executor,
                                struct arena *arena, uint32_t *ret_count)
{
    struct str bytes =
        str_make(executor->protected.bytes, executor->protected.byte_count);
    struct event event;
    struct err err;

    *ret_count = 0;
    if (!bytes.byte_count || log_decode_event(bytes, arena, &event, &err) < 0) {
        return NULL;
    }
    *ret_count = event.nodes.protected_count;
    return event.nodes.protected_runs;
}

static void tell(struct control *c, const struct control_executor *executor,
                 const struct str *runs, uint32_t count, bool is_protected)
{
    uint32_t index = executor_index(c, executor);

    for (uint32_t i = 0; i < count; i++) {
        struct run_id run;
        struct job_view view;
        uint32_t job = run_id_parse(runs[i], &run) < 0
                           ? JOBS_NONE
                           : jobs_find_run(c->jobs, run);
        if (job == JOBS_NONE || !job_state_has_run(jobs_state(c->jobs, job))) {
            continue; /* ended meanwhile */
        }
        jobs_get(c->jobs, job, &view);
        if (c->notes.items[view.run.index].executor == index) {
            pools_job_protect(c->pools, job, is_protected);
        }
    }
}

const struct str *protected_texts(const struct exchange_request *request,
                                  struct arena *arena)
{
    struct str *texts =
        arena_alloc_array(arena, request->protected_count, sizeof(*texts));

    for (uint32_t i = 0; i < request->protected_count; i++) {
        char text[ID_TEXT_BYTES_MAX];
        texts[i] = arena_str(
            arena, str_of(run_id_format(request->protected_runs[i], text)));
    }
    return texts;
}

bool protected_differs(const struct control_executor *executor,
                       const struct exchange_request *request)
{
    auto_arena arena = {0};
    uint32_t count;
    const struct str *was = decode(executor, &arena, &count);
    const struct str *are = protected_texts(request, &arena);

    if (count != request->protected_count) {
        return true;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (!str_equal(was[i], are[i])) {
            return true;
        }
    }
    return false;
}

void protected_fold(struct control *c, struct control_executor *executor,
                    const struct str *runs, uint32_t count)
{
    auto_arena arena = {0};
    auto_strbuf buf = {0};
    uint32_t was_count;
    const struct str *was = decode(executor, &arena, &was_count);

    tell(c, executor, was, was_count, false);
    tell(c, executor, runs, count, true);
    encode(&buf, executor, runs, count);
    mem_free(executor->protected.bytes);
    executor->protected.byte_count = (uint32_t)buf.byte_count;
    executor->protected.bytes = buf.byte_count ? strbuf_steal(&buf) : NULL;
}

void protected_sync(struct control *c)
{
    for (size_t i = 0; i < c->executors.count; i++) {
        auto_arena arena = {0};
        uint32_t count = 0;
        const struct control_executor *executor = c->executors.items[i];
        const struct str *runs =
            executor ? decode(executor, &arena, &count) : NULL;
        if (runs) {
            tell(c, executor, runs, count, true);
        }
    }
}
