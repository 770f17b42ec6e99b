/*
 * process_fixture - a process runtime in a directory of its own, and what the
 * tests of it do all the time.  Whatever goes wrong fails the test.
 */
#pragma once

#include "executor/port/change_queue.h"
#include "executor/process/process.h"
#include "support.h"

struct fixture {
    char *dir;
    struct runtime *runtime;
    struct process_options options; /* changed before fixture_open() */
    struct err info;
    struct change_queue passed_over; /* changes that fixture_try() met */
};

/* A list of arguments. */
#define ARGS(...) ((const char *const[]){__VA_ARGS__, NULL})
/* A test with a fixture. */
#define PROCESS_TEST(name) \
    cmocka_unit_test_setup_teardown(name, fixture_set_up, fixture_tear_down)

/* Make the fixture, with its runtime open. */
int fixture_set_up(void **state);
/* Close and remove it. */
int fixture_tear_down(void **state);
/* Open the runtime, which must not be. */
void fixture_open(struct fixture *fixture);
/* The next change; false: none.  What it points to is valid until the next
 * call of one of these. */
bool fixture_next(struct fixture *fixture, struct runtime_change *ret_change);
/* Begin to create a pod, and how that ended; its text in `ret_text`. */
enum runtime_change_kind fixture_try(struct fixture *fixture, struct job *job,
                                     struct err *ret_text);
/* Create a pod. */
void fixture_create(struct fixture *fixture, struct job *job);
/* Try to create what must be refused; the text of the refusal. */
struct err fixture_refuse(struct fixture *fixture, struct job *job);
/* Wait until the run has come at least to `rank`; its phase. */
enum reconcile_phase fixture_wait(struct fixture *fixture, struct run_id run,
                                  int rank);
/* Wait for its end. */
enum reconcile_phase fixture_wait_end(struct fixture *fixture,
                                      const struct job *job);
/* The pod's status, in the job's arena. */
struct runtime_status fixture_status(struct fixture *fixture, struct job *job);
/* The whole log, times cut off; the caller frees it. */
char *fixture_log(struct fixture *fixture, struct job *job,
                  const char *container);
/* Wait for a file that the job writes when it has come so far. */
void fixture_wait_file(const struct fixture *fixture, struct job *job,
                       const char *name);
/* A file of the job's work directory; the caller frees it. */
char *fixture_work_file(const struct fixture *fixture, struct job *job,
                        const char *name);
enum { FIXTURE_PROCESSES_MAX = 255 }; /* that are counted */
/* How many processes of a run live, of those that the jobs' user may look at:
 * by its id in their environment, since their numbers are those of their
 * namespace. */
int fixture_process_count(const struct job *job);
/* Whether we may look at them ourselves, as the executor does to find what a
 * shim left behind: root without CAP_SYS_PTRACE may not. */
bool fixture_sees_processes(const struct job *job);
