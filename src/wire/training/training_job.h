/*
 * training_job - a TrainingJob as its users write it (model.md 4.1), read from
 * YAML or JSON, completed with its defaults and checked; and the pods that it
 * is made of (4.2).
 *
 * A mistake that a user can correct is an error that names the field.  One
 * mistake is not an error: a job that is not fault tolerant and whose minimum
 * is not its maximum is accepted, and has failed from the start (`reason`), as
 * it was under the controller that TrainingJobs come from.
 *
 * Memory: the JSON is the job's own, until training_job_fini(); texts live in
 * it or are literals or the rules'.
 * Threads: everything here may be called from any thread.
 */
#pragma once

#include <jansson.h>

#include "base/str.h"
#include "base/strbuf.h"

enum {
    TRAINING_BYTES_MAX = 1 << 20,  /* of one resource */
    TRAINING_VALUES_MAX = 1 << 16, /* with what its aliases stand for */
    TRAINING_NAME_BYTES_MAX = 50,  /* so that its pods' names are names too */
    TRAINING_PODS_MAX = 20000,     /* of all components, at their most */
    TRAINING_PORTS_MAX = 1024,
    TRAINING_PORT_DEFAULT = 7164,
};

/* What an operator says of all TrainingJobs.  Texts are borrowed. */
struct training_rules {
    int64_t cpu_per_gpu_milli; /* that a trainer asks for at least */
    struct str launcher;       /* the program in the image that knows the
                                  commands (start_trainer ...) */
    struct str image;          /* of a job that names none */
    struct str etcd_image;
    int64_t freezing_window_ms; /* of a job that says none */
};

/* The rules without a configuration. */
void training_rules_defaults(struct training_rules *ret_rules);

/* What a TrainingJob is made of; also the order of its pods. */
enum training_component {
    TRAINING_MASTER,
    TRAINING_ETCD,
    TRAINING_PSERVER,
    TRAINING_TRAINER,
    TRAINING_COMPONENTS,
};

/* "master", "etcd", "pserver", "trainer". */
const char *training_component_name(enum training_component component);
/* "MASTER" and so on, as in the status of the resource. */
const char *training_component_type(enum training_component component);

/* Pods that are alike. */
struct training_replicas {
    uint32_t min_count, max_count;    /* both 0: there is no such component */
    struct str entrypoint, workspace; /* trainers */
};

struct training_job {
    struct str name, namespace_;
    struct str queue, job_set; /* "": the annotations do not say */
    struct str priority_class;
    struct str pool;   /* "": any */
    struct str reason; /* "", or why it failed from the start */
    struct str image, etcd_endpoint;
    bool is_fault_tolerant, has_host_network;
    int64_t port, port_count, passes; /* port_count: dense and sparse */
    int64_t dense_port_count;
    int64_t freezing_window_ms;
    int64_t hops_max;   /* between trainers; -1: any number */
    int64_t gpus_milli; /* of one trainer */
    int64_t cpu_milli;
    struct training_replicas replicas[TRAINING_COMPONENTS];
    json_t *resource; /* owned; as given, completed */
};

/* Read a resource.  -ERR_INVALID with "FIELD: what is wrong", -ERR_LIMIT when
 * it is too large; `*ret_job` is to be finished in any case. */
int training_job_read(struct str text, const struct training_rules *rules,
                      struct training_job *ret_job, struct err *err) must_check;

/* Let go of what it holds. */
void training_job_fini(struct training_job *job);
#define auto_training_job \
    __attribute__((cleanup(training_job_fini))) struct training_job

/* Whether a document is meant to be a TrainingJob: its kind says so. */
bool training_job_is_meant(const json_t *document);

/* Append the resource as completed, as JSON. */
void training_job_write(const struct training_job *job, struct strbuf *buf);

/* How many pods it has at its least and at its most. */
void training_job_counts(const struct training_job *job, uint32_t *ret_min,
                         uint32_t *ret_max);

/* The pod spec of a component that there is, as Kubernetes writes it; the
 * caller json_decref()s it. */
json_t *training_job_pod(const struct training_job *job,
                         const struct training_rules *rules,
                         enum training_component component) must_check;

/* The label whose value is the job's name, by which its pods are found. */
const char *training_component_label(enum training_component component);

/* The resource's labels, which all its pods get, likewise. */
json_t *training_job_labels(const struct training_job *job) must_check;

/* The annotations that all its pods get, likewise. */
json_t *training_job_annotations(const struct training_job *job) must_check;
