/*
 * spec_cache - the specs of recently submitted jobs, until the query store has
 * them; and the limit on how far the store may fall behind.
 *
 * A lease carries its job's spec, which the store keeps.  The store is
 * written by the projector, which may be slower than clients that submit; so
 * that no lease waits for it, each submission is *held* from before it is
 * posted until the projector is past its record.  What is held is bounded,
 * and a submission over the bound is refused: that bounds the lag too
 * (design.md 4).  What was not yet projected when the server stopped is not
 * held after its start; then leases wait for the projector.
 *
 * Ownership: a settled command is the cache's.  Threads: any; one mutex.
 */
#pragma once

#include "control/command/command.h"

struct spec_cache;

/* One submission in the cache. */
struct spec_hold;

/* An empty cache that holds up to `byte_count_max`. */
struct spec_cache *spec_cache_create(size_t byte_count_max) must_check;
/* Free the cache and what it holds.  NULL is fine. */
void spec_cache_destroy(struct spec_cache *cache);
DEFINE_AUTO(spec_cache, spec_cache_destroy)

/* Hold the jobs of a submission that is about to be posted; it must live
 * until it is settled or dropped.  NULL: no room (an empty cache has room for
 * any one submission). */
struct spec_hold *spec_cache_hold(struct spec_cache *cache,
                                  const struct command *command) must_check;
/* The submission was not posted, or came to nothing. */
void spec_cache_drop(struct spec_cache *cache, struct spec_hold *hold);
/* The submission was answered, and stands in the log's record
 * command->log_seq (0: in none); records come in order.  Takes the command. */
void spec_cache_settle(struct spec_cache *cache, struct spec_hold *hold,
                       struct command *command);
/* The store has all records up to `seq`: forget what they hold. */
void spec_cache_forget(struct spec_cache *cache, uint64_t seq);

/* The encoded armadaevents.SubmitJob of a job that is held, copied into the
 * arena; false if it is not. */
bool spec_cache_find(struct spec_cache *cache, struct job_id job,
                     struct arena *arena, struct str *ret_spec);

/* Whether a job is held. */
bool spec_cache_has(struct spec_cache *cache, struct job_id job);

/* How much is held now. */
void spec_cache_stats(struct spec_cache *cache, uint64_t *ret_job_count,
                      size_t *ret_byte_count);
