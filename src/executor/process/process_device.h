/*
 * process_device - the GPUs of this machine, found by their device files, and
 * which of them a pod has.
 *
 * A file nvidia<N> is the GPU N, as nvidia-smi numbers them.  A set of them is
 * a set of bits, each the place of a GPU in `numbers`.
 *
 * Private to the folder.  Threads: no state.
 */
#pragma once

#include "base/base.h"
#include "base/strbuf.h"

enum { PROCESS_DEVICES_MAX = 64 };

#define PROCESS_GPU_NAME "nvidia.com/gpu"

/* The GPUs, by rising number. */
struct process_devices {
    int numbers[PROCESS_DEVICES_MAX];
    uint32_t count;
};

/* Look for the files in `dir`; none where it cannot be read. */
void process_devices_find(const char *dir, struct process_devices *ret_devices);

/* `count` of the GPUs that are not in `used`, the lowest numbers first; false:
 * there are too few. */
bool process_devices_take(const struct process_devices *devices, uint64_t used,
                          uint32_t count, uint64_t *ret_taken) must_check;

/* Append the numbers of those in `set`, but for the first `skip` and not more
 * than `count`, as "0,3". */
void process_devices_print(const struct process_devices *devices, uint64_t set,
                           uint32_t skip, uint32_t count, struct strbuf *out);

/* The set that such a text names; numbers that are not there are passed over.
 */
uint64_t process_devices_parse(const struct process_devices *devices,
                               const char *text);
