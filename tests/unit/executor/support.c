#include "support.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>

#include "executor/files/file.h"
#include "executor/files/tree.h"

static uint64_t mono_ns(const struct clock *clock)
{
    struct timespec now;

    (void)clock;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static int64_t wall_ms(const struct clock *clock)
{
    struct timespec now;

    (void)clock;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

const struct clock machine_clock = {mono_ns, wall_ms};

static void fill(const struct rng *rng, void *bytes, size_t byte_count)
{
    (void)rng;
    ASSERT(getrandom(bytes, byte_count, 0) == (ssize_t)byte_count);
}

const struct rng machine_rng = {fill};

int64_t machine_ms(void)
{
    return (int64_t)(mono_ns(NULL) / 1000000);
}

char *make_dir(void)
{
    char *dir = mem_strdup("/tmp/berth-test-XXXXXX");

    ASSERT(mkdtemp(dir) && chmod(dir, 0711) == 0);
    return dir;
}

void remove_dir(char *dir)
{
    tree_remove(AT_FDCWD, dir);
    mem_free(dir);
}

char *read_file(const char *format, ...)
{
    char path[1024];
    struct strbuf buf = strbuf_make(1 << 20);
    struct err err;
    va_list args;

    va_start(args, format);
    vsnprintf(path, sizeof(path), format, args);
    va_end(args);
    (void)!file_read(AT_FDCWD, path, &buf, &err);
    return strbuf_steal(&buf);
}

static char *text(struct job *job, const char *s)
{
    return arena_strdup(&job->arena, str_of(s));
}

/* One longer copy of a list of pointers. */
static void *longer(struct job *job, void *items, size_t count)
{
    void **grown = arena_alloc_array(&job->arena, count + 1, sizeof(void *));

    if (count > 0) {
        memcpy(grown, items, count * sizeof(void *));
    }
    return grown;
}

K8s__Io__Api__Core__V1__Container *job_container(struct job *job, bool is_init,
                                                 const char *const *args)
{
    K8s__Io__Api__Core__V1__Container *container =
        arena_alloc(&job->arena, sizeof(*container));

    k8s__io__api__core__v1__container__init(container);
    container->name = text(job, is_init ? "first" : "main");
    for (size_t i = 0; args[i]; i++) {
        container->args = longer(job, container->args, container->n_args);
        container->args[container->n_args++] = text(job, args[i]);
    }
    if (is_init) {
        job->pod->initcontainers =
            longer(job, job->pod->initcontainers, job->pod->n_initcontainers);
        job->pod->initcontainers[job->pod->n_initcontainers++] = container;
    } else {
        job->pod->containers =
            longer(job, job->pod->containers, job->pod->n_containers);
        job->pod->containers[job->pod->n_containers++] = container;
    }
    return container;
}

void job_make(struct job *job, int number, const char *const *args)
{
    struct arena *arena;

    *job = (struct job){.run.queue = STR("queue"),
                        .run.job_set = STR("set"),
                        .run.namespace_ = STR("default"),
                        .run.pod_name = STR("armada-pod-0"),
                        .run.node_name = STR("node")};
    arena = &job->arena;
    uint8_t random[10] = {(uint8_t)(number >> 8), (uint8_t)number};
    pid_t pid = getpid();
    memcpy(random + 2, &pid, sizeof(pid));
    job->run.job = job_id_make(1700000000000, random);
    job->run.run = run_id_make(job->run.job, 0);
    job->submit = arena_alloc(arena, sizeof(*job->submit));
    armadaevents__submit_job__init(job->submit);
    job->submit->objectmeta =
        arena_alloc(arena, sizeof(*job->submit->objectmeta));
    armadaevents__object_meta__init(job->submit->objectmeta);
    job->submit->mainobject =
        arena_alloc(arena, sizeof(*job->submit->mainobject));
    armadaevents__kubernetes_main_object__init(job->submit->mainobject);
    Armadaevents__PodSpecWithAvoidList *with =
        arena_alloc(arena, sizeof(*with));
    armadaevents__pod_spec_with_avoid_list__init(with);
    job->pod = arena_alloc(arena, sizeof(*job->pod));
    k8s__io__api__core__v1__pod_spec__init(job->pod);
    job->pod->has_terminationgraceperiodseconds = true;
    job->pod->terminationgraceperiodseconds = 1;
    with->pod_spec = job->pod;
    job->submit->mainobject->object_case =
        ARMADAEVENTS__KUBERNETES_MAIN_OBJECT__OBJECT_POD_SPEC;
    job->submit->mainobject->pod_spec = with;
    job->run.submit = job->submit;
    if (args) {
        (void)job_container(job, false, args);
    }
}

K8s__Io__Api__Core__V1__EnvVar *
job_env(struct job *job, K8s__Io__Api__Core__V1__Container *container,
        const char *name, const char *value)
{
    K8s__Io__Api__Core__V1__EnvVar *env =
        arena_alloc(&job->arena, sizeof(*env));

    k8s__io__api__core__v1__env_var__init(env);
    env->name = text(job, name);
    env->value = value ? text(job, value) : NULL;
    container->env = longer(job, container->env, container->n_env);
    container->env[container->n_env++] = env;
    return env;
}

void job_limit(struct job *job, K8s__Io__Api__Core__V1__Container *container,
               const char *name, const char *amount)
{
    K8s__Io__Api__Core__V1__ResourceRequirements__LimitsEntry *entry =
        arena_alloc(&job->arena, sizeof(*entry));

    if (!container->resources) {
        container->resources =
            arena_alloc(&job->arena, sizeof(*container->resources));
        k8s__io__api__core__v1__resource_requirements__init(
            container->resources);
    }
    k8s__io__api__core__v1__resource_requirements__limits_entry__init(entry);
    entry->key = text(job, name);
    entry->value = arena_alloc(&job->arena, sizeof(*entry->value));
    k8s__io__apimachinery__pkg__api__resource__quantity__init(entry->value);
    entry->value->string = text(job, amount);
    container->resources->limits = longer(job, container->resources->limits,
                                          container->resources->n_limits);
    container->resources->limits[container->resources->n_limits++] = entry;
}

void job_annotate(struct job *job, const char *key, const char *value)
{
    Armadaevents__ObjectMeta *meta = job->submit->objectmeta;
    Armadaevents__ObjectMeta__AnnotationsEntry *entry =
        arena_alloc(&job->arena, sizeof(*entry));

    armadaevents__object_meta__annotations_entry__init(entry);
    entry->key = text(job, key);
    entry->value = text(job, value);
    meta->annotations = longer(job, meta->annotations, meta->n_annotations);
    meta->annotations[meta->n_annotations++] = entry;
}

void job_free(struct job *job)
{
    arena_fini(&job->arena);
}
