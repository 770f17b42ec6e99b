/*
 * commands - what each command of berthctl does, and what one command's file
 * does for another's.
 *
 * Threads: berthctl's only one.
 */
#pragma once

#include "cli/shared/check.h"
#include "cli/shared/command.h"

struct submission;

/* Submit every TrainingJob of a file's text, or only check them
 * (--dry-run). */
enum cli_exit submit_training_jobs(struct cli *cli, struct str text);

/* The jobs of a gang or group of pods that have not ended; there must be one
 * of that id. */
enum cli_exit groups_jobs(struct cli *cli, const char *id,
                          struct cli_names *ret_jobs);

/* Submit the jobs of a file that was read, and say what became of them. */
enum cli_exit submit_jobs(struct cli *cli, struct submission *submission);

/* Show what a job prints until it has ended, with the times of --timestamps:
 * the exit code of the job (CLI_JOB_FAILED if it failed without one), or how
 * following failed. */
enum cli_exit logs_follow(struct cli *cli, const char *job_id);

/* Read a priority: a whole number that is not negative.  CLI_USAGE, having said
 * so. */
enum cli_exit job_priority(struct cli *cli, const char *text,
                           double *ret_priority);

/* Whether the arguments are not those of armadactl's form, which are so many
 * and begin with a queue. */
bool selected_is_meant(const struct cli *cli, int armada_count);
/* Cancel, preempt or reprioritize the jobs that the arguments name by their ids
 * alone, or that options select.  The codes are those of
 * check_jobs_after(). */
enum cli_exit selected_act(struct cli *cli, enum check_verb verb);

/* The commands themselves, by file. */
enum cli_exit cmd_submit(struct cli *cli);
enum cli_exit cmd_watch(struct cli *cli);
enum cli_exit cmd_wait(struct cli *cli);
enum cli_exit cmd_run(struct cli *cli);
enum cli_exit cmd_cancel_job(struct cli *cli);
enum cli_exit cmd_hold_job(struct cli *cli);
enum cli_exit cmd_release_job(struct cli *cli);
enum cli_exit cmd_cancel_job_set(struct cli *cli);
enum cli_exit cmd_cancel_executor(struct cli *cli);
enum cli_exit cmd_cancel_node(struct cli *cli);
enum cli_exit cmd_cancel_queues(struct cli *cli);
enum cli_exit cmd_preempt_job(struct cli *cli);
enum cli_exit cmd_preempt_executor(struct cli *cli);
enum cli_exit cmd_preempt_node(struct cli *cli);
enum cli_exit cmd_preempt_queues(struct cli *cli);
enum cli_exit cmd_reprioritize_job(struct cli *cli);
enum cli_exit cmd_reprioritize_job_set(struct cli *cli);
enum cli_exit cmd_what_if(struct cli *cli);
enum cli_exit cmd_completion(struct cli *cli);
enum cli_exit cmd_apply(struct cli *cli);
enum cli_exit cmd_create(struct cli *cli);
enum cli_exit cmd_create_queue(struct cli *cli);
enum cli_exit cmd_update_queue(struct cli *cli);
enum cli_exit cmd_delete_queue(struct cli *cli);
enum cli_exit cmd_get_queue(struct cli *cli);
enum cli_exit cmd_get_queues(struct cli *cli);
enum cli_exit cmd_cordon_queues(struct cli *cli);
enum cli_exit cmd_uncordon_queues(struct cli *cli);
enum cli_exit cmd_cordon_executor(struct cli *cli);
enum cli_exit cmd_uncordon_executor(struct cli *cli);
enum cli_exit cmd_cordon_node(struct cli *cli);
enum cli_exit cmd_uncordon_node(struct cli *cli);
enum cli_exit cmd_delete_executor(struct cli *cli);
enum cli_exit cmd_create_pool(struct cli *cli);
enum cli_exit cmd_edit_pool(struct cli *cli);
enum cli_exit cmd_delete_pool(struct cli *cli);
enum cli_exit cmd_get_pools(struct cli *cli);
enum cli_exit cmd_create_periodic(struct cli *cli);
enum cli_exit cmd_update_periodic(struct cli *cli);
enum cli_exit cmd_suspend_periodic(struct cli *cli);
enum cli_exit cmd_resume_periodic(struct cli *cli);
enum cli_exit cmd_delete_periodic(struct cli *cli);
enum cli_exit cmd_get_periodic(struct cli *cli);
enum cli_exit cmd_create_window(struct cli *cli);
enum cli_exit cmd_update_window(struct cli *cli);
enum cli_exit cmd_delete_window(struct cli *cli);
enum cli_exit cmd_get_windows(struct cli *cli);
enum cli_exit cmd_create_retry_policy(struct cli *cli);
enum cli_exit cmd_update_retry_policy(struct cli *cli);
enum cli_exit cmd_delete_retry_policy(struct cli *cli);
enum cli_exit cmd_get_retry_policy(struct cli *cli);
enum cli_exit cmd_get_retry_policies(struct cli *cli);
enum cli_exit cmd_get_scheduling_report(struct cli *cli);
enum cli_exit cmd_get_queue_report(struct cli *cli);
enum cli_exit cmd_get_job_report(struct cli *cli);
enum cli_exit cmd_get_jobs(struct cli *cli);
enum cli_exit cmd_get_job_sets(struct cli *cli);
enum cli_exit cmd_report_jobs(struct cli *cli);
enum cli_exit cmd_report_usage(struct cli *cli);
enum cli_exit cmd_get_pod_groups(struct cli *cli);
enum cli_exit cmd_get_nodes(struct cli *cli);
enum cli_exit cmd_get_executors(struct cli *cli);
enum cli_exit cmd_quarantine_node(struct cli *cli);
enum cli_exit cmd_release_node(struct cli *cli);
enum cli_exit cmd_get_shares(struct cli *cli);
enum cli_exit cmd_get_permissions(struct cli *cli);
enum cli_exit cmd_whoami(struct cli *cli);
enum cli_exit cmd_can_i(struct cli *cli);
enum cli_exit cmd_hash_password(struct cli *cli);
enum cli_exit cmd_get_apps(struct cli *cli);
enum cli_exit cmd_get_training_jobs(struct cli *cli);
enum cli_exit cmd_update_training_job(struct cli *cli);
enum cli_exit cmd_delete_training_job(struct cli *cli);
enum cli_exit cmd_explain(struct cli *cli);
enum cli_exit cmd_logs(struct cli *cli);
enum cli_exit cmd_exec(struct cli *cli);
enum cli_exit cmd_get_files(struct cli *cli);
enum cli_exit cmd_get_objects(struct cli *cli);
enum cli_exit cmd_cp(struct cli *cli);
enum cli_exit cmd_backup(struct cli *cli);
enum cli_exit cmd_config_use_context(struct cli *cli);
enum cli_exit cmd_config_get_contexts(struct cli *cli);
enum cli_exit cmd_config_current_context(struct cli *cli);
enum cli_exit cmd_version(struct cli *cli);
enum cli_exit cmd_schema(struct cli *cli);
