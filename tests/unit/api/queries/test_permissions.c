/*
 * permissions: the table of methods as it is printed, and as it is kept.
 */
#include "api_fixture.h"
#include "berth/api.pb-c.h"
#include "unit.h"

static Berth__Api__GetPermissionsResponse *ask(struct fixture *f)
{
    Berth__Api__GetPermissionsRequest request =
        BERTH__API__GET_PERMISSIONS_REQUEST__INIT;

    return fixture_call(f, "/berth.api.Berth/GetPermissions", &request.base,
                        &berth__api__get_permissions_response__descriptor);
}

static const Berth__Api__MethodPermission *
row_of(const Berth__Api__GetPermissionsResponse *response, const char *method)
{
    for (size_t i = 0; i < response->n_methods; i++) {
        if (strcmp(response->methods[i]->method, method) == 0) {
            return response->methods[i];
        }
    }
    return NULL;
}

/* Each method of the server has its row, whoever asks. */
static void every_method_has_a_row(void **state)
{
    Berth__Api__GetPermissionsResponse *response;
    struct fixture f;
    uint32_t count;

    (void)state;
    fixture_init(&f);
    fixture_start(&f);
    response = ask(&f);
    assert_non_null(response);
    const struct rpc_method *methods = api_methods(f.api, &count);
    assert_int_equal(response->n_methods, count);
    for (uint32_t i = 0; i < count; i++) {
        assert_non_null(row_of(response, methods[i].path + 1));
    }
    assert_string_equal(response->user, "anonymous");
    assert_int_equal(response->n_groups, 2); /* the other is uid:N */
    assert_string_equal(response->groups[0], "everyone");
    fixture_fini(&f);
}

/* A row says what is needed, who has it, and whether that is the caller. */
static void a_row_tells_who_may(void **state)
{
    static const struct str operators[] = {{"operators", 9}, {"staff", 5}};
    const Berth__Api__MethodPermission *row;
    Berth__Api__GetPermissionsResponse *response;
    struct fixture f;

    (void)state;
    fixture_init(&f);
    f.config.auth.grants[PERMISSION_BACKUP] =
        (struct permission_grant){operators, 2};
    fixture_start(&f);
    response = ask(&f);
    assert_non_null(response);
    row = row_of(response, "berth.api.Berth/Backup");
    assert_string_equal(row->permission, "backup");
    assert_string_equal(row->verb, "");
    assert_string_equal(row->scope, "server");
    assert_int_equal(row->n_groups, 2);
    assert_string_equal(row->groups[1], "staff");
    assert_false(row->allowed);
    row = row_of(response, "api.Submit/SubmitJobs");
    assert_string_equal(row->permission, "submit_any_jobs");
    assert_string_equal(row->verb, "submit");
    assert_string_equal(row->scope, "queue");
    assert_true(row->allowed);
    fixture_fini(&f);
}

/* A method either needs a permission, or tells of no job: so says its row. */
static void scope_and_permission_agree(void **state)
{
    Berth__Api__GetPermissionsResponse *response;
    struct fixture f;

    (void)state;
    fixture_init(&f);
    fixture_start(&f);
    response = ask(&f);
    assert_non_null(response);
    for (size_t i = 0; i < response->n_methods; i++) {
        const Berth__Api__MethodPermission *row = response->methods[i];
        bool is_by_queue =
            strcmp(row->scope, "queue") == 0 || strcmp(row->scope, "jobs") == 0;
        assert_int_equal(strcmp(row->scope, "anyone") == 0,
                         *row->permission == '\0');
        assert_int_equal(is_by_queue, *row->verb != '\0');
    }
    fixture_fini(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(every_method_has_a_row),
        TEST(a_row_tells_who_may),
        TEST(scope_and_permission_agree),
    };

    return RUN_TESTS(tests);
}
