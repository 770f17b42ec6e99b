/*
 * fault_vfs - a disk for SQLite that fills up and loses power when told to.
 *
 * It lies over the real file system.  Since a write reaches the disk for sure
 * only with the next sync of its file, power loss keeps any subset of what was
 * not synced, sector by sector.  Create, rename and delete are taken to be
 * durable at once.
 *
 * Threads: one.  One per process at a time.
 */
#pragma once

#include "base/base.h"

/* The name to open databases with. */
#define FAULT_VFS "fault"

/* Register it with SQLite, without any fault planned; `is_default`: also for
 * those who name no file system. */
void fault_vfs_install(bool is_default);
/* Take it out again and forget all; no file is open. */
void fault_vfs_remove(void);

/* Writes, truncations and syncs so far. */
uint64_t fault_vfs_op_count(void);

/* From operation `first` on (counting from 1 from now on), `count` writes fail
 * for want of space. */
void fault_vfs_plan_full(uint64_t first, uint64_t count);

/* Turn the power off at operation `nth` (1: the next): it and all after it
 * fail. */
void fault_vfs_plan_crash(uint64_t nth);

/* Whether the power is off. */
bool fault_vfs_is_off(void);

/* Turn the power on again: files hold what was synced, and of what was not a
 * subset that depends on `seed`.  No file is open. */
void fault_vfs_power_on(uint64_t seed);
