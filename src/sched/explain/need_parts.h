/*
 * need_parts - how much is lacking, by what it is that is lacking: each looks
 * for the least with which a trial starts the job (need_trial.h).
 *
 *     need_waiver.c    nothing, but for a rule that may pass
 *     need_room.c    on a node
 *     need_limits.c  within a limit
 *     need.c         time; and which of all this is asked
 *
 * Where the least cannot be found they say what it is at least, and that it is
 * not exact.
 *
 * Private to src/sched.
 */
#pragma once

#include "sched/explain/need_trial.h"

/* Whether nothing at all is lacking. */
static inline bool need_is_nothing(const struct resource_vec *missing)
{
    static const struct resource_vec nothing;

    return memcmp(missing, &nothing, sizeof(nothing)) == 0;
}

/* If a rule by which nobody loses a place for it keeps a job that waits for
 * room, say so: without it, all else as it is, the next round starts the job,
 * and with it not. */
void need_waiver(struct trials *trials, struct sched_explanation *explanation);

/* What a node lacks, the nearest that can be shown. */
void need_room(struct trials *trials, const struct need_question *question,
               struct sched_need *need);

/* What the limits of its class and queue lack for the job, or its gang. */
void need_limit(struct trials *trials, struct sched_need *need);
/* What the quota of its queue lacks. */
void need_quota(struct trials *trials, struct sched_need *need);
/* What its pool lacks that is of no node. */
void need_floating(struct trials *trials, struct sched_need *need);
/* What its queue's excess budget lacks. */
void need_budget(struct trials *trials, const struct sched_explanation *why,
                 struct sched_need *need);
/* How much higher the part above its share may be that its queue has of what
 * cannot be taken back; where time alone does not help. */
void need_share(struct trials *trials, const struct sched_explanation *why,
                struct sched_need *need);
/* How many more applications of its queue may run. */
void need_apps(struct trials *trials, struct sched_need *need);
