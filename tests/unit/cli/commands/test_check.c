/*
 * check: what is said about jobs, nodes and executors that are not there.
 */
#include "armada/services.pb-c.h"
#include "script.h"

#define CANCEL_TEXT(id)                                                       \
    "Requesting cancellation of jobs matching queue: q, job set: s, and job " \
    "ID: " id "\nRequested cancellation for jobs \n"

static void what_is_no_job_is_told_after_the_request(void **state)
{
    struct script *script = *state;
    Api__CancellationResult result = API__CANCELLATION_RESULT__INIT;

    answer(script, &result.base);
    set_job(script, NULL, 0, false);
    script->call_count = 0;
    check(ASK(script, "", "cancel", "job", "q", "s", "01a"), CLI_NOT_FOUND,
          CANCEL_TEXT("01a"), "berthctl: there is no job 01a\n");
    assert_int_equal(script->call_count, 1);
    check(ASK(script, "", "cancel", "job-set", "q", "s"), CLI_NOT_FOUND,
          "Requested cancellation for job set s\n",
          "berthctl: there is no job of job set s in queue q\n");
    check(ASK(script, "", "preempt", "job", "q", "s", "01a", "why"),
          CLI_NOT_FOUND, "Requested preemption for job 01a\n",
          "berthctl: there is no job 01a\n");
    set_job(script, "01a", API__JOB_STATE__RUNNING, false);
    check(
        ASK(script, "", "preempt", "job", "q", "other", "01a", "why"),
        CLI_NOT_FOUND, "Requested preemption for job 01a\n",
        "berthctl: nothing was done: job 01a belongs to queue q, job set s\n");
}

static void what_is_no_job_is_not_explained(void **state)
{
    struct script *script = *state;

    script->code = RPC_NOT_FOUND;
    check(ASK(script, "", "explain", "01a"), CLI_NOT_FOUND, "",
          "berthctl: there is no job 01a; get jobs lists the jobs that exist, "
          "and those that ended recently\n");
    script->code = RPC_OK;
}

static void what_a_job_cannot_do_is_told(void **state)
{
    struct script *script = *state;
    Api__CancellationResult result = API__CANCELLATION_RESULT__INIT;

    answer(script, &result.base);
    set_job(script, "01a", API__JOB_STATE__SUCCEEDED, false);
    check(ASK(script, "", "cancel", "job", "q", "s", "01a"), CLI_OK,
          CANCEL_TEXT("01a"),
          "berthctl: job 01a has already ended (succeeded)\n");
    check(ASK(script, "", "reprioritize", "job", "q", "s", "01a", "2"),
          CLI_FAILED, "Reprioritized jobs with ID:\n",
          "berthctl: job 01a has ended (succeeded): its priority was not "
          "changed\n");
    set_job(script, "01a", API__JOB_STATE__QUEUED, false);
    check(ASK(script, "", "preempt", "job", "q", "s", "01a", "why"), CLI_FAILED,
          "Requested preemption for job 01a\n",
          "berthctl: job 01a waits in its queue: there is nothing to "
          "preempt\n");
    set_job(script, "01a", API__JOB_STATE__RUNNING, true);
    check(ASK(script, "", "preempt", "job", "q", "s", "01a", "why"), CLI_FAILED,
          "Requested preemption for job 01a\n",
          "berthctl: job 01a has a priority class that may not be preempted; "
          "it keeps running (cancel job ends it)\n");
    set_job(script, "01a", API__JOB_STATE__RUNNING, false);
    check(ASK(script, "", "preempt", "job", "q", "s", "01a", "why"), CLI_OK,
          "Requested preemption for job 01a\n", "");
}

