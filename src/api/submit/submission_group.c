/* The jobs of a group: one for each pod that it may have. */
#include "api/core/message.h"
#include "api/submit/annotations.h"
#include "api/submit/defaults.h"
#include "api/submit/submission_private.h"
#include "api/submit/validate.h"

/* Take the pod spec of a sub-group; what is wrong with it is said with its
 * name. */
static int take_template(struct submission_builder *builder,
                         const struct pod_group *group, uint32_t sub_group,
                         struct pod_use use)
{
    const struct submit_rules *rules = builder->context->rules;
    struct str template = group->templates[sub_group];
    struct str name = group->terms.sub_groups[sub_group].name;
    struct refusal detail;

    int rc = validate_pod_bytes(template, rules, &detail);
    if (rc == 0) {
        struct refusal *outer = builder->refusal;
        builder->refusal = &detail;
        rc = submission_take_pod(builder, template, use);
        builder->refusal = outer;
    }
    return rc == 0 ? 0
                   : refusal_set(builder->refusal,
                                 "podGroup.subGroups[%u] (%.*s): %s", sub_group,
                                 STR_ARG(name), detail.text);
}

/* The class goes for the whole group, as for any gang. */
static int check_class(struct submission_builder *builder,
                       const struct pod_group *group, uint32_t sub_group,
                       struct str first_class)
{
    struct str name = group->terms.sub_groups[sub_group].name;

    if (str_equal(first_class, builder->pod.priority_class)) {
        return 0;
    }
    return refusal_set(builder->refusal,
                       "podGroup.subGroups[%u] (%.*s): priorityClassName %.*s "
                       "is not that of the first sub-group, %.*s; a group has "
                       "one",
                       sub_group, STR_ARG(name),
                       STR_ARG(builder->pod.priority_class),
                       STR_ARG(first_class));
}

/* A few bytes can ask for a great many jobs: stop before they fill the
 * memory. */
static int check_bytes(struct submission_builder *builder)
{
    return builder->command->arena.byte_count <= COMMAND_BYTES_MAX
               ? 0
               : refusal_set(builder->refusal,
                             "the jobs of the request are together larger "
                             "than one record of the log may be, %d bytes",
                             COMMAND_BYTES_MAX);
}

/* The jobs of one sub-group, whose pod spec was taken; `ret_items` is where
 * the group's first job is, or will be. */
static int build_members(struct submission_builder *builder,
                         const Berth__Submission__Item *item,
                         const struct pod_group *group,
                         struct pod_member *member, uint32_t *at,
                         struct submit_item *ret_items)
{
    const struct submit_rules *rules = builder->context->rules;
    const struct gang no_gang = {.cardinality = 1, .minimum = 1};
    uint32_t count = group->terms.sub_groups[member->sub_group].max_count;
    char id[ID_TEXT_BYTES_MAX];

    for (member->index = 0; member->index < count; member->index++) {
        arena_reset(&builder->member);
        member->job = submission_next_job_id(builder);
        if (!member->gang_id.byte_count) {
            member->gang_id = arena_str(&builder->kept,
                                        str_of(job_id_format(member->job, id)));
        }
        Berth__Submission__Item *own =
            pod_group_item(item, group, member, &builder->member);
        if (*at > 0) {
            own->client_id = message_text(STR(""));
        }
        defaults_metadata(own, false, member->job, rules, &builder->member);
        submission_put_digest(builder, own, &no_gang, group, member);
        ret_items[*at] = submission_make_job(builder, own, member->job);
        ret_items[*at].is_further = *at > 0;
        (*at)++;
        if (check_bytes(builder) < 0) {
            return -ERR_INVALID;
        }
    }
    return 0;
}

int submission_put_group(struct submission_builder *builder,
                         const Berth__Submission__Item *item,
                         const struct pod_group *group, struct str gang_id,
                         struct submit_item *ret_items)
{
    struct pod_use use = {annotations_lifetime_ms(item), true};
    struct pod_member member = {
        .gang_id = gang_id,
        .has_gang_label = builder->context->rules->adds_gang_id_label,
    };
    struct str first_class = {0};
    uint32_t at = 0;

    int rc =
        validate_item_rest(item, builder->context->rules, builder->refusal);
    strbuf_clear(&builder->terms);
    gang_terms_pack(&builder->terms, &group->terms);
    for (uint32_t i = 0; i < group->terms.sub_group_count && rc == 0; i++) {
        member.sub_group = i;
        rc = take_template(builder, group, i, use);
        first_class = i ? first_class : builder->pod.priority_class;
        rc = rc ? rc : check_class(builder, group, i, first_class);
        rc = rc ? rc
                : build_members(builder, item, group, &member, &at, ret_items);
    }
    return rc;
}
