#include "leader_log.h"

#include "wire/log/log_codec.h"

enum { TEXT_JOB_ID = 0x72 };

static const int64_t t0_ms = 1700000000000;

struct writer {
    struct log_batch batch;
    struct event_scope scope;
    struct strbuf *text;
    int64_t time_ms;
};

static struct job_id job_of(uint8_t n)
{
    const uint8_t random[10] = {n};

    return job_id_make(t0_ms + n, random);
}

static struct event make(enum event_type type, uint8_t n, uint32_t attempt)
{
    struct event event;

    memset(&event, 0, sizeof(event));
    event.type = type;
    event.created_ms = t0_ms + 5;
    if (n) {
        event.job = job_of(n);
        event.run = run_id_make(event.job, attempt);
    }
    return event;
}

static void add(struct writer *w, struct event event)
{
    log_batch_add(&w->batch, &w->scope, &event);
}

static void end_record(struct writer *w)
{
    struct str payload = log_batch_finish(&w->batch);

    strbuf_addf(w->text, "%lld ", (long long)w->time_ms++);
    for (size_t i = 0; i < payload.byte_count; i++) {
        strbuf_addf(w->text, "%02x", (uint8_t)payload.p[i]);
    }
    strbuf_add_char(w->text, '\n');
    log_batch_clear(&w->batch);
}

static void submit(struct writer *w, uint8_t n, const char *gang)
{
    auto_strbuf key = {0}, digest = {0}, submit_job = {0}, event = {0};
    char id[ID_TEXT_BYTES_MAX];
    struct resource_amount cpu = {STR("cpu"), 2000};
    struct label selector = {STR("zone"), STR("a")};
    struct requirement requirement = {
        .lifetime_ms = LIFETIME_BY_CLASS,
        .priority_class =
            n == 2 ? STR("armada-default") : STR("armada-preemptible"),
        .requests = {&cpu, 1},
        .selector = &selector,
        .selector_count = n == 9,
    };

    requirement_pack(&key, &requirement);
    struct job_digest of = {
        .class_key = strbuf_str(&key),
        .client_id = n % 2 ? STR("client") : STR(""),
        .gang_id = str_of(gang),
        .gang_cardinality = gang ? 2 : 1,
        .gang_minimum = gang ? 2 : 1,
        .gang_uniformity = gang ? STR("rack") : STR(""),
        .is_fail_fast = gang != NULL,
        .on_preemption = n == 6 ? ON_LOSS_REQUEUE : ON_LOSS_FAIL,
        .on_executor_lost = n == 7 ? ON_LOSS_REQUEUE : ON_LOSS_FAIL,
    };
    digest_pack(&digest, &of);
    strbuf_add_char(&submit_job, TEXT_JOB_ID);
    strbuf_add_char(&submit_job, JOB_ID_TEXT_BYTES);
    strbuf_add_text(&submit_job, job_id_format(job_of(n), id));
    strbuf_add(&submit_job, "\x18\x07", 2); /* priority 7 */
    log_put_submit(&event, t0_ms + n, strbuf_str(&submit_job),
                   strbuf_str(&digest));
    log_batch_add_encoded(&w->batch, &w->scope, strbuf_str(&event));
}

static void lease(struct writer *w, uint8_t n, uint32_t attempt)
{
    struct event event = make(EVENT_LEASED, n, attempt);

    event.leased.executor_id = STR("exec");
    event.leased.node_name = STR("node-1");
    event.leased.pool = STR("default");
    event.leased.priority = 1000;
    event.leased.attempt = attempt;
    add(w, event);
}

static void error(struct writer *w, enum event_type type, uint8_t n,
                  uint32_t attempt, enum error_kind kind, struct str message)
{
    struct event event = make(type, n, attempt);

    event.error = (struct event_error){.kind = kind,
                                       .is_terminal = true,
                                       .is_run_attempted = true,
                                       .message = message};
    add(w, event);
}

