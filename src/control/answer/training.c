/* TrainingJobs, and how they stand. */
#include "control/answer/answers.h"
#include "control/state/inbox.h"
#include "control/state/state.h"

static void fill_row(const struct training_view *view, struct arena *arena,
                     struct training_row *ret_row)
{
    *ret_row = (struct training_row){
        .encoded = arena_str(arena, view->encoded),
        .phase = training_phase_name(view->phase),
        .reason = arena_str(arena, view->reason),
        .created_ms = view->created_ms,
        .started_ms = view->started_ms,
        .completed_ms = view->completed_ms,
        .part_count = view->part_count,
    };
    ASSERT(view->part_count <= TRAINING_ROW_PARTS_MAX); /* a row has them all */
    for (uint32_t i = 0; i < view->part_count; i++) {
        ret_row->parts[i].type = arena_str(arena, view->parts[i].type);
        ret_row->parts[i].min_count = view->parts[i].min_count;
        memcpy(ret_row->parts[i].counts, view->parts[i].counts,
               sizeof(ret_row->parts[i].counts));
    }
}

void training_answer(struct control *c, struct command *command)
{
    struct training_query query = {
        .queue = command->scope.queue,
        .name = command->training.name,
        .after_queue = command->training.after_queue,
        .after_name = command->training.after_name,
        .count_max = command->training.count_max,
    };
    auto_mem uint32_t *indexes =
        mem_alloc_array(query.count_max, sizeof(*indexes));
    uint32_t count = training_page(c->training, &query, indexes,
                                   &command->training.has_more);

    _Static_assert(TRAINING_ROW_PARTS_MAX == (int)TRAINING_PARTS_MAX &&
                       TRAINING_POD_KINDS == (int)TRAINING_POD_STATES,
                   "the rows that are answered are those of the table");
    ASSERT(count <= query.count_max); /* a page */
    command->training.rows = arena_alloc_array(
        &command->arena, (size_t)count + 1, sizeof(struct training_row));
    for (uint32_t i = 0; i < count; i++) {
        struct training_view view;
        training_get(c->training, indexes[i], &view);
        fill_row(&view, &command->arena,
                 &command->training.rows[command->training.row_count++]);
    }
    command_answer(command, COMMAND_OK, "");
}
