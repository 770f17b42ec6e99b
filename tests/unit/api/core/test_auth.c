/*
 * Who calls, and what they may do (armada-api.md 4).
 */
#include "api/core/auth.h"
#include "unit.h"
#include "wire/text/password.h"

static const struct str staff[] = {{"staff", 5}};
static const struct basic_user users[] = {
    {.name = {"amy", 3},
     .password = {"secret", 6},
     .groups = staff,
     .group_count = 1},
    {.name = {"bob", 3},
     .password = {"a:b", 3},
     .groups = NULL,
     .group_count = 0},
};

/* The name that credentials give, NULL when they are refused. */
static const char *name_of(const struct auth_config *config,
                           const char *authorization, struct arena *arena)
{
    struct principal principal;
    struct auth auth;
    struct err err;

    auth_init(&auth, config, 1);
    struct auth_claim claim = {.authorization = str_of(authorization)};
    int rc = auth_authenticate(&auth, &claim, arena, &principal, &err);
    auth_fini(&auth);
    if (rc < 0) {
        assert_true(err.text[0] != '\0');
        return NULL;
    }
    return arena_strdup(arena, principal.name);
}

static void test_basic(void **state)
{
    auto_arena arena = {0};
    struct auth_config config = {.users = users, .user_count = 2};

    (void)state;
    assert_string_equal(name_of(&config, "Basic YW15OnNlY3JldA==", &arena),
                        "amy");
    assert_string_equal(name_of(&config, "bAsIc   YW15OnNlY3JldA", &arena),
                        "amy");
    /* Only the first colon parts name and password. */
    assert_string_equal(name_of(&config, "basic Ym9iOmE6Yg==", &arena), "bob");
    assert_null(name_of(&config, "basic YW15OnNlY3JldHM=", &arena));
    assert_null(name_of(&config, "basic YW15OnNlY3Jl", &arena));
    assert_null(name_of(&config, "basic YW15", &arena));
    assert_null(name_of(&config, "basic !", &arena));
    assert_null(name_of(&config, "Bearer x", &arena));
    assert_null(name_of(&config, NULL, &arena));
}

/* By its hash a password is known as well, again and again; and one that was
 * right lets no other be. */
static void test_hashed_passwords(void **state)
{
    static const struct {
        const char *authorization;
        bool is_right;
    } rows[] = {
        {"Basic YW15OnNlY3JldA==", true},  /* amy:secret */
        {"Basic YW15OnNlY3JldHM=", false}, /* amy:secrets */
        {"Basic YW15OnNlY3JldA==", true},  {"Basic YW15Og==", false}, /* amy: */
        {"Basic Ym9iOnNlY3JldA==", false}, /* bob:secret */
    };
    auto_arena arena = {0};
    char hash[PASSWORD_HASH_BYTES_MAX];
    struct principal principal;
    struct auth auth;
    struct err err;

    (void)state;
    assert_int_equal(password_hash(STR("secret"), hash, &err), 0);
    struct basic_user amy = {.name = STR("amy"), .password_hash = str_of(hash)};
    struct auth_config config = {.users = &amy, .user_count = 1};
    auth_init(&auth, &config, 1);
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        struct auth_claim claim = {.authorization =
                                       str_of(rows[i].authorization)};
        int rc = auth_authenticate(&auth, &claim, &arena, &principal, &err);
        assert_int_equal(rc == 0, rows[i].is_right);
    }
    auth_fini(&auth);
}

/* After some wrong passwords an address has to wait, and others do not; who was
 * right before need not. */
