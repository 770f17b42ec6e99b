/*
 * away - finds places on nodes of another type, by the variants of a job's
 * class (away_variants.h).
 *
 * Private to src/sched.
 */
#pragma once

#include "sched/state/away_variants.h"

struct search;

/* Why labels and taints do not allow a class on a node, neither at home nor by
 * a variant, or SCHED_EXCLUSIONS; the requirement is the class's. */
enum sched_exclusion away_match(const struct sched *sched,
                                const struct requirement *requirement,
                                uint32_t class_index, uint32_t node);

/* A free node for a job that finds none at home, or NONE; the search is then
 * the variant's. */
uint32_t away_find(struct search *search);
/* The like, by preemption: decides the victims. */
uint32_t away_find_victims(struct search *search);
/* Whether victims_may_be() says so of any variant of the search's class. */
bool away_victims_may_be(const struct search *search);
