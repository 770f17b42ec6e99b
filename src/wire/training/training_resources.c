/* The requests and limits of a TrainingJob's pods. */
#include <stdio.h>

#include "model/quantity.h"
#include "wire/training/training_fields.h"
#include "wire/training/training_private.h"

static const char gpu_name[] = "nvidia.com/gpu";
static const char old_gpu_name[] = "alpha.kubernetes.io/nvidia-gpu";

/* What a component asks for that does not say. */
struct amounts {
    const char *cpu, *memory, *cpu_limit, *memory_limit;
};

static const struct amounts default_amounts[TRAINING_COMPONENTS] = {
    [TRAINING_MASTER] = {"1", "500Mi", "2", "1Gi"},
    [TRAINING_ETCD] = {"100m", "128Mi", NULL, NULL},
    [TRAINING_PSERVER] = {"1", "1Gi", NULL, NULL},
    [TRAINING_TRAINER] = {"1", "1Gi", NULL, NULL},
};

static int64_t amount_of(const json_t *amounts, const char *name)
{
    int64_t milli = 0;
    const json_t *value = training_field(amounts, name);

    return value && quantity_parse(training_text(value), &milli) == 0 ? milli
                                                                      : 0;
}

/* Amounts as texts, gpus by the name that is in use now. */
static int read_amounts(struct training_reading *r, const char *path,
                        json_t *amounts)
{
    const char *key;
    json_t *value;
    void *next;

    json_object_foreach_safe(amounts, next, key, value)
    {
        int64_t milli;
        if (json_is_integer(value)) {
            value = json_sprintf("%lld", (long long)json_integer_value(value));
            json_object_set_new(amounts, key, value);
        } else if (json_is_real(value)) {
            value = json_sprintf("%.3f", json_real_value(value));
            json_object_set_new(amounts, key, value);
        }
        if (!training_is_text(value) ||
            quantity_parse(training_text(value), &milli) < 0 || milli < 0) {
            return err_set(r->err, -ERR_INVALID,
                           "%s.%s: must be an amount, such as 500m, not "
                           "\"%.64s\"",
                           path, key,
                           training_is_text(value) ? json_string_value(value)
                                                   : "");
        }
    }
    json_t *old = training_field(amounts, old_gpu_name);
    if (old && training_field(amounts, gpu_name)) {
        return training_refuse(
            r, path, old_gpu_name,
            "is another name of nvidia.com/gpu, which is there too");
    }
    if (old) {
        json_object_set(amounts, gpu_name, old);
        json_object_del(amounts, old_gpu_name);
    }
    return 0;
}

/* What is not said: a limit is the request and a request the limit. */
static void complete_amounts(json_t *requests, json_t *limits,
                             const struct amounts *amounts)
{
    const char *key;
    json_t *value;

    if (json_object_size(requests) + json_object_size(limits) == 0 &&
        amounts->cpu_limit) {
        json_object_set_new(limits, "cpu", json_string(amounts->cpu_limit));
        json_object_set_new(limits, "memory",
                            json_string(amounts->memory_limit));
        json_object_set_new(requests, "cpu", json_string(amounts->cpu));
        json_object_set_new(requests, "memory", json_string(amounts->memory));
    }
    if (!training_field(requests, "cpu") && !training_field(limits, "cpu")) {
        json_object_set_new(requests, "cpu", json_string(amounts->cpu));
    }
    if (!training_field(requests, "memory") &&
        !training_field(limits, "memory")) {
        json_object_set_new(requests, "memory", json_string(amounts->memory));
    }
    json_object_foreach(limits, key, value)
    {
        if (!training_field(requests, key)) {
            json_object_set(requests, key, value);
        }
    }
    json_object_foreach(requests, key, value)
    {
        if (!training_field(limits, key)) {
            json_object_set(limits, key, value);
        }
    }
}

static int check_limits(struct training_reading *r, const char *path,
                        json_t *requests, const json_t *limits)
{
    const char *key;
    json_t *value;

    json_object_foreach(requests, key, value)
    {
        struct str limit = training_text(training_field(limits, key));
        if (amount_of(limits, key) < amount_of(requests, key)) {
            return err_set(r->err, -ERR_INVALID,
                           "%s.limits.%s: must be at least the request, which "
                           "is %.*s, not %.*s",
                           path, key, STR_ARG(training_text(value)),
                           STR_ARG(limit));
        }
    }
    return 0;
}

int training_read_resources(struct training_reading *r,
                            enum training_component component, json_t *object)
{
    static const struct training_member members[] = {
        {"requests", MEMBER_OTHER, 0, 0, 0, 0},
        {"limits", MEMBER_OTHER, 0, 0, 0, 0},
    };
    char path[TRAINING_PATH_BYTES_MAX], part[TRAINING_PATH_BYTES_MAX];
    json_t *resources = training_object(object, "resources");

    (void)snprintf(path, sizeof(path), "spec.%s.resources",
                   training_component_name(component));
    int rc =
        training_check_keys(r, path, resources, members, ARRAY_COUNT(members));
    for (size_t i = 0; i < ARRAY_COUNT(members) && rc == 0; i++) {
        (void)snprintf(part, sizeof(part), "spec.%s.resources.%s",
                       training_component_name(component), members[i].key);
        json_t *amounts = training_object(resources, members[i].key);
        rc = json_is_object(amounts)
                 ? read_amounts(r, part, amounts)
                 : training_refuse(r, part, "", "must be an object");
    }
    if (rc < 0) {
        return rc;
    }
    json_t *requests = training_field(resources, "requests");
    json_t *limits = training_field(resources, "limits");
    complete_amounts(requests, limits, &default_amounts[component]);
    return check_limits(r, path, requests, limits);
}

/* The pods of a component ask for enough cores to keep their gpus busy. */
static int check_gpus(struct training_reading *r,
                      enum training_component component)
{
    const char *name = training_component_name(component);
    json_t *requests = training_amounts(r->job, component, "requests");
    int64_t gpus_milli = amount_of(requests, gpu_name);
    int64_t cpu_milli = amount_of(requests, "cpu");
    int64_t needed_milli = 0;
    char text[QUANTITY_TEXT_BYTES_MAX], asked[QUANTITY_TEXT_BYTES_MAX];

    if (gpus_milli % 1000 != 0) {
        return err_set(r->err, -ERR_INVALID,
                       "spec.%s.resources.requests.%s: must be a whole number",
                       name, gpu_name);
    }
    if (__builtin_mul_overflow(gpus_milli / 1000, r->rules->cpu_per_gpu_milli,
                               &needed_milli) ||
        cpu_milli < needed_milli) {
        return err_set(r->err, -ERR_INVALID,
                       "spec.%s.resources.requests.cpu: %lld gpus need at "
                       "least %s cpu, not %s",
                       name, (long long)(gpus_milli / 1000),
                       quantity_format(needed_milli, false, text),
                       quantity_format(cpu_milli, false, asked));
    }
    return 0;
}

int training_check_gpus(struct training_reading *r)
{
    json_t *requests = training_amounts(r->job, TRAINING_TRAINER, "requests");
    int rc = 0;

    r->job->gpus_milli = amount_of(requests, gpu_name);
    r->job->cpu_milli = amount_of(requests, "cpu");
    for (enum training_component i = 0; rc == 0 && i < TRAINING_COMPONENTS;
         i++) {
        rc = training_amounts(r->job, i, "requests") ? check_gpus(r, i) : 0;
    }
    return rc;
}
