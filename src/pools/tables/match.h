/*
 * match - which pool a node belongs to, and which pool is a job's home
 * (model.md 5.3, 6.8).
 *
 * A node belongs to the one pool whose selector it matches; one that matches
 * none, or several, belongs to the Default pool.  This is a function of the
 * node's labels and of the pools as they are: after a pool was added, edited
 * or deleted, to ask again of every node gives what the rules of 5.3 say, so
 * nothing has to be remembered about conflicts.
 *
 * Pools are given as pointers to their records, in any order; the answers do
 * not depend on it but in the number of the pool.  At most POOL_OBJECTS_MAX.
 *
 * Pure; O(pools) per question.  Threads: everything here may be called from
 * any thread.
 */
#pragma once

#include "model/pool.h"

enum { MATCH_DEFAULT = UINT32_MAX }; /* the Default pool */

/* Whether a pool's selector matches a node with these labels, sorted by key;
 * a record without a selector matches no node, an empty selector every one. */
bool match_selects(const struct pool_record *record, const struct label *labels,
                   uint32_t label_count) must_check;

/* The index of the pool that a node belongs to, or MATCH_DEFAULT.
 * `ret_match_count` (or NULL) says how many matched: 0, 1, or more than one,
 * and then the node is in the Default pool because they conflict. */
uint32_t match_node(const struct pool_record *const *records,
                    uint32_t record_count, const struct label *labels,
                    uint32_t label_count, uint32_t *ret_match_count) must_check;

/* The home of a job that names a pool: the object of that name, or the Default
 * pool when it names none ("") or one that is no object. */
uint32_t match_home(const struct pool_record *const *records,
                    uint32_t record_count, struct str name) must_check;

/* Whether `home` lets its jobs go to `lender` and `lender` takes them, as far
 * as their records say (5.5); a record of NULL is the Default pool, which
 * borrows and lends like a pool with no restriction but those given.  Whether
 * there is room is another question. */
bool match_may_borrow(const struct pool_record *home,
                      const struct pool_record *lender) must_check;
