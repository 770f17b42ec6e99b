/* What preempt says of the jobs on a node, on an executor, of queues. */
#include "script.h"

#define ID_A "01h00000000000000000000000"

/* Armada's answer does not tell of them. */
static void jobs_that_may_not_be_preempted_are_counted(void **state)
{
    struct script *script = *state;
    Berth__Api__ListExecutorsResponse response =
        BERTH__API__LIST_EXECUTORS_RESPONSE__INIT;
    Berth__Api__ExecutorStatus executor = BERTH__API__EXECUTOR_STATUS__INIT;
    Berth__Api__ExecutorStatus *executors[] = {&executor};
    char name[] = "e";

    executor.name = name;
    response.executors = executors;
    response.n_executors = 1;
    answer(script, &response.base);
    script->executor = name;
    set_job(script, ID_A, API__JOB_STATE__RUNNING, false);
    check(ASK(script, "", "preempt", "executor", "e", "-q", "q", "-a"), CLI_OK,
          "Requested preemption of 1 job on executor e\n", "");
    set_job(script, ID_A, API__JOB_STATE__RUNNING, true);
    check(ASK(script, "", "preempt", "executor", "e", "-q", "q", "-a"),
          CLI_FAILED, "Requested preemption of 0 jobs on executor e\n",
          "berthctl: 1 job on executor e has a priority class that may not be "
          "preempted; it keeps running (cancel job ends it)\n");
    /* Those of another queue, class or executor are not meant. */
    check(ASK(script, "", "preempt", "executor", "e", "-q", "r", "-a"), CLI_OK,
          "Requested preemption of 0 jobs on executor e\n", "");
    check(ASK(script, "", "preempt", "executor", "e", "-q", "q", "-p", "other"),
          CLI_OK, "Requested preemption of 0 jobs on executor e\n", "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SERVED(jobs_that_may_not_be_preempted_are_counted),
    };
    return RUN_TESTS(tests);
}
