/*
 * pool_table - pools for people: the list, and the statistics of model.md 5.8.
 *
 * Threads: one.
 */
#pragma once

#include "base/strbuf.h"
#include "berth/api.pb-c.h"
#include "cli/shared/command.h"

/* Append "(p=√,b=√,s=√)": preemption, borrowing and sharing, √ on, x off. */
void pool_put_flags(struct strbuf *buf, const Berth__Api__Pool *pool);

/* Append the statistics: eight columns of 20, a rule of 160 before each pool,
 * six rows a pool.  cpu is in thousandths, mem and storage in bytes. */
void pool_put_statistics(struct strbuf *buf,
                         const Berth__Api__ListPoolsResponse *pools);

/* A pool's name as the server has it: the default one has one name, which
 * tables write with a capital (commands/pools.c). */
const char *cli_pool_name(const char *text);
/* Ask for the pool of that name, or for all: "" (commands/pools.c). */
enum cli_exit cli_list_pools(struct cli *cli, const char *name,
                             Berth__Api__ListPoolsResponse **ret_response);
/* Say that there is none of that name (commands/pools.c). */
enum cli_exit cli_no_such_pool(const struct cli *cli, const char *name);

/* Make the pool of a document, or only look at it (pool.c). */
enum cli_exit pool_create_of(struct cli *cli, const json_t *document,
                             bool is_dry_run);
/* Make the pool of a document, or change the one that is there to it, or only
 * say which (pool.c). */
enum cli_exit pool_apply_of(struct cli *cli, const json_t *document,
                            bool is_dry_run);
