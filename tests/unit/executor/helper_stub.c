#include "helper_stub.h"

#include <string.h>
#include <unistd.h>

#include "executor/helper/helper_calls.h"
#include "executor/port/node_set.h"

void count_lost(void *count)
{
    ++*(int *)count;
}

void believe(bool is_right)
{
    if (!is_right) {
        _exit(EXIT_BELIEVED);
    }
}

static bool is_clean(struct str text)
{
    return text.byte_count < 4096 && strlen(text.p) == text.byte_count;
}

static void stub_list(struct runtime *runtime,
                      void (*each)(void *, const struct runtime_pod *),
                      void *ctx)
{
    (void)runtime;
    each(ctx, &(struct runtime_pod){.run.v = {1, 2}, .queue = STR("q")});
}

static void stub_create(struct runtime *runtime, const struct runtime_run *run)
{
    (void)runtime;
    believe(!key128_is_none(run->run.v) && !key128_is_none(run->job.v));
    believe(is_clean(run->queue) && is_clean(run->job_set) &&
            is_clean(run->user) && is_clean(run->namespace_) &&
            is_clean(run->pod_name) && is_clean(run->node_name));
    believe(run->submit && run->submit->base.descriptor ==
                               &armadaevents__submit_job__descriptor);
}

static void stub_stop(struct runtime *runtime, struct run_id run,
                      int64_t grace_ms)
{
    (void)runtime;
    believe(!key128_is_none(run.v) && grace_ms >= -1 &&
            grace_ms <= HELPER_GRACE_MS_MAX);
}

static void stub_ack(struct runtime *runtime, struct run_id run,
                     enum reconcile_phase phase)
{
    (void)runtime;
    believe(!key128_is_none(run.v) && phase >= RECONCILE_PENDING &&
            phase <= RECONCILE_LOST);
}

static void stub_forget(struct runtime *runtime, struct run_id run)
{
    (void)runtime;
    believe(!key128_is_none(run.v));
}

static uint32_t stub_poll(struct runtime *runtime,
                          struct runtime_change *ret_changes,
                          uint32_t change_max)
{
    (void)runtime;
    (void)ret_changes;
    (void)change_max;
    return 0;
}

static int64_t stub_next_wake_ms(struct runtime *runtime)
{
    (void)runtime;
    return INT64_MAX;
}

static bool stub_status(struct runtime *runtime, struct run_id run,
                        struct arena *arena, struct runtime_status *ret_status)
{
    (void)runtime;
    (void)arena;
    believe(!key128_is_none(run.v));
    *ret_status = (struct runtime_status){.message = STR("m")};
    return true;
}

static const struct node_set *stub_nodes(struct runtime *runtime)
{
    static struct node_set *nodes;

    (void)runtime;
    nodes = nodes ? nodes : node_set_create();
    return nodes;
}

static int stub_logs(struct runtime *runtime,
                     const struct runtime_log_query *query, struct strbuf *buf,
                     struct err *err)
{
    (void)runtime;
    (void)err;
    believe(!key128_is_none(query->job.v) && query->byte_count_max > 0 &&
            query->byte_count_max <= RUNTIME_LOG_BYTES_MAX);
    strbuf_add_text(buf, "line\n");
    return 0;
}

static void stub_close(struct runtime *runtime)
{
    (void)runtime;
}

int open_stub(void *ctx, struct runtime **ret_runtime, struct err *ret_info,
              struct err *err)
{
    static const struct runtime_ops ops = {
        .list = stub_list,
        .create = stub_create,
        .stop = stub_stop,
        .ack = stub_ack,
        .forget = stub_forget,
        .poll = stub_poll,
        .next_wake_ms = stub_next_wake_ms,
        .status = stub_status,
        .nodes = stub_nodes,
        .logs = stub_logs,
        .close = stub_close,
    };
    static struct runtime runtime = {&ops, -1, 1};

    (void)ctx;
    (void)ret_info;
    (void)err;
    *ret_runtime = &runtime;
    return 0;
}
