#include "api/periodic/message.h"

#include <inttypes.h>

#include "api/core/message.h"
#include "api/submit/annotations.h"
#include "armada/submit.pb-c.h"
#include "model/id.h"
#include "wire/kube/kube_name.h"
#include "wire/message/message.h"
#include "wire/text/rfc3339.h"

/* Members of an array have it; its id is one submission's. */
#define ARRAY_LABEL "berth.dev/array"

enum {
    MS_PER_S = 1000,
    NAME_BYTES_MAX = 52, /* as Kubernetes' CronJobs */
};

void periodic_times_close(struct periodic_times *times)
{
    zone_close(&times->zone);
}

int periodic_times_open(const Berth__Api__PeriodicJob *message,
                        pthread_mutex_t *lock, struct periodic_times *ret_times,
                        struct err *err)
{
    int64_t deadline_s = message->starting_deadline_seconds;
    struct periodic_terms *terms = &ret_times->terms;

    *ret_times = (struct periodic_times){0};
    if (periodic_policy_of_name(str_of(message->concurrency_policy),
                                &terms->policy) < 0) {
        return err_set(
            err, -ERR_INVALID,
            "concurrencyPolicy: \"%.64s\" must be Allow, Forbid or Replace",
            message->concurrency_policy);
    }
    if (deadline_s < 0 || deadline_s > PERIODIC_DEADLINE_S_MAX) {
        return err_set(err, -ERR_INVALID,
                       "startingDeadlineSeconds: must be from 0 to %d, not "
                       "%" PRId64,
                       PERIODIC_DEADLINE_S_MAX, deadline_s);
    }
    terms->deadline_ms = deadline_s * MS_PER_S;
    int rc = cron_parse(str_of(message->schedule), &terms->cron, err);
    rc = rc < 0 ? rc
                : zone_open(str_of(message->time_zone), lock, &ret_times->zone,
                            err);
    terms->zone = &ret_times->zone;
    return rc;
}

/* One entry more in a job's labels or annotations, in the place of one of its
 * key. */
static void put_entry(void *entries, size_t *count,
                      const ProtobufCMessageDescriptor *type, const char *key,
                      struct str value, struct arena *arena)
{
    Api__JobSubmitRequestItem__LabelsEntry ***list = entries;
    Api__JobSubmitRequestItem__LabelsEntry **grown =
        arena_alloc_array(arena, *count + 1, sizeof(*grown));
    size_t kept = 0;

    for (size_t i = 0; i < *count; i++) {
        if (strcmp((*list)[i]->key, key) != 0) {
            grown[kept++] = (*list)[i];
        }
    }
    grown[kept] = message_new(arena, type);
    grown[kept]->key = arena_strdup(arena, str_of(key));
    grown[kept++]->value = arena_strdup(arena, value);
    *list = grown;
    *count = kept;
}

static int check_job(Berth__Api__PeriodicJob *message, size_t index,
                     struct arena *arena, struct err *err)
{
    Api__JobSubmitRequestItem *job = message->jobs[index];

    if (*job->client_id) {
        return err_set(err, -ERR_INVALID,
                       "jobs[%zu].clientId: must not be set: the second run "
                       "would be taken for the first again",
                       index);
    }
    for (size_t i = 0; i < job->n_annotations; i++) {
        const char *key = job->annotations[i]->key;
        if (strcmp(key, ANNOTATION_DEPENDS_ON) == 0 ||
            strcmp(key, "armadaproject.io/dependsOn") == 0 ||
            strcmp(key, ANNOTATION_BEGIN_TIME) == 0 ||
            strcmp(key, "armadaproject.io/beginTime") == 0) {
            return err_set(
                err, -ERR_INVALID,
                "jobs[%zu]: annotation %s cannot stand in a periodic "
                "job",
                index, key);
        }
    }
    put_entry(&job->labels, &job->n_labels,
              &api__job_submit_request_item__labels_entry__descriptor,
              PERIODIC_LABEL, str_of(message->name), arena);
    return 0;
}

int periodic_check(Berth__Api__PeriodicJob *message, struct arena *arena,
                   struct err *err)
{
    struct str name = str_of(message->name);

