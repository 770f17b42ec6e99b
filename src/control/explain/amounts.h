/*
 * amounts - amounts of the policy's resources with their names, for
 * people and for programs.
 *
 * For src/control only; the leader's thread.
 */
#pragma once

#include "base/arena.h"
#include "base/strbuf.h"
#include "model/resource.h"

struct control;

/* What is not 0 of a vector, as amounts with names. */
struct resource_list name_amounts(struct control *c,
                                  const struct resource_vec *vec,
                                  struct arena *arena);
/* Append an amount of a column of the policy's resources, for people. */
void amounts_put_one(struct strbuf *buf, const struct control *c, int column,
                     int64_t amount);
/* Append what is not 0 of a vector, likewise. */
void amounts_put(struct strbuf *buf, const struct control *c,
                 const struct resource_vec *vec);
/* The same of what a node has, with "0 cpu" for what is asked for and not
 * there; resources that are of no node are left out. */
void amounts_put_room(struct strbuf *buf, const struct control *c,
                      const struct resource_vec *vec,
                      const struct resource_vec *asked);
