/* What a step does about what is due: runs as their owner's, and why there is
 * none; and what is told of a periodic job.  The test is the leader's memory of
 * periodic jobs. */
#include <stdio.h>

#include "api/periodic/message.h"
#include "api_fixture.h"
#include "berth/api.pb-c.h"
#include "sample.h"
#include "unit.h"
#include "wire/log/log_codec.h"
#include "wire/message/message.h"

enum { MINUTE_MS = 60000 };

/* 2026-01-01 00:00. */
static const int64_t DUE_MS = 1767225600000;

struct stage {
    struct fixture f;
    struct periodic_row row;
    _Atomic bool is_due; /* what was written before is there for the leader */
    struct arena arena;
};

static void on_query(struct fixture *f, struct command *command)
{
    struct stage *s = f->exchange_ctx;

    if (command->kind == COMMAND_QUERY_PERIODIC && s->is_due) {
        command->periodic.rows =
            arena_alloc(&command->arena, sizeof(struct periodic_row));
        command->periodic.rows[0] = s->row;
        command->periodic.row_count = 1;
        s->is_due = false;
    }
}

static const struct str owners[] = {{"everyone", 8}, {"uid:7", 5}};

static Berth__Api__PeriodicJob *make_message(struct arena *arena,
                                             const char *policy)
{
    Berth__Api__PeriodicJob *message =
        wire_new(&berth__api__periodic_job__descriptor, arena);
    Api__JobSubmitRequestItem *job =
        wire_new(&api__job_submit_request_item__descriptor, arena);

    job->namespace_ = arena_strdup(arena, STR("default"));
    job->n_pod_specs = 1;
    job->pod_specs = arena_alloc(arena, sizeof(*job->pod_specs));
    job->pod_specs[0] = sample_pod(arena);
    message->queue = arena_strdup(arena, STR("q"));
    message->name = arena_strdup(arena, STR("tick"));
    message->job_set = arena_strdup(arena, STR("ticks"));
    message->schedule = arena_strdup(arena, STR("* * * * *"));
    message->concurrency_policy = arena_strdup(arena, str_of(policy));
    message->n_jobs = 1;
    message->jobs = arena_alloc(arena, sizeof(*message->jobs));
    message->jobs[0] = job;
    return message;
}

/* Let a job bring an object. */
static void add_object(Api__JobSubmitRequestItem *job, const char *json,
                       struct arena *arena)
{
    K8s__Io__Apimachinery__Pkg__Runtime__RawExtension **all =
        arena_alloc_array(arena, job->n_objects + 1, sizeof(*all));

    if (job->n_objects > 0) {
        memcpy(all, job->objects, job->n_objects * sizeof(*all));
    }
    all[job->n_objects] = wire_new(
        &k8s__io__apimachinery__pkg__runtime__raw_extension__descriptor, arena);
    all[job->n_objects]->has_raw = true;
    all[job->n_objects]->raw.data = (uint8_t *)(uintptr_t)json;
    all[job->n_objects]->raw.len = strlen(json);
    job->objects = all;
    job->n_objects++;
}

static const char *object_text(const Api__JobSubmitRequestItem *job, size_t i,
                               struct arena *arena)
{
    const ProtobufCBinaryData *raw = &job->objects[i]->raw;

    return arena_strdup(arena, str_make((const char *)raw->data, raw->len));
}

/* With these administrators; no groups: with nobody but the usual ones. */
static void start_with(struct stage *s, const char *policy,
                       struct permission_grant administrators)
{
    memset(s, 0, sizeof(*s));
    fixture_init(&s->f);
    if (administrators.group_count > 0) {
        s->f.config.auth.administrators = administrators;
    }
    s->f.on_exchange = on_query;
    s->f.exchange_ctx = s;
    fixture_start(&s->f);
    fixture_queue(&s->f, "q");
    s->row = (struct periodic_row){
        .queue = STR("q"),
        .name = STR("tick"),
        .encoded = wire_encode_arena(&make_message(&s->arena, policy)->base,
                                     &s->arena),
        .owner = {.name = STR("anonymous"),
                  .groups = owners,
                  .group_count = 2,
                  .is_anonymous = true},
        .next_ms = DUE_MS,
    };
}

static void start(struct stage *s, const char *policy)
{
    start_with(s, policy, (struct permission_grant){0});
}

static void end(struct stage *s)
{
    fixture_fini(&s->f);
    arena_fini(&s->arena);
}

static int tell(const struct log_item *item, void *ctx)
{
    const struct event *event = &item->event;
    struct strbuf *told = ctx;

    if (event->type == EVENT_SUBMIT) {
        strbuf_addf(told, "submit %.*s/%.*s by %.*s; ",
                    STR_ARG(item->scope.queue), STR_ARG(item->scope.job_set),
                    STR_ARG(item->scope.user));
    } else if (event->type == EVENT_CANCEL) {
        strbuf_add_text(told, "cancel; ");
    } else if (event->type == EVENT_PERIODIC_RUN) {
        const struct periodic_run *run = &event->periodic.run;
        strbuf_addf(told, "%s %lld next %lld, %u jobs%s%.*s; ",
                    periodic_outcome_name(run->outcome),
                    (long long)(run->moment_ms - DUE_MS) / 1000,
                    (long long)(event->periodic.next_ms - DUE_MS) / 1000,
                    run->job_count, run->text.byte_count ? ": " : "",
                    STR_ARG(run->text));
        assert_int_equal(event->periodic.due_ms, DUE_MS);
    }
    return 0;
}

