#include "matrix.h"

#include <stdio.h>

#include "patience.h"
#include "sample.h"
#include "unit.h"
#include "wire/message/field.h"
#include "wire/message/message.h"
#include "wire/text/base64.h"

enum { NAMED = 6, USERS_MAX = NAMED + PERMISSION_COUNT + VERB_COUNT };

static const struct str groups[] = {
    {"operators", 9}, {"granted", 7}, {"clusters", 8}};
/* The first callers: each has the password p, and one of the groups or none. */
static const struct {
    const char *name;
    int group;
} named[NAMED] = {{"root", 0},    {"granted", 1}, {"owner", -1},
                  {"reader", -1}, {"cluster", 2}, {"stranger", -1}};

static const char *const queues[] = {"own", "foreign", "nowhere"};
static const char unknown_id[] = "01jzzzzzzzzzzzzzzzzzzzzzzz";
static const char training_request[] =
    "apiVersion: paddlepaddle.org/v1\nkind: TrainingJob\nmetadata:\n"
    "  name: t\n  namespace: n\nspec:\n"
    "  trainer: {min-instance: 1, max-instance: 1}\n";

const char *matrix_permitted(enum permission permission)
{
    return permission_name(permission);
}

const char *matrix_allowed(enum queue_verb verb)
{
    return queue_verb_name(verb);
}

/* The leader's answers to questions about one job. */
static void answer(struct fixture *f, struct command *command)
{
    (void)f;
    if (command->kind == COMMAND_EXPLAIN) {
        command->explain.text = STR("it waits");
        command->explain.json = STR("{}");
    }
}

/* Let one user do something with a queue. */
static Api__Queue__Permissions *grant(struct arena *arena, const char *user,
                                      const char *verb)
{
    static char kind[] = "User";
    Api__Queue__Permissions *permissions =
        arena_alloc(arena, sizeof(*permissions));
    Api__Queue__Permissions__Subject *subject =
        arena_alloc(arena, sizeof(*subject));

    api__queue__permissions__init(permissions);
    api__queue__permissions__subject__init(subject);
    subject->kind = kind;
    subject->name = arena_strdup(arena, str_of(user));
    permissions->n_subjects = permissions->n_verbs = 1;
    permissions->subjects = arena_alloc(arena, sizeof(subject));
    permissions->subjects[0] = subject;
    permissions->verbs = arena_alloc(arena, sizeof(char *));
    permissions->verbs[0] = arena_strdup(arena, str_of(verb));
    return permissions;
}

/* The queue of OWNER, who owns it, of READER and of who has one verb; or
 * somebody else's. */
static void make_queue(struct fixture *f, int which)
{
    Api__Queue queue = fixture_queue_message(queues[which], 1.0);
    Api__Queue__Permissions *permissions[VERB_COUNT];
    char owner[] = "owner", other[] = "somebody";
    char *owners[] = {which == MATRIX_OWN ? owner : other};

    permissions[0] =
        grant(&f->arena, which == MATRIX_OWN ? "reader" : other, "view");
    for (int verb = 1; verb < VERB_COUNT; verb++) {
        const char *name = queue_verb_name((enum queue_verb)verb);
        permissions[verb] =
            grant(&f->arena, which == MATRIX_OWN ? name : other, name);
    }
    queue.permissions = permissions;
    queue.n_permissions = VERB_COUNT;
    queue.user_owners = owners;
    queue.n_user_owners = 1;
    f->credentials = "Basic cm9vdDpw";
    assert_int_equal(fixture_code(f, "/api.Submit/UpdateQueue", &queue.base),
                     RPC_OK);
}

