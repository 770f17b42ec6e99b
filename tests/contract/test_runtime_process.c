/*
 * process against the contract of the port.
 */
#include "runtime_backends.h"

static void *place_create(void)
{
    return make_dir();
}

static struct runtime *open_place(void *place)
{
    struct runtime *runtime = NULL;
    struct err info, err;

    int rc = backend_open_process(place, &runtime, &info, &err);
    ASSERT(rc == 0);
    return runtime;
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
        .remembers_forgotten = true,
        .lets_users_in = true,
        .place_create = place_create,
        .open = open_place,
        .make_job = backend_make_process_job,
        .wait = backend_wait,
        .place_destroy = place_destroy,
    });
}
