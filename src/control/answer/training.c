/* Lists TrainingJobs with their states. */
#include "control/answer/answers.h"
#include "control/state/inbox.h"
#include "control/state/state.h"
#include "job/table/named_groups.h"

static void fill_row(const struct named_group_view *view, struct arena *arena,
                     struct training_row *ret_row)
{
    *ret_row = (struct training_row){
        .encoded = arena_str(arena, view->encoded),
        .phase = group_phase_name(view->phase),
        .reason = arena_str(arena, view->reason),
        .created_ms = view->created_ms,
        .started_ms = view->started_ms,
        .completed_ms = view->completed_ms,
        .part_count = view->sub_group_count,
    };
    ASSERT(view->sub_group_count <= SUB_GROUPS_MAX);
    ret_row->parts = arena_alloc_array(arena, view->sub_group_count + 1,
                                       sizeof(*ret_row->parts));
    for (uint32_t i = 0; i < view->sub_group_count; i++) {
        const struct group_count *count = &view->counts[i];
        ret_row->parts[i] = (struct gang_part_status){
            .min_count = view->min_counts[i],
            .max_count = view->max_counts[i],
            .waiting_count = count->waiting,
            .starting_count = count->starting,
            .running_count = count->running,
            .succeeded_count = count->succeeded,
            .failed_count = count->failed,
        };
    }
}

void training_answer(struct control *c, struct command *command)
{
    struct named_group_query query = {
        .queue = command->scope.queue,
        .name = command->training.name,
        .after_queue = command->training.after_queue,
        .after_name = command->training.after_name,
        .count_max = command->training.count_max,
    };
    auto_mem uint32_t *indexes =
        mem_alloc_array(query.count_max, sizeof(*indexes));
    uint32_t count = named_groups_page(c->jobs, &query, indexes,
                                       &command->training.has_more);

    ASSERT(count <= query.count_max); /* a page */
    command->training.rows = arena_alloc_array(
        &command->arena, (size_t)count + 1, sizeof(struct training_row));
    for (uint32_t i = 0; i < count; i++) {
        struct named_group_view view;
        named_group_get(c->jobs, indexes[i], &view);
        fill_row(&view, &command->arena,
                 &command->training.rows[command->training.row_count++]);
    }
    command_answer(command, COMMAND_OK, "");
}
