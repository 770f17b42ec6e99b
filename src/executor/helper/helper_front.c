/* The runtime as the network-facing process has it: each call is handed on. */
#include <stdio.h>
#include <unistd.h>

#include "executor/helper/helper_private.h"
#include "executor/port/change_queue.h"

struct front {
    struct runtime runtime;
    struct helper *helper;       /* borrowed */
    struct node_set *nodes;      /* owned */
    struct change_queue changes; /* that are here, and not handed out */
};

static struct front *front_of(struct runtime *runtime)
{
    return container_of(runtime, struct front, runtime);
}

static void note_lost(struct helper *helper)
{
    if (!helper->is_lost) {
        helper->is_lost = true;
        helper->options.lost(helper->options.lost_ctx);
    }
}

/* Ask for the runtime; the caller releases helper->calls. */
static int ask(struct helper *helper, const struct helper_request *request,
               struct str payload, struct err *err)
{
    int rc = helper_ask(&helper->calls, request, payload, err);

    if (helper->calls.is_gone) {
        note_lost(helper);
    }
    return rc;
}

/* What the helper says makes no sense, or did not fit: end it, for what it
 * knows would be lost unseen.  The next one tells all again. */
static void give_up(struct helper *helper)
{
    helper_break_off(&helper->calls);
    note_lost(helper);
}

/* Ask for what has no answer but that it is done. */
static void tell(struct runtime *runtime, const struct helper_request *request)
{
    struct helper *helper = front_of(runtime)->helper;
    struct err err;

    (void)ask(helper, request, STR(""), &err);
    helper_release(&helper->calls);
}

static struct helper_reader answer_of(const struct helper *helper)
{
    return (struct helper_reader){.rest = strbuf_str(&helper->calls.answer)};
}

static void front_list(struct runtime *runtime,
                       void (*each)(void *, const struct runtime_pod *),
                       void *ctx)
{
    struct helper *helper = front_of(runtime)->helper;
    const struct helper_request request = {.kind = HELPER_LIST};
    auto_strbuf pods = strbuf_make(HELPER_ANSWER_BYTES_MAX);
    struct err err;

    int rc = ask(helper, &request, STR(""), &err);
    if (rc == 0) {
        strbuf_add_str(&pods, strbuf_str(&helper->calls.answer));
    }
    helper_release(&helper->calls);
    /* Whoever is told may ask for more. */
    struct helper_reader reader = {.rest = strbuf_str(&pods)};
    while (!reader.is_bad && reader.rest.byte_count > 0) {
        struct runtime_pod pod;
        helper_take_pod(&reader, &pod);
        if (!reader.is_bad) {
            each(ctx, &pod);
        }
    }
    if (rc < 0 || reader.is_bad) {
        give_up(helper);
    }
}

static void front_create(struct runtime *runtime, const struct runtime_run *run)
{
    struct front *front = front_of(runtime);
    auto_strbuf payload = strbuf_make(HELPER_CREATE_BYTES_MAX);
    const struct helper_request request = {
        .kind = HELPER_CREATE, .run = run->run, .job = run->job};
    struct err err;

    helper_put_run(&payload, run);
    if (payload.is_over) {
        change_queue_push(&front->changes,
                          &(struct runtime_change){
                              .kind = RUNTIME_REFUSED,
                              .run = run->run,
                              .scope = RUNTIME_SCOPE_CLUSTER,
                              .text = STR("the job is too large"),
                          });
        return;
    }
    (void)ask(front->helper, &request, strbuf_str(&payload), &err);
    helper_release(&front->helper->calls);
}

static void front_stop(struct runtime *runtime, struct run_id run,
                       int64_t grace_ms)
{
    tell(runtime,
         &(struct helper_request){
             .kind = HELPER_STOP,
             .run = run,
             .number = grace_ms < 0                     ? -1
                       : grace_ms > HELPER_GRACE_MS_MAX ? HELPER_GRACE_MS_MAX
                                                        : grace_ms,
         });
}

static void front_ack(struct runtime *runtime, struct run_id run,
                      enum reconcile_phase phase)
{
    if (phase >= RECONCILE_PENDING && phase <= RECONCILE_LOST) {
        tell(runtime, &(struct helper_request){
                          .kind = HELPER_ACK, .run = run, .number = phase});
    }
}

static void front_forget(struct runtime *runtime, struct run_id run)
{
    tell(runtime, &(struct helper_request){.kind = HELPER_FORGET, .run = run});
}

/* Whether the helper has woken us; or is gone. */
static bool take_wake(struct helper *helper)
{
    char bytes[64];
    bool is_woken = false;
    ssize_t got;

    while ((got = read(helper->wake_fd, bytes, sizeof(bytes))) > 0) {
        is_woken = true;
    }
    if (got == 0) {
        note_lost(helper);
    }
    return is_woken;
}