static void test_wrong_passwords_are_slowed(void **state)
{
    struct auth_claim right = {.authorization = STR("Basic YW15OnNlY3JldA=="),
                               .address = STR("a")};
    struct auth_claim wrong = {.authorization = STR("Basic YW15OnNlY3JldHM="),
                               .address = STR("a")};
    auto_arena arena = {0};
    char hash[PASSWORD_HASH_BYTES_MAX];
    struct principal principal;
    struct auth auth;
    struct err err;

    (void)state;
    assert_int_equal(password_hash(STR("secret"), hash, &err), 0);
    struct basic_user some[] = {
        {.name = STR("amy"), .password_hash = str_of(hash)},
        {.name = STR("bob"), .password = STR("b")}};
    struct auth_config config = {.users = some, .user_count = 2};
    auth_init(&auth, &config, 1);
    assert_int_equal(auth_authenticate(&auth, &right, &arena, &principal, &err),
                     0);
    for (int i = 0; i < ATTEMPTS_BURST; i++) {
        assert_int_equal(
            auth_authenticate(&auth, &wrong, &arena, &principal, &err),
            -ERR_INVALID);
        assert_true(str_equal(principal.claimed, STR("amy")));
        assert_int_equal(principal.name.byte_count, 0);
    }
    assert_int_equal(auth_authenticate(&auth, &wrong, &arena, &principal, &err),
                     -ERR_LIMIT);
    assert_true(str_equal(principal.claimed, STR("amy")));
    assert_non_null(strstr(err.text, "try again in"));
    assert_int_equal(auth_authenticate(&auth, &right, &arena, &principal, &err),
                     0);
    /* bob was never here before. */
    right.authorization = STR("Basic Ym9iOmI=");
    assert_int_equal(auth_authenticate(&auth, &right, &arena, &principal, &err),
                     -ERR_LIMIT);
    right.address = STR("b");
    assert_int_equal(auth_authenticate(&auth, &right, &arena, &principal, &err),
                     0);
    wrong.now_ms = ATTEMPT_MS;
    assert_int_equal(auth_authenticate(&auth, &wrong, &arena, &principal, &err),
                     -ERR_INVALID);
    assert_int_equal(auth_authenticate(&auth, &wrong, &arena, &principal, &err),
                     -ERR_LIMIT);
    auth_fini(&auth);
}

/* What the last of `count` wrong passwords for amy ends with. */
static int try_wrong(struct auth *auth, struct auth_claim *claim, int count)
{
    auto_arena arena = {0};
    struct principal principal;
    struct err err;
    int rc = 0;

    claim->authorization = STR("Basic YW15OnNlY3JldHM=");
    for (int i = 0; i < count; i++) {
        rc = auth_authenticate(auth, claim, &arena, &principal, &err);
    }
    return rc;
}

/* Who has one address of an IPv6 network has all of them. */
static void test_a_network_counts_as_one_address(void **state)
{
    static const struct str others[] = {
        {"ipv6:[2001:db8:1:3::1]", 22},
        {"ipv6:[::1]", 10},
        {"ipv6:[::ffff:10.0.0.1]", 22},
        {"ipv6:[", 6},
        {"ipv6:[x]", 8},
        {"ipv4:10.0.0.1", 13},
        {"", 0},
    };
    struct auth_config config = {.users = users, .user_count = 2};
    struct auth_claim claim = {.address = STR("ipv6:[2001:db8:1:2::1]")};
    struct auth auth;

    (void)state;
    auth_init(&auth, &config, 1);
    assert_int_equal(try_wrong(&auth, &claim, ATTEMPTS_BURST), -ERR_INVALID);
    claim.address = STR("ipv6:[2001:db8:1:2:ffff::9]");
    assert_int_equal(try_wrong(&auth, &claim, 1), -ERR_LIMIT);
    for (size_t i = 0; i < ARRAY_COUNT(others); i++) {
        claim.address = others[i];
        assert_int_equal(try_wrong(&auth, &claim, 1), -ERR_INVALID);
    }
    auth_fini(&auth);
}

/* A job that tries passwords keeps neither people of this machine nor an
 * executor from theirs, although all of them come from one address. */
static void test_local_users_do_not_keep_others_out(void **state)
{
    struct auth_config config = {.users = users, .user_count = 2};
    struct auth_claim job = {
        .address = STR("ipv4:127.0.0.1"), .has_user = true, .user_id = 65534};
    struct auth_claim person = job;
    auto_arena arena = {0};
    struct principal principal;
    struct auth auth;
    struct err err;

    (void)state;
    auth_init(&auth, &config, 1);
    assert_int_equal(try_wrong(&auth, &job, ATTEMPTS_BURST + 1), -ERR_LIMIT);
    person.user_id = 1000;
    person.authorization = STR("Basic YW15OnNlY3JldA==");
    assert_int_equal(
        auth_authenticate(&auth, &person, &arena, &principal, &err), 0);
    assert_int_equal(try_wrong(&auth, &person, 1), -ERR_INVALID);
    auth_fini(&auth);
}

