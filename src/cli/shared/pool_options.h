/*
 * pool_options - a pool from options: its selector, whose terms are K=V, K!=V,
 * K and !K, and its switches.
 *
 * Threads: one.
 */
#pragma once

#include "berth/api.pb-c.h"
#include "cli/shared/command.h"

/* Change of the pool what options name, and nothing else. */
enum cli_exit pool_options_apply(struct cli *cli, Berth__Api__Pool *pool);

/* Whether any of them was given. */
bool pool_options_given(const struct cli *cli);