static void fetch_changes(struct front *front)
{
    struct helper *helper = front->helper;
    const struct helper_request request = {.kind = HELPER_POLL};
    struct err err;

    int rc = ask(helper, &request, STR(""), &err);
    struct helper_reader reader = answer_of(helper);
    for (int64_t n = rc == 0 ? helper_take_int(&reader) : 0;
         n > 0 && !reader.is_bad; n--) {
        struct runtime_pod pod;
        struct runtime_change change;
        helper_take_change(&reader, &pod, &change);
        if (!reader.is_bad) {
            change_queue_push(&front->changes, &change);
        }
    }
    if (rc == 0) {
        helper_take_nodes(&reader, front->nodes);
    }
    bool is_good = rc == 0 && helper_is_whole(&reader);
    helper_release(&helper->calls);
    if (!is_good) {
        give_up(helper);
    }
}

static uint32_t front_poll(struct runtime *runtime,
                           struct runtime_change *ret_changes,
                           uint32_t change_max)
{
    struct front *front = front_of(runtime);

    if (change_queue_is_empty(&front->changes) && !front->helper->is_lost &&
        take_wake(front->helper)) {
        fetch_changes(front);
    }
    return change_queue_take(&front->changes, ret_changes, change_max);
}

/* The helper wakes us, and waits for the rest itself. */
static int64_t front_next_wake_ms(struct runtime *runtime)
{
    return change_queue_is_empty(&front_of(runtime)->changes) ? INT64_MAX : 0;
}

static bool front_status(struct runtime *runtime, struct run_id run,
                         struct arena *arena, struct runtime_status *ret_status)
{
    struct helper *helper = front_of(runtime)->helper;
    const struct helper_request request = {.kind = HELPER_STATUS, .run = run};
    struct err err;

    int rc = ask(helper, &request, STR(""), &err);
    bool is_good = rc == 0 || rc == -ERR_NOT_FOUND;
    if (rc == 0) {
        struct helper_reader reader = answer_of(helper);
        helper_take_status(&reader, arena, ret_status);
        is_good = helper_is_whole(&reader);
    }
    helper_release(&helper->calls);
    if (!is_good) {
        give_up(helper);
    }
    return rc == 0 && is_good;
}

static const struct node_set *front_nodes(struct runtime *runtime)
{
    return front_of(runtime)->nodes;
}

static int front_logs(struct runtime *runtime,
                      const struct runtime_log_query *query, struct strbuf *buf,
                      struct err *err)
{
    return helper_logs(front_of(runtime)->helper, query, buf, err);
}

static int front_files(struct runtime *runtime,
                       const struct runtime_files_query *query,
                       struct strbuf *buf, struct err *err)
{
    return helper_files(front_of(runtime)->helper, query, buf, err);
}

static int front_exec(struct runtime *runtime, struct job_id job, int *ret_fd,
                      struct err *err)
{
    return helper_exec(front_of(runtime)->helper, job, ret_fd, err);
}

static void front_close(struct runtime *runtime)
{
    struct front *front = front_of(runtime);

    helper_end(front->helper);
    change_queue_fini(&front->changes);
    node_set_destroy(front->nodes);
    mem_free(front);
}

static const struct runtime_ops front_ops = {
    .name = "process", /* the only one that is in a helper */
    .list = front_list,
    .create = front_create,
    .stop = front_stop,
    .ack = front_ack,
    .forget = front_forget,
    .poll = front_poll,
    .next_wake_ms = front_next_wake_ms,
    .status = front_status,
    .nodes = front_nodes,
    .logs = front_logs,
    .files = front_files,
    .exec = front_exec,
    .close = front_close,
};

int helper_open(struct helper *helper, struct runtime **ret_runtime,
                struct err *ret_info, struct err *err)
{
    const struct helper_request request = {.kind = HELPER_OPEN};

    int rc = ask(helper, &request, STR(""), err);
    struct helper_reader reader = answer_of(helper);
    struct str text = helper_take_str(&reader);
    if (rc < 0 && !helper->calls.is_gone) {
        (void)err_set(err, rc, "%.*s", STR_ARG(text));
    }
    if (rc == 0) {
        struct front *front = mem_alloc(sizeof(*front));
        (void)snprintf(ret_info->text, sizeof(ret_info->text), "%.*s",
                       STR_ARG(text));
        front->runtime = (struct runtime){&front_ops, helper->wake_fd,
                                          (uint32_t)helper_take_int(&reader)};
        front->helper = helper;
        front->nodes = node_set_create();
        helper_take_nodes(&reader, front->nodes);
        *ret_runtime = &front->runtime;
        if (!helper_is_whole(&reader)) {
            node_set_destroy(front->nodes);
            mem_free(front);
            rc = err_set(err, -ERR_UNAVAILABLE,
                         "the helper process gave a malformed answer");
        }
    }
    helper_release(&helper->calls);
    if (rc == 0) {
        helper_set_deadlines(helper); /* taking up pods had no limit */
    }
    return rc;
}