static int tell_record(void *ctx, const struct elog_record *record)
{
    auto_arena arena = {0};
    struct err err;

    return log_decode(record->payload, &arena, tell, ctx, &err);
}

/* Step at a time after the moment; what the log tells then. */
static void assert_step(struct stage *s, int64_t after_ms, const char *expected)
{
    auto_ptr(elog_reader) reader = NULL;
    struct elog_range range = {.from_seq = 1};
    auto_strbuf told = {0};
    struct err err;

    s->is_due = true;
    s->f.now_ms = DUE_MS + after_ms;
    api_periodic_step(s->f.api);
    assert_false(s->is_due);
    assert_int_equal(elog_reader_open(s->f.log, &reader, &err), 0);
    assert_true(elog_read(reader, &range, tell_record, &told, &err) >= 0);
    assert_string_equal(strbuf_text(&told), expected);
}

/* Nor does anybody see it by way of the periodic job. */
static void what_a_secret_says_is_not_told(void **state)
{
    static const char secret[] =
        "{\"apiVersion\":\"v1\",\"kind\":\"Secret\",\"metadata\":{\"name\":"
        "\"login\"},\"stringData\":{\"PASSWORD\":\"hush\"},\"data\":{\"k\":"
        "\"aHVzaA==\"}}";
    static const char other[] =
        "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":"
        "\"m\"},\"data\":{\"k\":\"told\"}}";
    static const struct str all[] = {{"everyone", 8}};
    Berth__Api__ListPeriodicJobsRequest request =
        BERTH__API__LIST_PERIODIC_JOBS_REQUEST__INIT;
    struct stage s;

    (void)state;
    start_with(&s, "", (struct permission_grant){all, 1});
    Berth__Api__PeriodicJob *message = make_message(&s.arena, "");
    add_object(message->jobs[0], secret, &s.arena);
    add_object(message->jobs[0], other, &s.arena);
    s.row.encoded = wire_encode_arena(&message->base, &s.arena);
    s.is_due = true;
    request.queue = message->queue;
    request.name = message->name;
    Berth__Api__ListPeriodicJobsResponse *list =
        fixture_call(&s.f, "/berth.api.Berth/ListPeriodicJobs", &request.base,
                     &berth__api__list_periodic_jobs_response__descriptor);
    assert_non_null(list);
    const Api__JobSubmitRequestItem *job =
        list->periodic_jobs[0]->periodic_job->jobs[0];
    assert_string_equal(object_text(job, 0, &s.arena),
                        "{\"apiVersion\":\"v1\",\"kind\":\"Secret\","
                        "\"metadata\":{\"name\":\"login\"}}");
    assert_string_equal(object_text(job, 1, &s.arena), other);
    end(&s);
}

static void a_run_is_its_owners(void **state)
{
    struct stage s;

    (void)state;
    start(&s, "");
    assert_step(&s, 700,
                "Submitted 0 next 60, 1 jobs; submit q/ticks by anonymous; ");
    end(&s);
}

static void after_an_outage_there_is_one_run(void **state)
{
    struct stage s;

    (void)state;
    start(&s, "");
    assert_step(&s, 100 * MINUTE_MS + 1,
                "Submitted 6000 next 6060, 1 jobs; submit q/ticks by "
                "anonymous; ");
    end(&s);
}

static void a_run_that_goes_on_forbids_the_next(void **state)
{
    struct stage s;
    struct periodic_live_run run = {.first = {{1, 1}}, .job_count = 1};

    (void)state;
    start(&s, "Forbid");
    s.row.runs = &run;
    s.row.run_count = 1;
    assert_step(&s, 0,
                "Skipped 0 next 60, 0 jobs: the run before it had not ended "
                "(concurrencyPolicy Forbid); ");
    end(&s);
}

static void a_run_that_goes_on_is_replaced(void **state)
{
    struct stage s;
    struct periodic_live_run run = {.first = {{1, 1}}, .job_count = 2};

    (void)state;
    start(&s, "Replace");
    s.row.runs = &run;
    s.row.run_count = 1;
    assert_step(&s, 0,
                "cancel; cancel; Submitted 0 next 60, 1 jobs; submit q/ticks "
                "by anonymous; ");
    end(&s);
}

static void an_owner_who_may_no_longer_is_refused(void **state)
{
    struct stage s;

    (void)state;
    start(&s, "");
    s.row.owner = (struct periodic_owner){.name = STR("gone")};
    assert_step(&s, 0,
                "Refused 0 next 60, 0 jobs: its owner gone is not a user of "
                "the server any more; ");
    end(&s);
    start(&s, "");
    s.row.queue = STR("other");
    Berth__Api__PeriodicJob *message = make_message(&s.arena, "");
    message->queue = arena_strdup(&s.arena, STR("other"));
    s.row.encoded = wire_encode_arena(&message->base, &s.arena);
    assert_step(&s, 0,
                "Refused 0 next 60, 0 jobs: anonymous may not submit to queue "
                "\"other\", or it is gone; ");
    end(&s);
}