/* A job of the queue with a run that has failed. */
static void make_job(struct matrix *m, int which)
{
    struct fixture *f = &m->f;
    Berth__Submission__Item *item =
        sample_item(&f->arena, sample_pod(&f->arena));
    Berth__Submission__Request *request =
        sample_request_of(&f->arena, &item, 1);
    struct event_scope scope = {str_of(queues[which]), {"s", 1}, {"root", 4}};
    struct event leased = {.type = EVENT_LEASED,
                           .leased = {.executor_id = STR("elsewhere"),
                                      .node_name = STR("node"),
                                      .pool = STR("default")}};
    struct event failed = {.type = EVENT_FAILED,
                           .error = {.kind = ERROR_POD,
                                     .is_terminal = true,
                                     .message = STR("it broke")}};
    char uri[] = "uri";

    request->queue = (char *)(uintptr_t)queues[which];
    item->external_job_uri = uri;
    Api__JobSubmitResponse *response =
        fixture_call(f, "/api.Submit/SubmitJobs", &request->base,
                     &api__job_submit_response__descriptor);
    assert_non_null(response);
    snprintf(m->jobs[which], ID_TEXT_BYTES_MAX, "%s",
             response->job_response_items[0]->job_id);
    assert_int_equal(job_id_parse(str_of(m->jobs[which]), &leased.job), 0);
    leased.run = run_id_make(leased.job, 0);
    leased.created_ms = failed.created_ms = f->now_ms;
    failed.job = leased.job;
    failed.run = leased.run;
    run_id_format(leased.run, m->runs[which]);
    fixture_log(f, &scope, &leased);
    fixture_log(f, &scope, &failed);
}

/* Users and what is granted to whom. */
static void make_users(struct matrix *m)
{
    struct auth_config *auth = &m->f.config.auth;
    struct arena *arena = &m->f.arena;
    struct basic_user *users =
        arena_alloc_array(arena, USERS_MAX, sizeof(*users));
    uint32_t count = 0;

    for (int i = 0; i < NAMED; i++) {
        int group = named[i].group;
        users[count++] =
            (struct basic_user){.name = str_of(named[i].name),
                                .groups = group >= 0 ? &groups[group] : NULL,
                                .group_count = group >= 0};
    }
    for (int verb = 1; verb < VERB_COUNT; verb++) {
        users[count++].name = str_of(matrix_allowed((enum queue_verb)verb));
    }
    for (int i = 1; i < PERMISSION_COUNT; i++) {
        /* A group of the user's own, which has the user's name. */
        struct str *having = arena_alloc_array(arena, 3, sizeof(*having));
        having[0] = str_of(matrix_permitted((enum permission)i));
        having[1] = groups[1];
        having[2] = groups[2];
        users[count++] = (struct basic_user){
            .name = having[0], .groups = &having[0], .group_count = 1};
        auth->grants[i] = (struct permission_grant){
            having, i == PERMISSION_EXECUTE_JOBS ? 3 : 2};
    }
    for (uint32_t i = 0; i < count; i++) {
        users[i].password = STR("p");
    }
    auth->administrators = (struct permission_grant){&groups[0], 1};
    auth->users = users;
    auth->user_count = count;
}

void matrix_start(struct matrix *m)
{
    *m = (struct matrix){0};
    fixture_init(&m->f);
    make_users(m);
    m->f.on_exchange = answer;
    fixture_start(&m->f);
    for (int i = 0; i < MATRIX_UNKNOWN; i++) {
        make_queue(&m->f, i);
        make_job(m, i);
    }
    fixture_settle(&m->f);
}

void matrix_end(struct matrix *m)
{
    fixture_fini(&m->f);
}

/* The id that a request of this method names. */
static const char *id_of(const struct matrix *m, const struct matrix_row *row,
                         int job)
{
    return job == MATRIX_UNKNOWN                ? unknown_id
           : strstr(row->path, "JobRunDetails") ? m->runs[job]
                                                : m->jobs[job];
}

