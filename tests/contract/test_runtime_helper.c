/*
 * A runtime in a helper against the contract of the port: process and fake.
 */
#include "executor/helper/helper.h"
#include "runtime_backends.h"

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

static void lost(void *ctx)
{
    (void)ctx;
    ASSERT(!"the helper has ended");
}

static struct runtime *open_place(void *of)
{
    struct place *place = of;
    const struct helper_options options = {
        .open = is_fake ? backend_open_fake : backend_open_process,
        .open_ctx = place->dir,
        .lost = lost,
    };
    struct runtime *runtime = NULL;
    struct err info, err;

    helper_stop(place->helper);
    place->helper = helper_start(&options, &err);
    ASSERT(place->helper);
    int rc = helper_open(place->helper, &runtime, &info, &err);
    ASSERT(rc == 0);
    return runtime;
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
        .remembers_forgotten = true,
        .lets_users_in = true,
        .place_create = place_create,
        .open = open_place,
        .make_job = backend_make_process_job,
        .wait = backend_wait,
        .place_destroy = place_destroy,
    };
    int failed_count = runtime_contract_run(&contract);

    is_fake = true;
    contract.name = "fake in a helper";
    contract.remembers = contract.remembers_forgotten = false;
    contract.lets_users_in = false;
    contract.make_job = backend_make_fake_job;
    return failed_count + runtime_contract_run(&contract);
}