static void write_nodes(struct writer *w)
{
    struct resource_amount total[] = {{STR("cpu"), 16000},
                                      {STR("memory"), (int64_t)64 << 40}};
    struct resource_amount foreign[] = {{STR("cpu"), 1000}};
    struct label labels[] = {{STR("rack"), STR("r1")}, {STR("zone"), STR("a")}};
    struct taint taint = {STR("gpu"), STR("true"), TAINT_NO_SCHEDULE};
    struct node_record nodes[] = {
        {.name = STR("node-1"),
         .labels = labels,
         .label_count = 2,
         .total = {total, 2},
         .foreign = {foreign, 1}},
        {.name = STR("node-2"),
         .pool = STR("default"),
         .node_type = STR("big"),
         .taints = &taint,
         .taint_count = 1,
         .total = {total, 2},
         .is_unschedulable = true},
    };
    struct str gone = STR("node-0");
    struct event event = make(EVENT_EXECUTOR_NODES, 0, 0);

    event.nodes.executor_id = STR("exec");
    event.nodes.pool = STR("default");
    event.nodes.set = nodes;
    event.nodes.set_count = 2;
    event.nodes.removed = &gone;
    event.nodes.removed_count = 1;
    add(w, event);
}

static void write_settings(struct writer *w)
{
    struct event event = make(EVENT_LEADER_STARTED, 0, 0);

    add(w, event);
    event = make(EVENT_POLICY_SET, 0, 0);
    event.policy.text = STR("maxRetries: 2\n");
    add(w, event);
    end_record(w);
    event = make(EVENT_QUEUE_SET, 0, 0);
    event.queue.record.name = STR("q");
    /* api.Queue: 1 name, 2 priority_factor 2.0 */
    event.queue.encoded = STR("\x0a\x01q\x11\0\0\0\0\0\0\0\x40");
    add(w, event);
    event.queue.record.name = STR("old");
    event.queue.encoded = STR("\x0a\x03old\x11\0\0\0\0\0\0\xf0\x3f");
    add(w, event);
    event = make(EVENT_QUEUE_DELETED, 0, 0);
    event.queue.record.name = STR("old");
    add(w, event);
    event = make(EVENT_RETRY_POLICY_SET, 0, 0);
    event.retry_policy.name = STR("twice");
    event.retry_policy.encoded = STR("\x0a\x05twice\x10\x02");
    add(w, event);
    event = make(EVENT_RETRY_POLICY_DELETED, 0, 0);
    event.retry_policy.name = STR("never");
    add(w, event);
    write_nodes(w);
    event = make(EVENT_EXECUTOR_SETTINGS, 0, 0);
    event.settings.name = STR("exec");
    event.settings.is_cordoned = true;
    event.settings.reason = STR("repairs");
    add(w, event);
    event = make(EVENT_EXECUTOR_DELETED, 0, 0);
    event.settings.name = STR("gone");
    add(w, event);
    end_record(w);
}

