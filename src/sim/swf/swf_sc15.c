/*
 * The convention of Gaussier et al. (SC'15): events one at a time, in each
 * second terminations before arrivals, and a pass after each.
 *
 * The leader makes its pass when something is reported to it.  So a job that
 * arrives without a pass is held back until the next one.  That changes nothing
 * else, because its place in the queue is that of its number.  A job that has
 * reached its estimated end is ended before any pass of that second.
 * Terminations of one second come in the order of the jobs' starts.
 */
#include "sim/swf/swf_private.h"
#include "sim/world/cluster.h"

/* In the order in which they happen in one second. */
enum { TERMINATION, ARRIVAL };

struct sc15 {
    struct swf_playing *playing;
    struct agenda events; /* ids: arrivals' jobs; terminations' starts */
    struct agenda bounds; /* estimated ends of what runs */
    bool *has_ended;      /* by job */
    uint32_t *started;    /* jobs, in the order of their starts */
    uint32_t start_count;
    int64_t free_count;   /* processors */
    size_t arrived_count; /* jobs, submitted or kept back */
};

static const struct swf_job *job_at(const struct sc15 *s, uint64_t job)
{
    return &s->playing->log->jobs.items[job];
}

static void on_started(void *ctx, uint32_t index)
{
    struct sc15 *s = ctx;
    const struct swf_job *job = job_at(s, index);
    int64_t now_ms = s->playing->world->now_ms;

    s->free_count -= job->processors;
    agenda_add(&s->events, now_ms + job->run_s * MS_PER_S, TERMINATION,
               s->start_count);
    s->started[s->start_count++] = index;
    agenda_add(&s->bounds, now_ms + job->estimate_s * MS_PER_S, 0, index);
}

/* End a job's pod, unless that was done before. */
static void end_job(struct sc15 *s, uint32_t job)
{
    struct world *world = s->playing->world;

    if (!s->has_ended[job]) {
        s->has_ended[job] = true;
        s->free_count += job_at(s, job)->processors;
        cluster_end_run(world->clusters.items[0],
                        run_id_make(world_job_id(world, job), 0));
    }
}

/* End what has come to its estimated end. */
static void end_bounded(struct sc15 *s)
{
    while (agenda_time_ms(&s->bounds) <= s->playing->world->now_ms) {
        end_job(s, (uint32_t)agenda_take(&s->bounds).id);
    }
}

/* Tell the leader all, and let it make a pass. */
static int pass(struct sc15 *s, struct err *err)
{
    struct agenda_entry entry;
    struct world *world = s->playing->world;

    if (s->arrived_count > s->playing->next) {
        swf_submit(s->playing, s->arrived_count - s->playing->next);
    }
    return world_run(world, world->now_ms, &entry, err);
}

static int handle(struct sc15 *s, const struct agenda_entry *event,
                  struct err *err)
{
    world_move(s->playing->world, event->time_ms);
    end_bounded(s);
    if (event->kind == TERMINATION) {
        end_job(s, s->started[event->id]);
        return pass(s, err);
    }
    s->arrived_count++;
    return job_at(s, event->id)->processors <= s->free_count ? pass(s, err) : 0;
}

int swf_play_sc15(struct swf_playing *playing, struct err *err)
{
    size_t count = playing->log->jobs.count;
    struct sc15 s = {
        .playing = playing,
        .has_ended = mem_alloc_array(count + 1, sizeof(bool)),
        .started = mem_alloc_array(count + 1, sizeof(uint32_t)),
        .free_count = playing->options->processors,
    };
    int rc = 0;

    playing->started = on_started;
    playing->ctx = &s;
    for (size_t i = 0; i < count; i++) {
        agenda_add(&s.events, swf_arrival_ms(playing, i), ARRIVAL, i);
    }
    while (rc == 0 && agenda_time_ms(&s.events) < INT64_MAX) {
        struct agenda_entry event = agenda_take(&s.events);
        rc = handle(&s, &event, err);
    }
    agenda_fini(&s.events);
    agenda_fini(&s.bounds);
    mem_free(s.has_ended);
    mem_free(s.started);
    return rc;
}