    if (!kube_is_subdomain(name) || name.byte_count > NAME_BYTES_MAX) {
        return err_set(err, -ERR_INVALID,
                       "name: \"%.64s\" must consist of small letters, digits, "
                       "dashes and dots, at most %d",
                       message->name, NAME_BYTES_MAX);
    }
    if (message->n_jobs == 0 || message->n_jobs > PERIODIC_RUN_JOBS_MAX) {
        return err_set(err, -ERR_INVALID,
                       "jobs: must be from 1 to %d jobs, not %zu",
                       PERIODIC_RUN_JOBS_MAX, message->n_jobs);
    }
    if (!*message->job_set) {
        message->job_set = message->name;
    }
    int rc = 0;
    for (size_t i = 0; i < message->n_jobs && rc == 0; i++) {
        rc = check_job(message, i, arena, err);
    }
    size_t byte_count = protobuf_c_message_get_packed_size(&message->base);
    if (rc == 0 && byte_count > PERIODIC_BYTES_MAX) {
        rc = err_set(err, -ERR_LIMIT,
                     "it has %zu bytes, and at most %d are allowed", byte_count,
                     PERIODIC_BYTES_MAX);
    }
    return rc;
}

/* The id that an array has in the run of a moment: its own with another time.
 * What is no id of an array stays. */
static const char *array_id_of(const char *id, int64_t moment_ms,
                               struct arena *arena)
{
    char text[ID_TEXT_BYTES_MAX];
    uint8_t random[10];
    struct job_id array;

    if (moment_ms <= 0 || job_id_parse(str_of(id), &array) < 0) {
        return id;
    }
    for (int i = 0; i < 2; i++) {
        random[i] = (uint8_t)(array.v.hi >> (8 * (1 - i)));
    }
    for (int i = 0; i < 8; i++) {
        random[2 + i] = (uint8_t)(array.v.lo >> (8 * (7 - i)));
    }
    array = job_id_make(moment_ms, random);
    return arena_strdup(arena, str_of(job_id_format(array, text)));
}

/* The jobs of an array are those of one run, and so is the group by which they
 * take turns. */
static void make_own_array(Api__JobSubmitRequestItem *job, int64_t moment_ms,
                           struct arena *arena)
{
    const char *old = NULL, *own = NULL;

    for (size_t i = 0; i < job->n_labels && !old; i++) {
        if (strcmp(job->labels[i]->key, ARRAY_LABEL) == 0) {
            old = job->labels[i]->value;
        }
    }
    if (!old) {
        return;
    }
    own = array_id_of(old, moment_ms, arena);
    for (size_t i = 0; i < job->n_annotations; i++) {
        if (strcmp(job->annotations[i]->key, ANNOTATION_TURN_GROUP) == 0 &&
            strcmp(job->annotations[i]->value, old) == 0) {
            put_entry(
                &job->annotations, &job->n_annotations,
                &api__job_submit_request_item__annotations_entry__descriptor,
                ANNOTATION_TURN_GROUP, str_of(own), arena);
            break; /* the list is another */
        }
    }
    put_entry(&job->labels, &job->n_labels,
              &api__job_submit_request_item__labels_entry__descriptor,
              ARRAY_LABEL, str_of(own), arena);
}

static void make_own(Api__JobSubmitRequestItem *job, int64_t moment_ms,
                     struct arena *arena)
{
    char time[WIRE_RFC3339_TEXT_BYTES_MAX];

    for (size_t i = 0; i < job->n_annotations; i++) {
        if (strcmp(job->annotations[i]->key, ANNOTATION_GANG_ID) == 0) {
            put_entry(
                &job->annotations, &job->n_annotations,
                &api__job_submit_request_item__annotations_entry__descriptor,
                ANNOTATION_GANG_ID,
                str_of(message_format(arena, "%s-%" PRId64,
                                      job->annotations[i]->value,
                                      moment_ms / MS_PER_S)),
                arena);
            break; /* the list is another */
        }
    }
    make_own_array(job, moment_ms, arena);
    (void)wire_rfc3339_format(moment_ms / MS_PER_S, 0, 0, time);
    put_entry(&job->annotations, &job->n_annotations,
              &api__job_submit_request_item__annotations_entry__descriptor,
              PERIODIC_MOMENT, str_of(time), arena);
}

struct str periodic_submission(const Berth__Api__PeriodicJob *message,
                               int64_t moment_ms, struct arena *arena)
{
    Api__JobSubmitRequest request = API__JOB_SUBMIT_REQUEST__INIT;

    request.queue = message->queue;
    request.job_set_id = message->job_set;
    request.n_job_request_items = message->n_jobs;
    request.job_request_items =
        arena_alloc_array(arena, message->n_jobs, sizeof(*message->jobs));
    for (size_t i = 0; i < message->n_jobs; i++) {
        Api__JobSubmitRequestItem *job = arena_alloc(arena, sizeof(*job));
        *job = *message->jobs[i];
        request.job_request_items[i] = job;
        make_own(job, moment_ms, arena);
    }
    return wire_encode_arena(&request.base, arena);
}
