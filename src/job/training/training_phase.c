/* The phase of a TrainingJob, by how its pods stand. */
#include "job/training/training_private.h"

const char *training_phase_name(enum training_phase phase)
{
    static const char *const names[] = {
        [TRAINING_NEW] = "",
        [TRAINING_CREATING] = "creating",
        [TRAINING_RUNNING] = "running",
        [TRAINING_SCALING] = "scaling",
        [TRAINING_SUCCEEDED] = "succeeded",
        [TRAINING_FAILED] = "failed",
    };

    return names[phase];
}

static uint32_t live_in(const struct training_part *part)
{
    return part->counts[TRAINING_POD_WAITING] +
           part->counts[TRAINING_POD_STARTING] +
           part->counts[TRAINING_POD_RUNNING];
}

/* How the trainers have ended, or TRAINING_NEW while they have not. */
static enum training_phase outcome_of(const struct training_entry *row)
{
    uint32_t succeeded = 0, failed = 0, live = 0, cancelled = 0;

    for (uint32_t i = 0; i < row->part_count; i++) {
        const struct training_part *part = &row->parts[i];
        if (part->is_trainer) {
            succeeded += part->counts[TRAINING_POD_SUCCEEDED];
            failed += part->counts[TRAINING_POD_FAILED];
            cancelled += part->counts[TRAINING_POD_CANCELLED];
            live += live_in(part);
        }
    }
    if (!row->is_fault_tolerant && failed > 0) {
        return TRAINING_FAILED;
    }
    if (live > 0) {
        return TRAINING_NEW;
    }
    bool is_good = row->is_fault_tolerant ? succeeded > 0
                                          : succeeded > 0 && cancelled == 0;
    return is_good ? TRAINING_SUCCEEDED : TRAINING_FAILED;
}

/* Whether a component has what it needs: what has ended is not missed, but
 * for a failure that the whole does not survive. */
static bool is_ready(const struct training_entry *row,
                     const struct training_part *part)
{
    uint32_t count = part->counts[TRAINING_POD_RUNNING] +
                     part->counts[TRAINING_POD_SUCCEEDED];

    if (row->is_fault_tolerant && part->is_trainer) {
        count += part->counts[TRAINING_POD_FAILED];
    }
    return count >= part->min_count;
}

enum training_phase training_phase_of(const struct training_entry *row)
{
    enum training_phase outcome = TRAINING_FAILED;
    bool is_whole = true, is_new = true, is_starting = false;

    if (row->reason[0]) {
        return TRAINING_FAILED;
    }
    outcome = outcome_of(row);
    if (outcome != TRAINING_NEW) {
        return outcome;
    }
    for (uint32_t i = 0; i < row->part_count; i++) {
        const struct training_part *part = &row->parts[i];
        is_whole &= is_ready(row, part);
        is_new &= part->counts[TRAINING_POD_WAITING] == part->max_count;
        is_starting |= part->counts[TRAINING_POD_STARTING] > 0;
    }
    if (is_new) {
        return TRAINING_NEW;
    }
    if (!is_whole) {
        return TRAINING_CREATING;
    }
    return row->is_scaling && is_starting ? TRAINING_SCALING : TRAINING_RUNNING;
}
