/*
 * fleet_machines - an inventory of machines for a fleet: CSV without a line of
 * names, with the columns machine, gpu_type, cap_cpu (cores), cap_mem (GB) and
 * cap_gpu, as the one of Alibaba's PAI of 2020.
 *
 * Machines with GPUs of one type are a pool (model/pool.h), so that work of
 * one may borrow from the others.
 *
 * Threads: one.
 */
#pragma once

#include "base/arena.h"
#include "base/vec.h"

enum {
    FLEET_MACHINES_MAX = 100000,
    FLEET_TYPES_MAX = 64,
};

struct fleet_machine {
    struct str name;
    uint32_t type; /* index in types */
    int64_t core_count, memory_gb;
    uint32_t gpu_count;
};

/* A type of machines, in order of names. */
struct fleet_type {
    struct str name;
    uint32_t machine_count, gpu_count;
    uint32_t gpus_min; /* of its machine with the fewest */
};

/* An inventory, in order of types, then of rows; strings live in the arena. */
struct fleet_machines {
    VEC(struct fleet_machine) items;
    struct fleet_type types[FLEET_TYPES_MAX];
    uint32_t type_count;
    struct arena arena;
};

/* Read an inventory, plain or gzipped, and keep of each type the first of
 * every `part` machines; those without a GPU are left out.  The caller
 * fleet_machines_fini()s it.  -ERR_IO, -ERR_INVALID with the line. */
int fleet_machines_read(const char *path, uint32_t part,
                        struct fleet_machines *ret_machines,
                        struct err *err) must_check;
/* The same from memory. */
int fleet_machines_parse(struct str text, uint32_t part,
                         struct fleet_machines *ret_machines,
                         struct err *err) must_check;
/* Free it. */
void fleet_machines_fini(struct fleet_machines *machines);
