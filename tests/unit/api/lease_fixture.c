#include "lease_fixture.h"

#include "armada/services.pb-c.h"
#include "sample.h"
#include "unit.h"
#include "wire/message/message.h"

static struct exchange_lease lease_of(struct job_id job)
{
    static const struct taint away = {{"gpu", 3}, {"*", 1}, TAINT_NO_SCHEDULE};

    return (struct exchange_lease){
        .job = job,
        .run = run_id_make(job, 0),
        .queue = STR("q"),
        .job_set = STR("s"),
        .user = STR("amy"),
        .node_name = STR("node-1"),
        .pool = STR("default"),
        .is_preemptible = true,
        .away_taints = &away,
        .away_taint_count = 1,
    };
}

static void fill_response(struct leader_says *says, struct command *command)
{
    struct exchange_response *response = &command->exchange.response;

    response->leases =
        arena_alloc_array(&command->arena, 4, sizeof(response->leases[0]));
    for (uint32_t i = 0; i < says->job_count; i++) {
        response->leases[response->lease_count++] = lease_of(says->jobs[i]);
    }
    if (!key128_is_none(says->cancel.v)) {
        response->cancels = &says->cancel;
        response->cancel_count = 1;
    }
}

/* What the leader does of its own accord. */
static void do_unasked(struct leader_says *says)
{
    struct exchange_lease lease = lease_of(says->to_push);
    struct exchange_response response = {.leases = &lease, .lease_count = 1};
    char key[] = "gpu";
    struct taint away = {str_of(key), STR("*"), TAINT_NO_SCHEDULE};

    lease.away_taints = &away;
    if (!key128_is_none(says->to_push.v)) {
        says->session->push(says->session, &response);
        says->to_push = (struct job_id){0};
    }
    /* What is pushed is borrowed until the return. */
    memset(key, 'x', sizeof(key) - 1);
    away.effect = TAINT_NO_EXECUTE;
    if (says->is_to_release) {
        says->is_to_release = false;
        says->session->released(says->session, COMMAND_INVALID);
    }
}

void lease_on_exchange(struct fixture *f, struct command *command)
{
    struct leader_says *says = f->exchange_ctx;

    if (command->kind == COMMAND_SESSION_END) {
        says->session_end_count++;
        says->session->released(says->session, COMMAND_OK);
        says->session = NULL;
        return;
    }
    if (command->kind != COMMAND_EXCHANGE) {
        do_unasked(says);
        return;
    }
    says->heard = command->exchange.request;
    says->exchange_count++;
    says->run_count = command->exchange.request.run_count;
    command->result = says->result;
    if (says->result != COMMAND_OK) {
        command->result_text = STR("not now");
        return;
    }
    if (says->exchange_count == 1 || !command->exchange.request.session) {
        fill_response(says, command);
    }
    if (command->exchange.request.session) {
        says->session = command->exchange.request.session;
    }
}

void lease_begin(struct fixture *f, struct leader_says *says)
{
    fixture_init(f);
    f->on_exchange = lease_on_exchange;
    f->exchange_ctx = says;
    fixture_start(f);
    fixture_queue(f, "q");
}

struct job_id lease_submit(struct fixture *f)
{
    Berth__Submission__Item *item =
        sample_item(&f->arena, sample_pod(&f->arena));
    Berth__Submission__Request *request;
    struct job_id id;

    sample_annotation(&f->arena, item, "note", "keep");
    request = sample_request_of(&f->arena, &item, 1);
    Api__JobSubmitResponse *response =
        fixture_call(f, "/api.Submit/SubmitJobs", &request->base,
                     &api__job_submit_response__descriptor);
    assert_non_null(response);
    assert_int_equal(
        job_id_parse(str_of(response->job_response_items[0]->job_id), &id), 0);
    return id;
}

struct rpc_stream *lease_ask(struct fixture *f,
                             const Executorapi__LeaseRequest *request)
{
    struct rpc_call_options options = {.is_gzip = true,
                                       .is_wait_for_ready = true};
    struct rpc_stream *stream = rpc_stream_open(
        f->channel, "/executorapi.ExecutorApi/LeaseJobRuns", &options);
    auto_strbuf bytes = strbuf_make(0);

    /* The leader sees what the test has told it to say. */
    fixture_settle(f);
    wire_encode(&request->base, &bytes);
    /* Who may not ask may have been told so by now. */
    assert_int_not_equal(rpc_stream_send(stream, strbuf_str(&bytes), 10000),
                         RPC_WAIT_TIMEOUT);
    return stream;
}

Executorapi__LeaseStreamMessage *lease_next(struct fixture *f,
                                            struct rpc_stream *stream)
{
    return fixture_next(f, stream,
                        &executorapi__lease_stream_message__descriptor);
}
