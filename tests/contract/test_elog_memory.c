/*
 * elog_memory against the contract of the port.
 */
#include "elog/elog_memory.h"
#include "elog_contract.h"

static void *place_create(void)
{
    return elog_memory_storage_create();
}

static struct elog *open_place(void *place)
{
    return elog_memory_open((struct elog_memory_storage *)place);
}

static void spoil(void *place)
{
    elog_memory_spoil_checkpoint((struct elog_memory_storage *)place);
}

static void place_destroy(void *place)
{
    elog_memory_storage_destroy((struct elog_memory_storage *)place);
}

int main(void)
{
    return elog_contract_run(&(struct elog_contract){
        .name = "elog_memory",
        .place_create = place_create,
        .open = open_place,
        .checkpoint_spoil = spoil,
        .place_destroy = place_destroy,
    });
}
