/* berth.api.Berth/ListJobObjects: what belongs to a job in its cluster, as far
 * as its last run is with it. */
#include "api/core/message.h"
#include "api/core/state.h"
#include "api/handlers.h"
#include "api/queries/job_query.h"
#include "armada/armadaevents.pb-c.h"
#include "berth/api.pb-c.h"
#include "wire/message/message.h"

typedef Berth__Api__JobObject object_message;
typedef Armadaevents__KubernetesObject spec_object;

/* What is known of a job. */
struct found {
    struct job_query *query;
    struct stored_job job;
    const struct stored_run *run; /* the last; NULL: none, or the next is to
                                   * come */
    struct str job_text;
    const Armadaevents__SubmitJob *submit;
    const Api__JobRunDetails *told; /* of the run */
};

static bool is_over(enum stored_job_state state)
{
    return state == STORED_JOB_SUCCEEDED || state == STORED_JOB_FAILED ||
           state == STORED_JOB_CANCELLED || state == STORED_JOB_PREEMPTED ||
           state == STORED_JOB_REJECTED;
}

/* What nobody has told of. */
static Berth__Api__JobObject__State untold_state(const struct found *found)
{
    return is_over(found->job.state) ? BERTH__API__JOB_OBJECT__STATE__UNWANTED
           : found->run              ? BERTH__API__JOB_OBJECT__STATE__CREATING
                                     : BERTH__API__JOB_OBJECT__STATE__WANTED;
}

static object_message *new_row(const struct found *found, uint32_t index)
{
    object_message *row =
        message_new(found->query->arena, &berth__api__job_object__descriptor);
    char text[ID_TEXT_BYTES_MAX];

    row->index = index;
    row->namespace_ = message_copy(found->query->arena, found->job.namespace_);
    row->state = untold_state(found);
    if (found->run) {
        row->run_id = message_copy(found->query->arena,
                                   str_of(run_id_format(found->run->id, text)));
        row->attempt = found->job.run_count;
        row->executor = message_copy(found->query->arena, found->run->cluster);
    }
    return row;
}

/* The pod. */

static int64_t last_ms(const struct stored_run *run)
{
    return run->finished_ms  ? run->finished_ms
           : run->started_ms ? run->started_ms
                             : run->pending_ms;
}

static object_message *pod_row(const struct found *found)
{
    object_message *row = new_row(found, 0);
    const struct stored_run *run = found->run;

    row->api_version = message_text(STR("v1"));
    row->kind = message_text(STR("Pod"));
    row->name = message_format(found->query->arena, "armada-%.*s-0",
                               STR_ARG(found->job_text));
    if (!run) {
        return row;
    }
    row->changed_ms = last_ms(run);
    if (run->state == STORED_RUN_PENDING) {
        row->state = BERTH__API__JOB_OBJECT__STATE__PENDING;
    } else if (run->state == STORED_RUN_RUNNING) {
        row->state = BERTH__API__JOB_OBJECT__STATE__RUNNING;
    } else if (run->state == STORED_RUN_SUCCEEDED) {
        row->state = BERTH__API__JOB_OBJECT__STATE__SUCCEEDED;
    } else if (run->finished_ms) {
        row->state = BERTH__API__JOB_OBJECT__STATE__FAILED;
        row->message = message_copy(found->query->arena, run->error);
    }
    return row;
}

/* What belongs to it. */

static const object_message *find_told(const struct found *found,
                                       uint32_t index)
{
    for (size_t i = 0; found->told && i < found->told->n_objects; i++) {
        if (found->told->objects[i]->index == index) {
            return found->told->objects[i];
        }
    }
    return NULL;
}

static void set_kind(object_message *row, const char *api_version,
                     const char *kind)
{
    row->api_version = message_text(str_of(api_version));
    row->kind = message_text(str_of(kind));
}

/* Of a spec that the log has: what its executor will call it. */
static void name_row(const struct found *found, const spec_object *object,
                     object_message *row)
{
    bool is_own = true;

    if (object->object_case ==
        ARMADAEVENTS__KUBERNETES_OBJECT__OBJECT_MANIFEST) {
        set_kind(row, object->manifest->api_version, object->manifest->kind);
    } else if (object->object_case ==
               ARMADAEVENTS__KUBERNETES_OBJECT__OBJECT_CONFIG_MAP) {
        set_kind(row, "v1", "ConfigMap");
    } else {
        bool is_service = object->object_case ==
                          ARMADAEVENTS__KUBERNETES_OBJECT__OBJECT_SERVICE;
        is_own = false;
        set_kind(row, is_service ? "v1" : "networking.k8s.io/v1",
                 is_service ? "Service" : "Ingress");
    }
    const char *name = object->objectmeta ? object->objectmeta->name : "";
    row->name = is_own ? message_format(found->query->arena, "armada-%.*s-0-%s",
                                        STR_ARG(found->job_text), name)
                       : message_text(str_of(name));
}

