/*
 * granters: who is named to somebody who lacks something.
 */
#include <stdio.h>

#include "api/core/granters.h"
#include "unit.h"

static const struct str staff[] = {{"staff", 5}, {"ops", 3}};
static const struct str ops[] = {{"ops", 3}, {"lab", 3}};

static void a_group_is_named_once(void **state)
{
    (void)state;
    auto_arena arena = {0};
    struct auth_config config = {.administrators = {staff, 2}};
    const struct str *groups;

    config.grants[PERMISSION_CREATE_QUEUE] = (struct permission_grant){ops, 2};
    assert_int_equal(granters_list(&config, &arena, &groups), 3);
    assert_true(str_equal(groups[0], STR("staff")));
    assert_true(str_equal(groups[1], STR("ops")));
    assert_true(str_equal(groups[2], STR("lab")));
}

static void check(const struct auth_config *config, enum queue_verb verb,
                  const char *said)
{
    auto_strbuf text = {0};

    granters_say(config, PERMISSION_SUBMIT_ANY_JOBS, verb, &text);
    assert_string_equal(strbuf_text(&text), said);
}

static void who_can_grant_is_said(void **state)
{
    (void)state;
    struct auth_config config = {0};

    check(&config, VERB_NONE,
          "; the operator of the server can grant it in "
          "auth.permissionGroupMapping.submit_any_jobs");
    check(
        &config, VERB_SUBMIT,
        "; the operator of the server can grant the verb submit on the queue");
    config.administrators = (struct permission_grant){staff, 2};
    check(&config, VERB_SUBMIT,
          "; members of staff, ops can grant the verb submit on the queue");
}

static void a_long_list_is_cut(void **state)
{
    (void)state;
    struct str many[GRANTERS_SAID_MAX + 1];
    char names[GRANTERS_SAID_MAX + 1][4];
    auto_strbuf text = {0};

    for (int i = 0; i <= GRANTERS_SAID_MAX; i++) {
        snprintf(names[i], sizeof(names[i]), "g%d", i);
        many[i] = str_of(names[i]);
    }
    struct auth_config config = {
        .administrators = {many, GRANTERS_SAID_MAX + 1}};
    granters_say(&config, PERMISSION_SUBMIT_ANY_JOBS, VERB_SUBMIT, &text);
    assert_non_null(strstr(strbuf_text(&text), "g7, ... can grant"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_group_is_named_once),
        TEST(who_can_grant_is_said),
        TEST(a_long_list_is_cut),
    };

    return RUN_TESTS(tests);
}