/* Nor is a password found sooner by jobs of many users. */
static void test_many_local_users_are_slowed(void **state)
{
    struct auth_config config = {.users = users, .user_count = 2};
    struct auth_claim job = {
        .address = STR("ipv4:127.0.0.1"), .has_user = true, .user_id = 100000};
    struct auth auth;
    int count = 0;

    (void)state;
    auth_init(&auth, &config, 1);
    while (count <= ATTEMPTS_LOCAL_BURST &&
           try_wrong(&auth, &job, 1) == -ERR_INVALID) {
        job.user_id++;
        count++;
    }
    assert_int_equal(count, ATTEMPTS_LOCAL_BURST);
    job.now_ms = ATTEMPT_LOCAL_MS;
    assert_int_equal(try_wrong(&auth, &job, 1), -ERR_INVALID);
    job.user_id++;
    assert_int_equal(try_wrong(&auth, &job, 1), -ERR_LIMIT);
    auth_fini(&auth);
}

/* Credentials of a kind that is served but wrong end it: nobody becomes
 * anonymous by mistyping a password. */
static void test_anonymous_is_last(void **state)
{
    auto_arena arena = {0};
    struct auth_config config = {
        .users = users, .user_count = 2, .is_anonymous_allowed = true};

    (void)state;
    assert_string_equal(name_of(&config, NULL, &arena), "anonymous");
    assert_string_equal(name_of(&config, "Bearer x", &arena), "anonymous");
    assert_string_equal(name_of(&config, "basic YW15OnNlY3JldA==", &arena),
                        "amy");
    assert_null(name_of(&config, "basic YW15OnNlY3Jl", &arena));
}

static void test_no_method(void **state)
{
    auto_arena arena = {0};
    struct auth_config config = {0};
    struct auth auth;

    (void)state;
    auth_init(&auth, &config, 1);
    assert_false(auth_has_method(&auth));
    auth_fini(&auth);
    assert_null(name_of(&config, NULL, &arena));
}

/* Everybody is in group `everyone`, also those with groups of their own. */
static void test_permissions_by_group(void **state)
{
    static const struct str everyone[] = {{"everyone", 8}};
    struct auth_config config = {0};
    struct auth auth;
    struct str groups[] = {STR("staff"), STR("everyone")};
    struct principal amy = {
        .name = STR("amy"), .groups = groups, .group_count = 2};
    struct principal nobody = {.name = STR("x")};

    (void)state;
    config.grants[PERMISSION_CREATE_QUEUE] =
        (struct permission_grant){staff, 1};
    config.grants[PERMISSION_CANCEL_ANY_JOBS] =
        (struct permission_grant){everyone, 1};
    auth_init(&auth, &config, 1);
    assert_true(auth_has_permission(&auth, &amy, PERMISSION_CREATE_QUEUE));
    assert_true(auth_has_permission(&auth, &amy, PERMISSION_CANCEL_ANY_JOBS));
    assert_false(auth_has_permission(&auth, &amy, PERMISSION_DELETE_QUEUE));
    assert_false(auth_has_permission(&auth, &nobody, PERMISSION_CREATE_QUEUE));
    assert_true(auth_has_permission(&auth, &nobody, PERMISSION_NONE));
    auth_fini(&auth);
}

/* Who calls so; it must be somebody. */
static struct principal caller(const struct auth_config *config,
                               struct auth_claim claim, struct arena *arena)
{
    struct principal principal;
    struct auth auth;
    struct err err;

    auth_init(&auth, config, 1);
    assert_int_equal(auth_authenticate(&auth, &claim, arena, &principal, &err),
                     0);
    auth_fini(&auth);
    return principal;
}

/* Administrators have what nobody was granted, and are so by their group. */
static void test_administrators(void **state)
{
    auto_arena arena = {0};
    struct auth_config config = {
        .users = users, .user_count = 2, .administrators = {staff, 1}};
    struct auth_claim amy = {.authorization = STR("Basic YW15OnNlY3JldA==")};
    struct auth_claim bob = {.authorization = STR("Basic Ym9iOmE6Yg==")};
    struct auth auth;

    (void)state;
    auth_init(&auth, &config, 1);
    struct principal principal = caller(&config, amy, &arena);
    assert_true(principal.is_administrator);
    assert_false(principal.is_anonymous);
    assert_true(auth_has_permission(&auth, &principal, PERMISSION_BACKUP));
    principal = caller(&config, bob, &arena);
    assert_false(principal.is_administrator);
    assert_false(auth_has_permission(&auth, &principal, PERMISSION_BACKUP));
    auth_fini(&auth);
}

