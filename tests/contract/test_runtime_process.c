/*
 * process against the contract of the port.
 */
#include <poll.h>

#include "executor/process/process.h"
#include "runtime_contract.h"

static void *place_create(void)
{
    return make_dir();
}

static struct runtime *open_place(void *place)
{
    struct process_options options;
    struct runtime *runtime = NULL;
    struct err info, err;

    process_options_default(&options);
    options.data_dir = place;
    options.shim_path = getenv("BERTH_SHIM");
    options.rng = &machine_rng;
    int rc = process_open(&options, &machine_clock, &runtime, &info, &err);
    ASSERT(rc == 0);
    return runtime;
}

static void make_job(struct job *job, int number, enum contract_program program)
{
    static const char *const programs[CONTRACT_PROGRAMS] = {
        [CONTRACT_SUCCEEDS] = "exit 0",
        [CONTRACT_FAILS] = "exit 3",
        [CONTRACT_RUNS_ON] = "exec sleep 1000",
    };

    job_make(job, 2000 + number,
             (const char *const[]){"sh", "-c", programs[program], NULL});
}

static void wait(void *place, struct runtime *runtime)
{
    struct pollfd fd = {runtime->wake_fd, POLLIN, 0};

    (void)place;
    (void)poll(&fd, 1, 100);
}

static void place_destroy(void *place)
{
    remove_dir(place);
}

int main(void)
{
    return runtime_contract_run(&(struct runtime_contract){
        .name = "process",
        .remembers = true,
        .place_create = place_create,
        .open = open_place,
        .make_job = make_job,
        .wait = wait,
        .place_destroy = place_destroy,
    });
}
