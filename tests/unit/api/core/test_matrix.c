/*
 * matrix - who may call what: every method, by six kinds of callers and one
 * without credentials, on their own queue and on a foreign one; and that each
 * permission and each verb is enough for its methods, and for no others.
 */
#include "matrix.h"
#include "unit.h"

/* Whether a caller is meant to be let. */
static bool is_meant(enum who who, const char *caller, bool is_own)
{
    bool is_permitted =
        strcmp(caller, "root") == 0 || strcmp(caller, "granted") == 0;
    bool is_owner = is_own && strcmp(caller, "owner") == 0;

    switch (who) {
    case ANYBODY:
        return true;
    case PERMITTED:
        return is_permitted;
    case EXECUTORS:
        return is_permitted || strcmp(caller, "cluster") == 0;
    case ACTORS:
    case ENTRANTS:
        return is_permitted || is_owner;
    case VIEWERS:
    case SEERS:
        break;
    }
    return is_permitted || is_owner ||
           (is_own && strcmp(caller, "reader") == 0);
}

/* `caller` NULL: without credentials. */
static void check_cell(struct matrix *m, const struct matrix_row *row,
                       const char *caller, int which, bool is_meant)
{
    struct outcome outcome;

    if (matrix_lets(m, row, caller, which, &outcome) != is_meant) {
        fail_msg("%s by %s on %s queue: %s, %d %s", row->path,
                 caller ? caller : "anonymous",
                 which == MATRIX_OWN ? "its own" : "a foreign",
                 is_meant ? "not let" : "let", outcome.code, outcome.message);
    }
}

static void each_cell_is_as_meant(void **state)
{
    static const char *const callers[] = {
        "root", "granted", "owner", "reader", "cluster", "stranger", NULL};
    struct matrix m;

    (void)state;
    matrix_start(&m);
    for (size_t i = 0; i < matrix_row_count; i++) {
        const struct matrix_row *row = &matrix_rows[i];
        for (size_t c = 0; c < ARRAY_COUNT(callers); c++) {
            for (int which = 0; which < MATRIX_UNKNOWN; which++) {
                check_cell(&m, row, callers[c], which,
                           is_meant(row->who, callers[c] ? callers[c] : "",
                                    which == MATRIX_OWN));
            }
        }
    }
    matrix_end(&m);
}

/* A method that asks for another permission than it should is found. */
static void each_permission_is_enough_for_its_methods_only(void **state)
{
    struct matrix m;

    (void)state;
    matrix_start(&m);
    for (size_t i = 0; i < matrix_row_count; i++) {
        const struct matrix_row *row = &matrix_rows[i];
        for (int p = PERMISSION_NONE + 1; p < PERMISSION_COUNT; p++) {
            check_cell(&m, row, matrix_permitted((enum permission)p),
                       MATRIX_FOREIGN,
                       row->who == ANYBODY || (int)row->permission == p);
        }
    }
    matrix_end(&m);
}

static void each_verb_is_enough_for_its_methods_on_its_queue_only(void **state)
{
    struct matrix m;

    (void)state;
    matrix_start(&m);
    for (size_t i = 0; i < matrix_row_count; i++) {
        const struct matrix_row *row = &matrix_rows[i];
        for (int verb = VERB_NONE + 1; verb < VERB_COUNT; verb++) {
            const char *caller = matrix_allowed((enum queue_verb)verb);
            check_cell(&m, row, caller, MATRIX_OWN,
                       row->who == ANYBODY || (int)row->verb == verb);
            check_cell(&m, row, caller, MATRIX_FOREIGN, row->who == ANYBODY);
        }
    }
    matrix_end(&m);
}

/* Whoever adds a method says here who may call it. */
static void each_method_is_in_the_matrix(void **state)
{
    struct matrix m;
    uint32_t count;

    (void)state;
    matrix_start(&m);
    const struct rpc_method *methods = api_methods(m.f.api, &count);
    for (uint32_t i = 0; i < count; i++) {
        bool is_there = false;
        for (size_t r = 0; r < matrix_row_count && !is_there; r++) {
            is_there = strcmp(matrix_rows[r].path, methods[i].path) == 0;
        }
        if (!is_there) {
            fail_msg("%s has no row", methods[i].path);
        }
    }
    assert_int_equal(count, matrix_row_count);
    matrix_end(&m);
}

/* Without anonymous access there is nobody without credentials. */
static void nobody_is_let_without_credentials(void **state)
{
    struct matrix m = {0};

    (void)state;
    fixture_init(&m.f);
    m.f.config.auth.is_anonymous_allowed = false;
    fixture_start(&m.f);
    for (size_t i = 0; i < matrix_row_count; i++) {
        struct outcome outcome =
            matrix_call(&m, &matrix_rows[i], NULL, MATRIX_UNKNOWN);
        assert_int_equal(outcome.code, RPC_UNAUTHENTICATED);
    }
    matrix_end(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(each_cell_is_as_meant),
        TEST(each_permission_is_enough_for_its_methods_only),
        TEST(each_verb_is_enough_for_its_methods_on_its_queue_only),
        TEST(each_method_is_in_the_matrix),
        TEST(nobody_is_let_without_credentials),
    };

    return RUN_TESTS(tests);
}