static void make_request(const struct matrix *m, const struct matrix_row *row,
                         const char *caller, int which, struct strbuf *out)
{
    auto_strbuf wrapped = strbuf_make(0);

    if (row->who == EXECUTORS && !strstr(row->path, "ReportEvents")) {
        /* Its executor's id. */
        field_put_bytes(out, 1, str_of(caller ? caller : "anonymous"));
    }
    if (row->queue_field) {
        field_put_bytes(out, row->queue_field, str_of(queues[which]));
    }
    if (row->job_set_field) {
        field_put_bytes(out, row->job_set_field, STR("s"));
    }
    if (row->job_field) {
        struct strbuf *in = row->wrapped_in ? &wrapped : out;
        field_put_bytes(in, row->job_field, str_of(id_of(m, row, which)));
    }
    if (row->wrapped_in) {
        field_put_bytes(out, row->wrapped_in, strbuf_str(&wrapped));
    }
    if (strstr(row->path, "SubmitTrainingJob")) {
        field_put_bytes(out, 3, str_of(training_request));
    }
    strbuf_add(out, row->extra ? row->extra : "", row->extra_bytes);
}

/* Call as a stream, whatever the kind: the first message, or the status. */
struct outcome matrix_call(struct matrix *m, const struct matrix_row *row,
                           const char *caller, int which)
{
    auto_strbuf who = strbuf_make(0), basic = strbuf_make(0);
    auto_strbuf request = strbuf_make(0), reply = strbuf_make(0);
    int64_t wait_ms = patient_ms(10000);

    strbuf_addf(&who, "%s:p", caller ? caller : "");
    strbuf_add_text(&basic, "Basic ");
    wire_base64_encode(strbuf_str(&who), &basic);
    struct rpc_header header = {"authorization", strbuf_text(&basic)};
    struct rpc_call_options options = {.headers = &header,
                                       .header_count = caller != NULL,
                                       .is_wait_for_ready = true};
    make_request(m, row, caller, which, &request);
    auto_ptr(rpc_stream) stream =
        rpc_stream_open(m->f.channel, row->path, &options);
    (void)rpc_stream_send(stream, strbuf_str(&request), wait_ms);
    rpc_stream_close_send(stream);
    enum rpc_wait wait = rpc_stream_next(stream, wait_ms, &reply);
    assert_int_not_equal(wait, RPC_WAIT_TIMEOUT);
    if (wait == RPC_WAIT_READY) {
        return (struct outcome){RPC_OK, "",
                                arena_str(&m->f.arena, strbuf_str(&reply))};
    }
    const struct rpc_status *status = rpc_stream_status(stream);
    return (struct outcome){status->code,
                            arena_strdup(&m->f.arena, str_of(status->message)),
                            STR("")};
}

static bool is_denied(const struct outcome *outcome)
{
    return outcome->code == RPC_PERMISSION_DENIED ||
           outcome->code == RPC_UNAUTHENTICATED ||
           (outcome->code == RPC_UNKNOWN &&
            strstr(outcome->message, "lacks permission"));
}

/* Replace ids, by which the outcomes for two jobs differ anyway. */
static void blank_ids(const struct matrix *m, struct outcome *outcome)
{
    const char *ids[] = {m->jobs[0], m->jobs[1], m->runs[0], m->runs[1],
                         unknown_id};
    char *text = (char *)(uintptr_t)outcome->reply.p;

    for (size_t i = 0; i < ARRAY_COUNT(ids); i++) {
        size_t bytes = strlen(ids[i]);
        for (size_t at = 0; at + bytes <= outcome->reply.byte_count; at++) {
            if (memcmp(text + at, ids[i], bytes) == 0) {
                memset(text + at, '#', bytes);
            }
        }
    }
}

static bool differ(const struct matrix *m, struct outcome a, struct outcome b)
{
    blank_ids(m, &a);
    blank_ids(m, &b);
    return a.code != b.code || strcmp(a.message, b.message) != 0 ||
           !str_equal(a.reply, b.reply);
}

bool matrix_lets(struct matrix *m, const struct matrix_row *row,
                 const char *caller, int which, struct outcome *ret_outcome)
{
    *ret_outcome = matrix_call(m, row, caller, which);
    if (row->who != SEERS) {
        return !is_denied(ret_outcome);
    }
    assert_false(is_denied(ret_outcome));
    /* Whether it tells more than of a job that is not there. */
    return differ(m, *ret_outcome,
                  matrix_call(m, row, "stranger", MATRIX_UNKNOWN));
}
