/* Updates a named group when its gang changes. */
#include "job/table/jobs_private.h"
#include "job/table/named_groups.h"

void named_group_over(struct jobs *jobs, const struct named_group *row)
{
    struct named_groups *named = &jobs->named;

    ASSERT(named->over_count < named->count);
    named->over_count++;
    named->over_byte_count += row->byte_count;
    ASSERT(named->over_byte_count <= named->byte_count);
    if (named->over_count == 1 || row->completed_ms < named->completed_ms_min) {
        named->completed_ms_min = row->completed_ms;
    }
}

void named_group_refresh(struct jobs *jobs, struct named_group *row,
                         int64_t now_ms)
{
    enum group_phase phase = named_group_phase(row);

    if (phase == PHASE_RUNNING) {
        row->is_scaling = false;
        row->started_ms = row->started_ms ? row->started_ms : now_ms;
    }
    if (phase >= PHASE_SUCCEEDED && row->completed_ms == 0) {
        row->completed_ms = now_ms ? now_ms : 1; /* a foreign log's */
        named_group_over(jobs, row);
    }
}

void named_group_touch(struct jobs *jobs, const struct group *group)
{
    if (group->name != JOBS_NONE) {
        VEC_PUSH(&jobs->named.touched, group->name);
    }
}

void named_groups_settle(struct jobs *jobs, int64_t now_ms)
{
    for (size_t i = 0; i < jobs->named.touched.count; i++) {
        struct named_group *row =
            &jobs->named.rows.items[jobs->named.touched.items[i]];
        if (row->queue) {
            named_group_refresh(jobs, row, now_ms);
        }
    }
    jobs->named.touched.count = 0;
}

void named_group_scaled(struct jobs *jobs, uint32_t gang)
{
    const struct group *group = jobs->gang_rows.items[gang].group;

    if (group && group->name != JOBS_NONE) {
        jobs->named.rows.items[group->name].is_scaling = true;
    }
}

void named_group_failed(struct jobs *jobs, const struct group *group,
                        uint32_t sub_group, struct job_id job,
                        struct str message)
{
    struct named_group *row =
        group->name == JOBS_NONE ? NULL : &jobs->named.rows.items[group->name];
    bool is_main = !group->parts[sub_group].is_auxiliary;
    struct job_digest digest = {0};
    struct gang_terms terms;
    auto_strbuf text = {0};
    char id[ID_TEXT_BYTES_MAX];

    if (!row || (row->failure && (row->has_main_failure || !is_main))) {
        return;
    }
    jobs_gang_get(jobs, row->gang, &digest);
    int rc = gang_terms_unpack(digest.gang_terms, &terms);
    ASSERT(rc == 0); /* the group was made of them */
    strbuf_addf(&text, "%.*s %s failed: %.*s",
                STR_ARG(terms.sub_groups[sub_group].name),
                job_id_format(job, id), STR_ARG(message));
    struct str cut = strbuf_str(&text);
    if (cut.byte_count > NAMED_GROUP_REASON_BYTES_MAX) {
        cut.byte_count = NAMED_GROUP_REASON_BYTES_MAX;
        while (((uint8_t)cut.p[cut.byte_count] & 0xc0) == 0x80) {
            cut.byte_count--; /* not inside a character */
        }
    }
    mem_free(row->failure);
    row->failure = str_dup(cut);
    row->has_main_failure = is_main;
}

void named_group_adopt(struct jobs *jobs, uint32_t gang)
{
    struct gang_row *gang_row = &jobs->gang_rows.items[gang];
    uint32_t index = gang_row->of_id < jobs->named.by_gang_id.count
                         ? jobs->named.by_gang_id.items[gang_row->of_id]
                         : JOBS_NONE;
    struct str key = jobs_gang_key(jobs, gang);

    if (index == JOBS_NONE || !gang_row->group) {
        return;
    }
    struct named_group *row = &jobs->named.rows.items[index];
    if (row->gang != JOBS_NONE ||
        (row->gang_key &&
         !str_equal(key, str_make(row->gang_key, row->gang_key_bytes)))) {
        return;
    }
    if (row->group) {
        group_take_ended(gang_row->group, row->group);
        mem_free(row->group);
    }
    if (!row->gang_key) {
        row->gang_key = mem_dup(key.p, key.byte_count);
        row->gang_key_bytes = key.byte_count;
    }
    row->group = gang_row->group;
    row->group->name = index;
    row->gang = gang;
}

void named_group_leave(struct jobs *jobs, struct gang_row *gang_row)
{
    struct group *group = gang_row->group;

    if (group && group->name != JOBS_NONE) {
        jobs->named.rows.items[group->name].gang = JOBS_NONE;
    } else {
        mem_free(group);
    }
    gang_row->group = NULL;
}
