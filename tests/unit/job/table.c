#include "table.h"

#include "unit.h"

struct jobs *table_create(void)
{
    static struct policy policy;
    struct jobs *jobs = jobs_create();

    policy_defaults(&policy);
    jobs_set_policy(jobs, &policy);
    return jobs;
}

struct event table_event(enum event_type type)
{
    struct event event;

    memset(&event, 0, sizeof(event));
    event.type = type;
    return event;
}

struct job_id table_id(uint32_t n)
{
    uint8_t random[10] = {0};

    return job_id_make(1000 + n, random);
}

uint32_t table_find(const struct jobs *jobs, uint32_t n)
{
    return jobs_find(jobs, table_id(n));
}

struct event table_about(const struct jobs *jobs, uint32_t n,
                         enum event_type type)
{
    struct event event = table_event(type);
    uint32_t job = table_find(jobs, n);

    event.job = table_id(n);
    if (job != JOBS_NONE) {
        struct job_view view;
        jobs_get(jobs, job, &view);
        event.run = view.run.id;
    }
    return event;
}

void table_submit(struct jobs *jobs, uint32_t n,
                  const struct table_submission *submission)
{
    auto_strbuf key = {0}, packed = {0};
    struct requirement requirement = {
        .lifetime_ms = LIFETIME_BY_CLASS,
        .priority_class = str_of(submission->class_name),
    };
    struct job_digest digest = submission->digest;
    struct event event = table_event(EVENT_SUBMIT);
    struct jobs_change change;

    requirement_pack(&key, &requirement);
    digest.class_key = strbuf_str(&key);
    digest_pack(&packed, &digest);
    event.job = table_id(n);
    event.submit.priority = submission->priority;
    event.submit.digest = strbuf_str(&packed);
    assert_int_equal(jobs_apply(jobs, &submission->scope, &event, &change),
                     JOBS_APPLIED);
}
