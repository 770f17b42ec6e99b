/* Lists gangs with their states. */
#include "control/answer/answers.h"
#include "control/state/inbox.h"
#include "control/state/state.h"
#include "job/table/gang_list.h"

static const char *kind_of(const struct gang_entry *entry)
{
    if (!entry->has_terms) {
        return "gang";
    }
    return entry->group.terms.kind == GANG_POD_GROUP ? "podgroup"
                                                     : "trainingjob";
}

static void fill_parts(const struct group_view *group, struct arena *arena,
                       struct gang_status *ret_row)
{
    const struct gang_terms *terms = &group->terms;

    ret_row->parts = arena_alloc_array(arena, terms->sub_group_count,
                                       sizeof(*ret_row->parts));
    for (uint32_t i = 0; i < terms->sub_group_count; i++) {
        const struct sub_group *from = &terms->sub_groups[i];
        const struct group_count *count = &group->counts[i];
        ASSERT(from->min_count <= from->max_count); /* it was validated */
        ret_row->parts[ret_row->part_count++] = (struct gang_part_status){
            .name = arena_str(arena, from->name),
            .min_count = from->min_count,
            .max_count = from->max_count,
            .waiting_count = count->waiting,
            .running_count = count->running,
            .starting_count = count->starting,
            .succeeded_count = count->succeeded,
            .failed_count = count->failed,
            .is_auxiliary = from->is_auxiliary,
        };
    }
}

static void fill_row(const struct gang_entry *entry, struct arena *arena,
                     struct gang_status *ret_row)
{
    *ret_row = (struct gang_status){
        .queue = arena_str(arena, entry->queue),
        .job_set = arena_str(arena, entry->job_set),
        .gang_id = arena_str(arena, entry->group.gang_id),
        .kind = kind_of(entry),
        .below_since_ms = entry->group.below_since_ms,
    };
    fill_parts(&entry->group, arena, ret_row);
}

void gangs_answer(struct control *c, struct command *command)
{
    struct gang_query query = {
        .queue = command->scope.queue,
        .gang_id = command->gangs.gang_id,
        .after_queue = command->gangs.after_queue,
        .after_gang_id = command->gangs.after_gang_id,
        .after_job = command->gangs.after_job,
        .count_max = command->gangs.count_max,
    };
    struct arena *arena = &command->arena;
    auto_mem uint32_t *indexes =
        mem_alloc_array(query.count_max, sizeof(*indexes));
    uint32_t count =
        gang_list_page(c->jobs, &query, indexes, &command->gangs.has_more);

    command->gangs.rows = arena_alloc_array(arena, (size_t)count + 1,
                                            sizeof(*command->gangs.rows));
    for (uint32_t i = 0; i < count; i++) {
        struct gang_status *row =
            &command->gangs.rows[command->gangs.row_count++];
        struct gang_entry entry;
        gang_list_get(c->jobs, indexes[i], &entry);
        ASSERT(i == 0 || indexes[i] != indexes[i - 1]); /* each once */
        fill_row(&entry, arena, row);
        row->oldest = gang_list_oldest(c->jobs, indexes[i]);
        if (command->gangs.wants_jobs) {
            row->job_count =
                gang_list_members(c->jobs, indexes[i], arena, &row->jobs);
        }
    }
    command_answer(command, COMMAND_OK, "");
}