/* Pools "gpu" and, of the configuration, "licensed". */
static void homes_and_lenders_that_are_no_pools_are_told(void **state)
{
    struct script *script = *state;
    Google__Protobuf__Empty empty = GOOGLE__PROTOBUF__EMPTY__INIT;
    Berth__Api__ListPoolsResponse list = BERTH__API__LIST_POOLS_RESPONSE__INIT;
    Berth__Api__PoolStatus status = BERTH__API__POOL_STATUS__INIT;
    Berth__Api__PoolStatus *statuses[] = {&status};
    Berth__Api__Pool pool = BERTH__API__POOL__INIT;
    char name[] = "gpu", licensed[] = "licensed";
    char *configured[] = {licensed};

    pool.name = name;
    status.pool = &pool;
    list.pools = statuses;
    list.n_pools = 1;
    list.configured = configured;
    list.n_configured = 1;
    answer(script, &empty.base);
    script->has_pools = true;
    wire_encode(&list.base, &script->pools);
    check(ASK(script, "", "create", "pool", "a", "--selector", "k=v",
              "--borrowing-pools", "gpu,licensed,default,nope"),
          CLI_OK, "Created pool a\n",
          "berthctl: there is no pool nope; until there is, nothing is "
          "borrowed from it\n");
}

static void pools_that_select_none_or_all_are_told(void **state)
{
    struct script *script = *state;
    Google__Protobuf__Empty empty = GOOGLE__PROTOBUF__EMPTY__INIT;
    static const char none[] =
        "berthctl: pool a has no nodes, because it has no nodeSelector; set "
        "one with: edit pool a --selector K=V\n";

    answer(script, &empty.base);
    check(ASK(script, "", "create", "pool", "a"), CLI_OK, "Created pool a\n",
          none);
    check(ASK(script, "", "create", "pool", "a", "--selector", ""), CLI_OK,
          "Created pool a\n",
          "berthctl: pool a selects every node, because its nodeSelector is "
          "empty\n");
    check(ASK(script,
              "apiVersion: resource.aibee.cn/v1alpha1\nkind: Pool\n"
              "metadata: {name: a}\n",
              "create", "-f", "-", "--dry-run"),
          CLI_OK, "Created pool a\n", none);
}

static void nodes_and_executors_that_are_not_there_are_told(void **state)
{
    struct script *script = *state;
    Berth__Api__ListNodesResponse none = BERTH__API__LIST_NODES_RESPONSE__INIT;

    answer(script, &none.base); /* an empty message: of executors as well */
    check(ASK(script, "", "cordon", "node", "n"), CLI_NOT_FOUND, "",
          "berthctl: there is no node n\n");
    check(ASK(script, "", "quarantine", "node", "n", "why", "-e", "x"),
          CLI_NOT_FOUND, "", "berthctl: there is no node n of executor x\n");
    check(ASK(script, "", "cordon", "executor", "x", "why"), CLI_NOT_FOUND,
          "Cordoned executor x\n", "berthctl: there is no executor x\n");
    check(ASK(script, "", "delete", "executor", "x"), CLI_NOT_FOUND, "",
          "berthctl: there is no executor x\n");
    check(ASK(script, "", "get", "nodes", "--pool", "p"), CLI_NOT_FOUND, "",
          "berthctl: there are no nodes of pool p\n");
}

static void queue_that_takes_the_place_of_another_says_so(void **state)
{
    struct script *script = *state;
    Api__Queue queue = API__QUEUE__INIT;
    char name[] = "q";

    queue.name = name;
    answer(script, &queue.base);
    check(ASK(script, "", "create", "queue", "q"), CLI_OK, "Replaced queue q\n",
          "");
    check(ASK(script, "", "create", "queue", "other"), CLI_OK,
          "Created queue other\n", "");
}

static void pool_of_a_queue_that_is_not_there_is_remarked_upon(void **state)
{
    struct script *script = *state;

    script->code = RPC_OK;
    strbuf_clear(&script->reply); /* also an empty list of pools */
    check(ASK(script, "", "create", "queue", "q", "--default-pool", "p"),
          CLI_OK, "Created queue q\n",
          "berthctl: there is no pool p; until there is, its jobs are at home "
          "in the default pool\n");
}

static void jobs_that_are_named_and_not_there_are_told(void **state)
{
    struct script *script = *state;

    set_job(script, "01a", API__JOB_STATE__RUNNING, false);
    check(ASK(script, "", "get", "jobs", "01a", "01b", "-o", "yaml"),
          CLI_NOT_FOUND,
          "- jobId: 01a\n  queue: q\n  jobSet: s\n  state: RUNNING\n",
          "berthctl: there is no job 01b\n");
}