static void take_told(const struct found *found, const object_message *told,
                      object_message *row)
{
    bool is_refused = told->state == BERTH__API__JOB_OBJECT__STATE__REJECTED;

    row->name = told->name;
    row->uid = told->uid;
    row->generation = told->generation;
    row->changed_ms = told->changed_ms;
    row->message = told->message;
    row->state = is_refused ? BERTH__API__JOB_OBJECT__STATE__REJECTED
                 : found->run->finished_ms
                     ? BERTH__API__JOB_OBJECT__STATE__UNWANTED
                     : BERTH__API__JOB_OBJECT__STATE__PRESENT;
}

static object_message *object_row(const struct found *found, uint32_t index)
{
    const object_message *told = find_told(found, index);
    object_message *row = new_row(found, index + 1);

    name_row(found, found->submit->objects[index], row);
    if (told) {
        take_told(found, told, row);
    }
    return row;
}

/* To find all that. */

static int find_spec(struct found *found)
{
    struct job_query *query = found->query;
    static const Armadaevents__SubmitJob none = ARMADAEVENTS__SUBMIT_JOB__INIT;
    ProtobufCMessage *submit;
    struct str spec;

    found->submit = &none;
    int rc = store_spec(query->readers->store, found->job.id, query->arena,
                        &spec, &query->err);
    if (rc <= 0) {
        return rc;
    }
    rc = wire_decode(&armadaevents__submit_job__descriptor, spec,
                     &wire_request_limits, query->arena, &submit, &query->err);
    if (rc == 0) {
        found->submit = (const Armadaevents__SubmitJob *)submit;
    }
    return rc;
}

static int find_run(struct found *found)
{
    struct job_query *query = found->query;
    struct stored_run *runs;
    ProtobufCMessage *told;
    struct err err;
    int count = store_runs_of_job(query->readers->store, found->job.id,
                                  query->arena, &runs, &query->err);

    /* A job that waits again has nothing in any cluster. */
    if (count <= 0 || (runs[0].finished_ms && !is_over(found->job.state))) {
        return count < 0 ? count : 0;
    }
    found->run = &runs[0];
    /* An executor may have told nonsense: then it has told nothing. */
    if (wire_decode(&api__job_run_details__descriptor, found->run->ingress,
                    &wire_request_limits, query->arena, &told, &err) == 0) {
        found->told = (const Api__JobRunDetails *)told;
    }
    return 0;
}

static int list(struct found *found, Berth__Api__ListJobObjectsResponse *reply)
{
    int rc = find_spec(found);

    rc = rc < 0 ? rc : find_run(found);
    if (rc < 0) {
        return rc;
    }
    size_t count = found->submit->n_objects;
    reply->objects = arena_alloc_array(found->query->arena, count + 1,
                                       sizeof(*reply->objects));
    reply->objects[reply->n_objects++] = pod_row(found);
    for (uint32_t i = 0; i < count; i++) {
        reply->objects[reply->n_objects++] = object_row(found, i);
    }
    return 0;
}

void handle_list_job_objects(struct api_call *call, struct str request)
{
    Berth__Api__ListJobObjectsResponse reply =
        BERTH__API__LIST_JOB_OBJECTS_RESPONSE__INIT;
    Berth__Api__ListJobObjectsRequest *message;
    struct job_query query;
    struct job_id id;
    int rc = 0;

    if (!api_call_decode(call,
                         &berth__api__list_job_objects_request__descriptor,
                         request, &message) ||
        !job_query_begin(&query, call, 1, "jobIds")) {
        return;
    }
    struct found found = {.query = &query, .job_text = str_of(message->job_id)};
    if (job_id_parse(found.job_text, &id) == 0) {
        rc = job_query_find(&query, id, &found.job);
    }
    if (rc == 0) {
        reader_pool_give_back(call->api->readers, query.readers);
        api_call_fail(call, RPC_NOT_FOUND,
                      "there is no such job, or it ended so long ago that it "
                      "was deleted");
        return;
    }
    rc = rc < 0 ? rc : list(&found, &reply);
    job_query_end(&query, rc, &reply.base);
}
