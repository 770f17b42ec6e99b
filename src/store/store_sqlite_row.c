#include "store/store_sqlite_row.h"

static struct str text(sqlite3_stmt *row, int column, struct arena *arena)
{
    return arena_str(arena, sq_column_str(row, column));
}

struct job_row store_job_row(sqlite3_stmt *row, struct arena *arena)
{
    return (struct job_row){
        .job =
            {
                .id.v = store_id_column(row, 0),
                .namespace_ = text(row, 3, arena),
                .owner = text(row, 4, arena),
                .external_job_uri = text(row, 5, arena),
                .submitted_ms = sqlite3_column_int64(row, 6),
                .state = (enum stored_job_state)sqlite3_column_int(row, 7),
                .priority = (uint32_t)sqlite3_column_int64(row, 8),
                .last_transition_ms = sqlite3_column_int64(row, 9),
                .cancelled_ms = sqlite3_column_int64(row, 11),
                .cancel_reason = text(row, 12, arena),
                .cancel_user = text(row, 13, arena),
                .latest_run.v = store_id_column(row, 14),
                .run_count = (uint32_t)sqlite3_column_int64(row, 15),
                .error = text(row, 17, arena),
                .queue = text(row, 18, arena),
                .job_set = text(row, 19, arena),
                .core_milli = sqlite3_column_int64(row, 20),
                .gpu_milli = sqlite3_column_int64(row, 21),
            },
        .number = sqlite3_column_int64(row, 1),
        .set_key = sqlite3_column_int64(row, 2),
        .array = sqlite3_column_int64(row, 22),
        .ended_ms = sqlite3_column_int64(row, 10),
        .pool = text(row, 16, arena),
        .request = {.core_milli = sqlite3_column_int64(row, 20),
                    .gpu_milli = sqlite3_column_int64(row, 21)},
    };
}

struct run_row store_run_row(sqlite3_stmt *row, struct arena *arena)
{
    return (struct run_row){
        .run =
            {
                .id.v = store_id_column(row, 2),
                .job.v = store_id_column(row, 3),
                .state = (enum stored_run_state)sqlite3_column_int(row, 4),
                .cluster = text(row, 5, arena),
                .node = text(row, 6, arena),
                .pool = text(row, 7, arena),
                .leased_ms = sqlite3_column_int64(row, 8),
                .pending_ms = sqlite3_column_int64(row, 9),
                .started_ms = sqlite3_column_int64(row, 10),
                .finished_ms = sqlite3_column_int64(row, 11),
                .exit_code = sqlite3_column_int(row, 12),
                .error = text(row, 13, arena),
                .debug = text(row, 14, arena),
                .ingress = text(row, 15, arena),
            },
        .job_number = sqlite3_column_int64(row, 0),
        .index = (uint32_t)sqlite3_column_int64(row, 1),
    };
}
