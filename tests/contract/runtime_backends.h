/*
 * runtime_backends - what the suites of several runtimes share: how process and
 * fake are opened, which jobs they run, and how time passes on the machine.
 */
#pragma once

#include "runtime_contract.h"

/* Open process in the directory `dir`; as helper_options.open. */
int backend_open_process(void *dir, struct runtime **ret_runtime,
                         struct err *ret_info, struct err *err) must_check;
/* Open fake, whose jobs take some 10 ms; `ctx` is not used. */
int backend_open_fake(void *ctx, struct runtime **ret_runtime,
                      struct err *ret_info, struct err *err) must_check;

/* As runtime_contract.make_job. */
void backend_make_process_job(struct job *job, int number,
                              enum contract_program program);
void backend_make_fake_job(struct job *job, int number,
                           enum contract_program program);

/* As runtime_contract.wait, by the machine's clock. */
void backend_wait(void *place, struct runtime *runtime);
