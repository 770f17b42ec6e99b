#include "runtime_backends.h"

#include <poll.h>

#include "executor/fake/fake.h"
#include "executor/process/process.h"

enum { RUN_MS = 10, CREATE_MS = 5, WAIT_ONCE_MS = 100 };

int backend_open_process(void *dir, struct runtime **ret_runtime,
                         struct err *ret_info, struct err *err)
{
    struct process_options options;

    process_options_default(&options);
    options.data_dir = dir;
    options.shim_path = getenv("BERTH_SHIM");
    options.rng = &machine_rng;
    return process_open(&options, &machine_clock, ret_runtime, ret_info, err);
}

int backend_open_fake(void *ctx, struct runtime **ret_runtime,
                      struct err *ret_info, struct err *err)
{
    struct fake_options options;

    (void)ctx;
    (void)ret_info;
    fake_options_default(&options);
    options.run_a_ms = RUN_MS;
    options.create_delay_ms = CREATE_MS;
    return fake_open(&options, &machine_clock, ret_runtime, err);
}

void backend_make_process_job(struct job *job, int number,
                              enum contract_program program)
{
    static const char *const programs[CONTRACT_PROGRAMS] = {
        [CONTRACT_SUCCEEDS] = "exit 0",
        [CONTRACT_FAILS] = "exit 3",
        [CONTRACT_RUNS_ON] = "exec sleep 1000",
    };

    job_make(job, number,
             (const char *const[]){"sh", "-c", programs[program], NULL});
}

void backend_make_fake_job(struct job *job, int number,
                           enum contract_program program)
{
    job_make(job, number, NULL);
    job->run.node_name = STR("fake-node-0");
    if (program == CONTRACT_FAILS) {
        job_annotate(job, "berth.dev/fakeExitCode", "3");
    } else if (program == CONTRACT_RUNS_ON) {
        job_annotate(job, "berth.dev/fakeRunMs", "1000000000");
    }
}

void backend_wait(void *place, struct runtime *runtime)
{
    struct pollfd fd = {runtime->wake_fd, POLLIN, 0};

    (void)place;
    (void)poll(&fd, 1, WAIT_ONCE_MS);
}
