/*
 * A runtime in a helper against the contract of the port: fake and process.
 */
#include <poll.h>

#include "executor/fake/fake.h"
#include "executor/helper/helper.h"
#include "executor/process/process.h"
#include "runtime_contract.h"

struct place {
    char *dir;
    struct helper *helper;
};

static bool is_fake;

static void *place_create(void)
{
    struct place *place = mem_alloc(sizeof(*place));

    place->dir = make_dir();
    return place;
}

static int open_in_helper(void *dir, struct runtime **ret_runtime,
                          struct err *ret_info, struct err *err)
{
    struct process_options options;
    struct fake_options fake;

    if (is_fake) {
        fake_options_default(&fake);
        fake.run_a_ms = 10;
        fake.create_delay_ms = 5;
        return fake_open(&fake, &machine_clock, ret_runtime, err);
    }
    process_options_default(&options);
    options.data_dir = dir;
    options.shim_path = getenv("BERTH_SHIM");
    options.rng = &machine_rng;
    return process_open(&options, &machine_clock, ret_runtime, ret_info, err);
}

static void lost(void *ctx)
{
    (void)ctx;
    ASSERT(!"the helper has ended");
}

static struct runtime *open_place(void *of)
{
    struct place *place = of;
    struct runtime *runtime = NULL;
    struct err info, err;

    helper_stop(place->helper);
    place->helper = helper_start(
        &(struct helper_options){
            .open = open_in_helper, .open_ctx = place->dir, .lost = lost},
        &err);
    ASSERT(place->helper);
    int rc = helper_open(place->helper, &runtime, &info, &err);
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

    job_make(job, 3000 + number,
             (const char *const[]){"sh", "-c", programs[program], NULL});
    if (is_fake) {
        job->run.node_name = STR("fake-node-0");
        job_annotate(job, "berth.dev/fakeExitCode",
                     program == CONTRACT_FAILS ? "3" : "0");
        job_annotate(job, "berth.dev/fakeRunMs",
                     program == CONTRACT_RUNS_ON ? "1000000000" : "10");
    }
}

static void wait(void *place, struct runtime *runtime)
{
    struct pollfd fd = {runtime->wake_fd, POLLIN, 0};

    (void)place;
    (void)poll(&fd, 1, 100);
}

static void place_destroy(void *of)
{
    struct place *place = of;

    helper_stop(place->helper);
    remove_dir(place->dir);
    mem_free(place);
}

int main(void)
{
    struct runtime_contract contract = {
        .name = "process in a helper",
        .remembers = true,
        .place_create = place_create,
        .open = open_place,
        .make_job = make_job,
        .wait = wait,
        .place_destroy = place_destroy,
    };
    int failed_count = runtime_contract_run(&contract);

    is_fake = true;
    contract.name = "fake in a helper";
    contract.remembers = false;
    return failed_count + runtime_contract_run(&contract);
}