/* Of more than are shown there is nothing to say. */
static void jobs_that_are_named_beyond_the_limit_are_not_missing(void **state)
{
    struct script *script = *state;

    set_job(script, "01a", API__JOB_STATE__RUNNING, false);
    check(ASK(script, "", "get", "jobs", "01a", "01b", "-n", "1", "-o", "yaml"),
          CLI_OK, "- jobId: 01a\n  queue: q\n  jobSet: s\n  state: RUNNING\n",
          "");
}

static void jobs_that_are_named_are_asked_for_in_full_each_time(void **state)
{
    struct script *script = *state;
    auto_arena arena = {0};

    set_job(script, "01a", API__JOB_STATE__RUNNING, false);
    script->has_jobs = false; /* so that what is asked is kept */
    strbuf_clear(&script->reply);
    strbuf_add_str(&script->reply, strbuf_str(&script->jobs));
    check(ASK(script, "", "get", "jobs", "01a", "01b", "-n", "5", "-o", "yaml"),
          CLI_NOT_FOUND,
          "- jobId: 01a\n  queue: q\n  jobSet: s\n  state: RUNNING\n",
          "berthctl: there is no job 01b\n");
    const Berth__Api__ListJobsRequest *request =
        asked(script, &arena, &berth__api__list_jobs_request__descriptor);
    assert_int_equal(request->limit, 5);
    check(ASK(script, "", "get", "jobs", "01a", "-o", "yaml"), CLI_OK,
          "- jobId: 01a\n  queue: q\n  jobSet: s\n  state: RUNNING\n", "");
    request = asked(script, &arena, &berth__api__list_jobs_request__descriptor);
    assert_int_equal(request->limit, 1000);
}

/* Armada's requests take them and find nothing. */
static void classes_that_are_none_are_refused(void **state)
{
    struct script *script = *state;
    Berth__Api__ListPoolsResponse list = BERTH__API__LIST_POOLS_RESPONSE__INIT;
    char low[] = "low", high[] = "high";
    char *classes[] = {low, high};
    static const char none[] = "";

    script->has_pools = true;
    strbuf_clear(&script->pools);
    list.priority_classes = classes;
    list.n_priority_classes = 2;
    wire_encode(&list.base, &script->pools);
    script->call_count = 0;
    check(ASK(script, none, "cancel", "executor", "e", "-q", "q", "-p",
              "low,higher"),
          CLI_INVALID, "",
          "berthctl: there is no priority class higher; the server's are low, "
          "high\n");
    check(ASK(script, none, "preempt", "queues", "q", "-p", "Low"), CLI_INVALID,
          "",
          "berthctl: there is no priority class Low; the server's are low, "
          "high\n");
    assert_int_equal(script->call_count, 0);
    check(ASK(script, none, "cancel", "executor", "e", "-q", "q", "-p", "low",
              "--pools", "nowhere"),
          CLI_NOT_FOUND, "Requested cancellation of jobs on executor e\n",
          "berthctl: there is no pool nowhere; until there is, no job is "
          "selected\nberthctl: there is no executor e\n");
    /* One that does not say takes all. */
    strbuf_clear(&script->pools);
    check(ASK(script, none, "cancel", "executor", "e", "-q", "q", "-p", "x"),
          CLI_NOT_FOUND, "Requested cancellation of jobs on executor e\n",
          "berthctl: there is no executor e\n");
    script->has_pools = false;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SERVED(what_is_no_job_is_told_after_the_request),
        SERVED(what_is_no_job_is_not_explained),
        SERVED(what_a_job_cannot_do_is_told),
        SERVED(homes_and_lenders_that_are_no_pools_are_told),
        SERVED(pools_that_select_none_or_all_are_told),
        SERVED(nodes_and_executors_that_are_not_there_are_told),
        SERVED(queue_that_takes_the_place_of_another_says_so),
        SERVED(pool_of_a_queue_that_is_not_there_is_remarked_upon),
        SERVED(classes_that_are_none_are_refused),
        SERVED(jobs_that_are_named_and_not_there_are_told),
        SERVED(jobs_that_are_named_beyond_the_limit_are_not_missing),
        SERVED(jobs_that_are_named_are_asked_for_in_full_each_time),
    };
    return RUN_TESTS(tests);
}