/* Without credentials, only the server's own user and root are administrators,
 * and who knows its token. */
static void test_anonymous_callers_are_told_apart(void **state)
{
    auto_arena arena = {0};
    struct auth_config config = {.is_anonymous_allowed = true,
                                 .has_own_user = true,
                                 .own_user_id = 1000,
                                 .token = STR("0123")};
    static const struct {
        struct auth_claim claim;
        bool is_administrator;
    } rows[] = {
        {{.has_user = true, .user_id = 1000, .is_outside_jobs = true}, true},
        {{.has_user = true, .user_id = 0}, true},
        {{.has_user = true, .user_id = 1001}, false},
        {{.has_user = false, .user_id = 0}, false},
        {{.authorization = {"Bearer 0123", 11}}, true},
        {{.authorization = {"Bearer 0124", 11}}, false},
        {{.authorization = {"Bearer ", 7}}, false},
        /* A job of the server's own user. */
        {{.has_user = true, .user_id = 1000}, false},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        struct principal principal = caller(&config, rows[i].claim, &arena);
        assert_int_equal(principal.is_administrator, rows[i].is_administrator);
        assert_true(principal.is_anonymous);
        assert_int_equal(principal.group_count, 1 + rows[i].claim.has_user);
    }
    struct principal other = caller(&config, rows[2].claim, &arena);
    assert_true(str_equal(other.groups[1], STR("uid:1001")));
    config.token = STR("");
    assert_false(caller(&config, rows[6].claim, &arena).is_administrator);
    config.has_own_user = false;
    assert_false(caller(&config, rows[1].claim, &arena).is_administrator);
}

/* The queues of the quick start have the owner `anonymous`, and so are called
 * all other users of the machine, and jobs. */
static void test_anonymous_owns_no_queue(void **state)
{
    static char user[] = "User", name[] = "anonymous";
    static char submit[] = "submit", cancel[] = "cancel", watch[] = "watch",
                preempt[] = "preempt", reprioritize[] = "reprioritize";
    char *verbs[] = {submit, cancel, preempt, reprioritize, watch};
    Api__Queue__Permissions__Subject subject =
        API__QUEUE__PERMISSIONS__SUBJECT__INIT;
    Api__Queue__Permissions__Subject *subjects[] = {&subject};
    Api__Queue__Permissions entry = API__QUEUE__PERMISSIONS__INIT;
    Api__Queue__Permissions *entries[] = {&entry};
    Api__Queue queue = API__QUEUE__INIT;
    struct principal anonymous = {.name = STR("anonymous"),
                                  .is_anonymous = true};
    struct principal named = {.name = STR("anonymous")};

    (void)state;
    subject.kind = user;
    subject.name = name;
    entry.subjects = subjects;
    entry.n_subjects = 1;
    entry.verbs = verbs;
    entry.n_verbs = ARRAY_COUNT(verbs);
    queue.permissions = entries;
    queue.n_permissions = 1;
    assert_true(auth_queue_is_owner(&queue, &named));
    for (int verb = VERB_NONE + 1; verb < VERB_COUNT; verb++) {
        assert_false(
            auth_queue_grants(&queue, &anonymous, (enum queue_verb)verb));
    }
}

static void test_names(void **state)
{
    (void)state;
    for (int i = PERMISSION_NONE + 1; i < PERMISSION_COUNT; i++) {
        const char *name = permission_name((enum permission)i);
        assert_non_null(name);
        assert_int_equal(permission_of_name(str_of(name)), i);
    }
    assert_int_equal(permission_of_name(STR("fly")), PERMISSION_COUNT);
    assert_int_equal(permission_of_name(STR("")), PERMISSION_COUNT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_basic),
        TEST(test_anonymous_is_last),
        TEST(test_no_method),
        TEST(test_permissions_by_group),
        TEST(test_wrong_passwords_are_slowed),
        TEST(test_a_network_counts_as_one_address),
        TEST(test_local_users_do_not_keep_others_out),
        TEST(test_many_local_users_are_slowed),
        TEST(test_hashed_passwords),
        TEST(test_administrators),
        TEST(test_anonymous_callers_are_told_apart),
        TEST(test_anonymous_owns_no_queue),
        TEST(test_names),
    };

    return RUN_TESTS(tests);
}
