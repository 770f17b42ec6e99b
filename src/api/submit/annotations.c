#include "api/submit/annotations.h"

#define PREFIX_OWN "berth.dev/"
#define PREFIX_ARMADA "armadaproject.io/"

struct str annotation_find(const Berth__Submission__Item *item, const char *key)
{
    /* From the end: of equal keys the last counts. */
    for (size_t i = item->n_annotations; i > 0; i--) {
        if (strcmp(item->annotations[i - 1]->key, key) == 0) {
            return str_of(item->annotations[i - 1]->value);
        }
    }
    return str_make(NULL, 0);
}

/* What follows a prefix in the name of an annotation; NULL: another prefix. */
static const char *behind(const char *name, struct str prefix)
{
    return strncmp(name, prefix.p, prefix.byte_count) == 0
               ? name + prefix.byte_count
               : NULL;
}

struct str annotation_find_own(const Berth__Submission__Item *item,
                               const char *key)
{
    const char *of_armada = NULL;

    for (size_t i = item->n_annotations; i > 0; i--) {
        const char *name = item->annotations[i - 1]->key;
        const char *rest = behind(name, STR(PREFIX_ARMADA));

        if (strcmp(name, key) == 0) {
            return str_of(item->annotations[i - 1]->value);
        }
        if (!of_armada && rest &&
            strcmp(rest, key + sizeof(PREFIX_OWN) - 1) == 0) {
            of_armada = item->annotations[i - 1]->value;
        }
    }
    return of_armada ? str_of(of_armada) : str_make(NULL, 0);
}

const char *annotation_name(const Berth__Submission__Item *item,
                            const char *key)
{
    if (annotation_find(item, key).p) {
        return key;
    }
    for (size_t i = 0; i < item->n_annotations; i++) {
        const char *name = item->annotations[i]->key;
        const char *rest = behind(name, STR(PREFIX_ARMADA));

        if (rest && strcmp(rest, key + sizeof(PREFIX_OWN) - 1) == 0) {
            return name;
        }
    }
    return key;
}

static enum on_loss loss_of(const Berth__Submission__Item *item,
                            const char *key)
{
    return str_equal(annotation_find_own(item, key), STR("requeue"))
               ? ON_LOSS_REQUEUE
               : ON_LOSS_FAIL;
}

/* Where a job is at home, and what becomes of it when it loses its place.  Who
 * writes for the ai-scheduler counts on a controller that makes the pod again
 * when a borrowed place is taken back. */
static void put_home(const Berth__Submission__Item *item,
                     struct job_digest *digest)
{
    digest->pool = annotation_find(item, ANNOTATION_POOL_OBJECT);
    digest->on_preemption = loss_of(item, ANNOTATION_ON_PREEMPTION);
    if (!digest->pool.byte_count) {
        digest->pool = annotation_find(item, ANNOTATION_POOL);
    } else if (!annotation_find_own(item, ANNOTATION_ON_PREEMPTION).p) {
        digest->on_preemption = ON_LOSS_REQUEUE;
    }
}

static struct str label_text(const Berth__Submission__Item *item,
                             const char *key)
{
    for (size_t i = item->n_labels; i > 0; i--) {
        if (strcmp(item->labels[i - 1]->key, key) == 0) {
            return str_of(item->labels[i - 1]->value);
        }
    }
    return STR("");
}

/* The application that a job says it is of; "": none (model.md 3.2). */
static struct str application_of(const Berth__Submission__Item *item)
{
    struct str id = annotation_find(item, ANNOTATION_APP_ID);

    if (id.byte_count == 0) {
        id = label_text(item, LABEL_APP_ID);
    }
    return id.byte_count ? id : label_text(item, LABEL_SPARK_APP);
}

struct str annotations_job_set(const Berth__Submission__Request *request)
{
    struct str id = STR("");

    for (size_t i = 0; i < request->n_job_request_items; i++) {
        struct str each = application_of(request->job_request_items[i]);
        if (each.byte_count == 0 || (i > 0 && !str_equal(each, id))) {
            return STR("");
        }
        id = each;
    }
    return id;
}

void annotations_digest(const Berth__Submission__Item *item,
                        const struct gang *gang, struct job_digest *digest)
{
    /* A gang of one is an ordinary job, unless it says more than that. */
    bool is_gang = gang->is_gang && (gang->cardinality > 1 || gang->has_terms);

    digest->gang_id = is_gang ? gang->id : STR("");
    digest->gang_cardinality = is_gang ? gang->cardinality : 1;
    digest->gang_minimum = is_gang ? gang->minimum : 1;
    digest->gang_uniformity = is_gang ? gang->uniformity : STR("");
    put_home(item, digest);
    digest->is_held =
        str_equal(annotation_find_own(item, ANNOTATION_HOLD), STR("true"));
    digest->begin_ms = annotation_begin_ms(item);
    digest->retry_policy = annotation_find_own(item, ANNOTATION_RETRY_POLICY);
    digest->wait_ms_max = annotation_max_wait_ms(item);
    digest->turn_limit = annotation_turn_limit(item);
    digest->turn_group = annotation_find_own(item, ANNOTATION_TURN_GROUP);
    digest->is_fail_fast =
        str_equal(annotation_find(item, ANNOTATION_FAIL_FAST), STR("true"));
    digest->on_executor_lost = loss_of(item, ANNOTATION_ON_EXECUTOR_LOST);
    digest->application_id = application_of(item);
    digest->has_stateaware_off =
        str_equal(annotation_find(item, TAG_STATEAWARE_OFF), STR("true")) ||
        str_equal(label_text(item, LABEL_STATEAWARE_OFF), STR("true"));
}