static void write_ends(struct writer *w)
{
    struct event event;

    for (uint8_t n = 1; n <= 7; n++) {
        lease(w, n, 0);
    }
    event = make(EVENT_ROUND_DONE, 0, 0);
    event.round.kind = ROUND_BALANCE;
    event.round.started_ms = t0_ms;
    add(w, event);
    end_record(w);
    for (uint8_t n = 1; n <= 4; n++) {
        event = make(EVENT_RUN_ASSIGNED, n, 0);
        event.pod.executor_id = STR("exec");
        event.pod.pod_name = STR("pod");
        add(w, event);
    }
    for (uint8_t n = 1; n <= 3; n++) {
        event = make(EVENT_RUN_RUNNING, n, 0);
        event.pod.executor_id = STR("exec");
        event.pod.node_name = STR("node-1");
        add(w, event);
    }
    add(w, make(EVENT_RUN_SUCCEEDED, 1, 0));
    error(w, EVENT_RUN_ERRORS, 2, 0, ERROR_POD, STR("exit 1"));
    add(w, make(EVENT_INGRESS_INFO, 3, 0));
    add(w, make(EVENT_UTILISATION, 3, 0));
    add(w, make(EVENT_DEBUG_INFO, 3, 0));
    event = make(EVENT_CANCEL, 4, 0);
    event.cancel.reason = STR("enough");
    add(w, event);
    error(w, EVENT_RUN_ERRORS, 5, 0, ERROR_LEASE_RETURNED, STR("no image"));
    event = make(EVENT_PREEMPT, 6, 0);
    event.cancel.reason = STR("room");
    add(w, event);
    end_record(w);
    add(w, make(EVENT_SUCCEEDED, 1, 0));
    error(w, EVENT_FAILED, 2, 0, ERROR_POD, STR("exit 1"));
    add(w, make(EVENT_RUN_CANCELLED, 4, 0));
    event = make(EVENT_CANCELLED, 4, 0);
    event.cancel.requestor = STR("anna");
    add(w, event);
    add(w, make(EVENT_REQUEUED, 5, 0));
    event = make(EVENT_RUN_PREEMPTED, 6, 0);
    event.preempted.reason = STR("Preempted by anna - room");
    add(w, event);
    error(w, EVENT_RUN_ERRORS, 6, 0, ERROR_PREEMPTED, STR("Preempted"));
    add(w, make(EVENT_REQUEUED, 6, 0));
    end_record(w);
}

static void write_rest(struct writer *w)
{
    struct str queue = STR("q");
    struct event event = make(EVENT_EXECUTOR_STATE, 0, 0);

    event.executor.name = STR("exec");
    event.executor.state = EXECUTOR_STALE;
    add(w, event);
    event = make(EVENT_REPRIORITISE, 5, 0);
    event.reprioritise.priority = 3;
    add(w, event);
    event = make(EVENT_REPRIORITISED, 5, 0);
    event.reprioritise.priority = 3;
    event.reprioritise.requestor = STR("anna");
    add(w, event);
    event = make(EVENT_REPRIORITISE_SET, 0, 0);
    event.reprioritise.priority = 4;
    add(w, event);
    event = make(EVENT_VALIDATED, 8, 0);
    add(w, event);
    lease(w, 5, 1);
    event = make(EVENT_SELECTION, 0, 0);
    event.selection.action = SELECTION_PREEMPT;
    event.selection.executor_id = STR("exec");
    event.selection.queues = &queue;
    event.selection.queue_count = 1;
    event.selection.states = STATE_SET_ALL;
    add(w, event);
    event = make(EVENT_EXECUTOR_STATE, 0, 0);
    event.executor.name = STR("exec");
    event.executor.state = EXECUTOR_LOST;
    add(w, event);
    end_record(w);
    error(w, EVENT_RUN_ERRORS, 7, 0, ERROR_LEASE_EXPIRED, STR("Lease expired"));
    w->scope.job_set = STR("other");
    submit(w, 9, NULL);
    event = make(EVENT_CANCEL_SET, 0, 0);
    event.cancel.states = STATE_SET_QUEUED;
    event.cancel.reason = STR("all of it");
    add(w, event);
    error(w, EVENT_FAILED, 8, 0, ERROR_REJECTED, STR("fits nowhere"));
    end_record(w);
}

void leader_log_write(struct strbuf *text)
{
    struct writer w = {.text = text, .time_ms = t0_ms};

    w.scope = (struct event_scope){0};
    write_settings(&w);
    w.scope = (struct event_scope){STR("q"), STR("set"), STR("anna")};
    for (uint8_t n = 1; n <= 8; n++) {
        submit(&w, n, n == 3 || n == 4 ? "gang" : NULL);
    }
    end_record(&w);
    write_ends(&w);
    write_rest(&w);
    log_batch_fini(&w.batch);
}
