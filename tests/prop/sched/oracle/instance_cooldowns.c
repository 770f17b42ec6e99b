/* Cooldowns: who took a place for fairness takes none again at once, nor before
 * something is new. */
#include "instance.h"

int instance_cooldown_ms(const struct instance *instance)
{
    return instance->short_cooldown ? instance->short_cooldown : 60000;
}

bool instance_has_cooldown(const struct instance *instance, int job, int now)
{
    const struct instance_job *record = &instance->jobs[job];

    return record->cooldown &&
           !(record->has_news &&
             now + 1 - record->cooldown >= instance_cooldown_ms(instance));
}

void instance_cooldown(struct instance *instance, int job, int now)
{
    int gang = instance->jobs[job].gang;

    if (instance_has_cooldown(instance, job, now)) {
        return;
    }
    for (int j = 0; j < instance->job_count; j++) {
        if (j == job || (gang && instance->jobs[j].gang == gang)) {
            instance->jobs[j].cooldown = now + 1;
            instance->jobs[j].has_news = false;
        }
    }
}

void instance_news(struct instance *instance)
{
    for (int j = 0; j < instance->job_count; j++) {
        instance->jobs[j].has_news = true;
    }
}

void instance_forget_cooldown(struct instance *instance, int job)
{
    int gang = instance->jobs[job].gang;
    bool is_any = false;

    for (int j = 0; gang && j < instance->job_count; j++) {
        is_any |= instance->jobs[j].is_there && instance->jobs[j].gang == gang;
    }
    for (int j = 0; !is_any && j < instance->job_count; j++) {
        if (j == job || (gang && instance->jobs[j].gang == gang)) {
            instance->jobs[j].cooldown = 0;
        }
    }
}