static const char array_id[] = "01h00000000000000000000000";

static void add_pair(struct arena *arena, void *entries, size_t *count,
                     const ProtobufCMessageDescriptor *type, const char *key,
                     const char *value)
{
    Api__JobSubmitRequestItem__LabelsEntry ***list = entries, **grown;

    grown = arena_alloc_array(arena, *count + 1, sizeof(*grown));
    for (size_t i = 0; i < *count; i++) {
        grown[i] = (*list)[i];
    }
    grown[*count] = wire_new(type, arena);
    grown[*count]->key = arena_strdup(arena, str_of(key));
    grown[(*count)++]->value = arena_strdup(arena, str_of(value));
    *list = grown;
}

static const char *value_of(const Api__JobSubmitRequestItem *job,
                            const char *key)
{
    for (size_t i = 0; i < job->n_annotations; i++) {
        if (strcmp(job->annotations[i]->key, key) == 0) {
            return job->annotations[i]->value;
        }
    }
    for (size_t i = 0; i < job->n_labels; i++) {
        if (strcmp(job->labels[i]->key, key) == 0) {
            return job->labels[i]->value;
        }
    }
    return "none";
}

static void each_run_has_gangs_and_arrays_of_its_own(void **state)
{
    auto_arena arena = {0};
    Berth__Api__PeriodicJob *message = make_message(&arena, "");
    Api__JobSubmitRequestItem *job = message->jobs[0];
    static const ProtobufCMessageDescriptor *const annotation =
        &api__job_submit_request_item__annotations_entry__descriptor;
    ProtobufCMessage *made;
    struct job_id id;

    (void)state;
    add_pair(&arena, &job->annotations, &job->n_annotations, annotation,
             "armadaproject.io/gangId", "g");
    add_pair(&arena, &job->annotations, &job->n_annotations, annotation,
             "berth.dev/concurrencyGroup", array_id);
    add_pair(&arena, &job->labels, &job->n_labels,
             &api__job_submit_request_item__labels_entry__descriptor,
             "berth.dev/array", array_id);
    for (int i = 0; i < 2; i++) { /* the message stays as it is */
        struct str bytes = periodic_submission(message, DUE_MS, &arena);
        assert_int_equal(wire_decode(&api__job_submit_request__descriptor,
                                     bytes, &wire_request_limits, &arena, &made,
                                     NULL),
                         0);
        job = ((Api__JobSubmitRequest *)(void *)made)->job_request_items[0];
        assert_string_equal(value_of(job, "armadaproject.io/gangId"),
                            "g-1767225600");
        const char *array = value_of(job, "berth.dev/array");
        assert_string_not_equal(array, array_id);
        assert_string_equal(value_of(job, "berth.dev/concurrencyGroup"), array);
        assert_int_equal(job_id_parse(str_of(array), &id), 0);
        assert_int_equal(job_id_time_ms(id), DUE_MS);
        assert_string_equal(value_of(job, PERIODIC_MOMENT),
                            "2026-01-01T00:00:00Z");
    }
}

static void a_zone_that_is_gone_is_looked_for_later(void **state)
{
    struct stage s;

    (void)state;
    start(&s, "");
    Berth__Api__PeriodicJob *message = make_message(&s.arena, "");
    message->time_zone = arena_strdup(&s.arena, STR("Mars/Olympus"));
    s.row.encoded = wire_encode_arena(&message->base, &s.arena);
    assert_step(&s, 0,
                "Refused 0 next 3600, 0 jobs: timeZone: \"Mars/Olympus\" must "
                "be a name of the server's time zone database, such as "
                "Europe/Berlin or UTC; ");
    end(&s);
}

static void a_busy_server_tries_again(void **state)
{
    struct stage s;

    (void)state;
    start(&s, "");
    s.row.next_ms = DUE_MS;
    fixture_trouble(&s.f, COMMAND_UNAVAILABLE, STR("not now"));
    s.is_due = false; /* the leader does not even answer the question */
    api_periodic_step(s.f.api);
    fixture_trouble(&s.f, COMMAND_OK, STR(""));
    assert_step(&s, 0,
                "Submitted 0 next 60, 1 jobs; submit q/ticks by anonymous; ");
    end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_a_secret_says_is_not_told),
        cmocka_unit_test(a_run_is_its_owners),
        cmocka_unit_test(after_an_outage_there_is_one_run),
        cmocka_unit_test(a_run_that_goes_on_forbids_the_next),
        cmocka_unit_test(a_run_that_goes_on_is_replaced),
        cmocka_unit_test(an_owner_who_may_no_longer_is_refused),
        cmocka_unit_test(each_run_has_gangs_and_arrays_of_its_own),
        cmocka_unit_test(a_zone_that_is_gone_is_looked_for_later),
        cmocka_unit_test(a_busy_server_tries_again),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
