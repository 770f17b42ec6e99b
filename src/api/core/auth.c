#include "api/core/auth.h"

#include <strings.h>

#include "api/core/caller_place.h"
#include "base/strbuf.h"
#include "wire/text/base64.h"
#include "wire/text/password.h"

static const struct str everyone[] = {{"everyone", 8}};

/* Compare in a time that does not tell where they differ. */
static bool is_same_secret(struct str a, struct str b)
{
    unsigned char difference = a.byte_count != b.byte_count;

    for (size_t i = 0; i < a.byte_count; i++) {
        size_t at = b.byte_count ? i % b.byte_count : 0;
        char other = b.byte_count ? b.p[at] : '\0';
        difference |= (unsigned char)(a.p[i] ^ other);
    }
    return difference == 0;
}

/* What follows the scheme word, p NULL if it is another one. */
static struct str after_scheme(struct str authorization, const char *scheme)
{
    size_t count = strlen(scheme);

    if (authorization.byte_count <= count ||
        strncasecmp(authorization.p, scheme, count) != 0 ||
        authorization.p[count] != ' ') {
        return str_make(NULL, 0);
    }
    while (count < authorization.byte_count && authorization.p[count] == ' ') {
        count++;
    }
    return str_make(authorization.p + count, authorization.byte_count - count);
}

/* Whether the user's password was this one before. */
static bool was_right(struct auth *auth, uint32_t user, struct str password)
{
    pthread_mutex_lock(&auth->lock);
    bool is_right =
        auth->known[user].p && is_same_secret(password, auth->known[user]);
    pthread_mutex_unlock(&auth->lock);
    return is_right;
}

static bool has_logged_in(struct auth *auth, uint32_t user)
{
    pthread_mutex_lock(&auth->lock);
    bool has_seen = auth->known[user].p != NULL;
    pthread_mutex_unlock(&auth->lock);
    return has_seen;
}

static void remember(struct auth *auth, uint32_t user, struct str password)
{
    struct str copy = str_make(str_dup(password), password.byte_count);

    pthread_mutex_lock(&auth->lock);
    mem_free((char *)(uintptr_t)auth->known[user].p);
    auth->known[user] = copy;
    pthread_mutex_unlock(&auth->lock);
}

/* Compare with the password, or its hash; slow where it is the hash. */
static bool is_right(struct auth *auth, uint32_t index, struct str password)
{
    const struct basic_user *user = &auth->config->users[index];

    if (user->password_hash.byte_count == 0) {
        return is_same_secret(password, user->password);
    }
    if (!password_matches(user->password_hash, password)) {
        return false;
    }
    remember(auth, index, password);
    return true;
}

/* The index of the user of that name, or their count. */
static uint32_t find_user(const struct auth_config *config, struct str name)
{
    uint32_t i = 0;

    while (i < config->user_count && !str_equal(config->users[i].name, name)) {
        i++;
    }
    return i;
}

/* Whether the password is the user's; who tried too often is not told. */
static enum auth_answer check(struct auth *auth, const struct auth_claim *claim,
                              uint32_t user, struct str password,
                              struct err *err)
{
    bool is_known = user < auth->config->user_count;
    auto_strbuf place = {0};

    if (is_known && was_right(auth, user, password)) {
        return AUTH_OK;
    }
    caller_place_put(claim, &place);
    int64_t wait_ms = attempts_wait_ms(&auth->attempts, strbuf_str(&place),
                                       claim->has_user, claim->now_ms);
    if (wait_ms > 0) {
        err_set(err, -ERR_LIMIT,
                "too many wrong passwords from %s; try again in %lld s",
                claim->has_user ? "this user of this machine" : "this address",
                (long long)(wait_ms / 1000 + 1));
        return AUTH_TOO_MANY;
    }
    /* That there is no such user is not to be told by the time it takes. */
    if (is_right(auth, is_known ? user : 0, password) && is_known) {
        return AUTH_OK;
    }
    attempts_failed(&auth->attempts, strbuf_str(&place), claim->has_user,
                    claim->now_ms);
    err_set(err, -ERR_INVALID, "invalid username/password");
    return AUTH_BAD;
}

static void fill_principal(const struct basic_user *user, struct arena *arena,
                           struct principal *ret_principal)
{
    struct str *groups =
        arena_alloc_array(arena, user->group_count + 1, sizeof(*groups));

    for (uint32_t i = 0; i < user->group_count; i++) {
        groups[i] = user->groups[i];
    }
    groups[user->group_count] = everyone[0];
    *ret_principal = (struct principal){
        .name = user->name,
        .groups = groups,
        .group_count = user->group_count + 1,
        .executors = user->executor_count ? user->executors : &user->name,
        .executor_count = user->executor_count ? user->executor_count : 1,
    };
}

static enum auth_answer authenticate_basic(struct authenticator *authenticator,
                                           const struct auth_claim *claim,
                                           struct arena *arena,
                                           struct principal *ret_principal,
                                           struct err *err)
{
    struct auth *auth = authenticator->ctx;
    struct str token = after_scheme(claim->authorization, "basic");
    auto_strbuf buf = {0};

    if (!token.p) {
        return AUTH_NOT_MINE;
    }
    if (wire_base64_decode(token, &buf) < 0) {
        err_set(err, -ERR_INVALID, "basic credentials are not base64");
        return AUTH_BAD;
    }
    struct str pair = strbuf_str(&buf);
    const char *colon =
        pair.byte_count ? memchr(pair.p, ':', pair.byte_count) : NULL;
    if (!colon) {
        err_set(err, -ERR_INVALID,
                "basic credentials are not of the form user:password");
        return AUTH_BAD;
    }
    size_t name_bytes = (size_t)(colon - pair.p);
    uint32_t user = find_user(auth->config, str_make(pair.p, name_bytes));
    bool is_first = user < auth->config->user_count &&
                    auth->config->users[user].password_hash.byte_count > 0 &&
                    !has_logged_in(auth, user);
    enum auth_answer answer =
        check(auth, claim, user,
              str_make(colon + 1, pair.byte_count - name_bytes - 1), err);
    if (answer != AUTH_OK) {
        *ret_principal = (struct principal){
            .claimed = arena_str(arena, str_make(pair.p, name_bytes))};
        return answer;
    }
    fill_principal(&auth->config->users[user], arena, ret_principal);
    ret_principal->is_first_login = is_first;
    return AUTH_OK;
}

/* The groups of who is anonymous: those of the user, if that is known. */
static void fill_groups(const struct auth_claim *claim, struct arena *arena,
                        struct principal *principal)
{
    struct str *groups = arena_alloc_array(arena, 2, sizeof(*groups));
    auto_strbuf own = {0};

    groups[0] = everyone[0];
    if (claim->has_user) {
        strbuf_addf(&own, "uid:%u", claim->user_id);
        groups[1] = arena_str(arena, strbuf_str(&own));
    }
    principal->groups = groups;
    principal->group_count = claim->has_user ? 2 : 1;
}

/* Whether it shows the token that only the server's user can read. */
static bool shows_token(const struct auth_config *config,
                        const struct auth_claim *claim)
{
    struct str shown = after_scheme(claim->authorization, "bearer");

    return shown.p && config->token.byte_count > 0 &&
           is_same_secret(shown, config->token);
}

static enum auth_answer
authenticate_anonymous(struct authenticator *authenticator,
                       const struct auth_claim *claim, struct arena *arena,
                       struct principal *ret_principal, struct err *err)
{
    const struct auth *auth = authenticator->ctx;
    const struct auth_config *config = auth->config;
    bool is_own =
        claim->has_user && config->has_own_user &&
        (claim->user_id == 0 ||
         (claim->user_id == config->own_user_id && claim->is_outside_jobs));

    (void)err;
    *ret_principal = (struct principal){
        .name = STR("anonymous"),
        .is_administrator = is_own || shows_token(config, claim),
        .is_anonymous = true,
    };
    fill_groups(claim, arena, ret_principal);
    return AUTH_OK;
}

static void add(struct auth *auth, struct authenticator authenticator)
{
    ASSERT(auth->authenticator_count < AUTHENTICATORS_MAX);
    auth->authenticators[auth->authenticator_count++] = authenticator;
}

void auth_init(struct auth *auth, const struct auth_config *config,
               uint64_t seed)
{
    *auth = (struct auth){.config = config};
    attempts_init(&auth->attempts, seed);
    pthread_mutex_init(&auth->lock, NULL);
    auth->known =
        mem_alloc_array((size_t)config->user_count + 1, sizeof(*auth->known));
    if (config->user_count) {
        add(auth, (struct authenticator){authenticate_basic, auth});
    }
    if (config->is_anonymous_allowed) {
        add(auth, (struct authenticator){authenticate_anonymous, auth});
    }
}

int auth_recall(const struct auth *auth, const struct principal *before,
                struct arena *arena, struct principal *ret_principal,
                struct err *err)
{
    const struct auth_config *config = auth->config;

    if (before->is_anonymous) {
        *ret_principal = *before;
        return config->is_anonymous_allowed
                   ? 0
                   : err_set(err, -ERR_INVALID,
                             "its owner called without a user's name, which "
                             "the server does not allow any more");
    }
    uint32_t user = find_user(config, before->name);
    if (user == config->user_count) {
        return err_set(err, -ERR_INVALID,
                       "its owner %.*s is not a user of the server any more",
                       STR_ARG(before->name));
    }
    fill_principal(&config->users[user], arena, ret_principal);
    ret_principal->is_administrator =
        auth_is_granted(&config->administrators, ret_principal);
    return 0;
}

void auth_fini(struct auth *auth)
{
    for (uint32_t i = 0; auth->known && i < auth->config->user_count; i++) {
        mem_free((char *)(uintptr_t)auth->known[i].p);
    }
    mem_free(auth->known);
    attempts_fini(&auth->attempts);
    pthread_mutex_destroy(&auth->lock);
}

bool auth_has_method(const struct auth *auth)
{
    return auth->authenticator_count > 0;
}

int auth_authenticate(struct auth *auth, const struct auth_claim *claim,
                      struct arena *arena, struct principal *ret_principal,
                      struct err *err)
{
    if (claim->authorization.byte_count > AUTH_HEADER_BYTES_MAX) {
        return err_set(err, -ERR_INVALID, "credentials are too long");
    }
    for (uint32_t i = 0; i < auth->authenticator_count; i++) {
        struct authenticator *authenticator = &auth->authenticators[i];
        switch (authenticator->authenticate(authenticator, claim, arena,
                                            ret_principal, err)) {
        case AUTH_OK:
            ret_principal->is_administrator |=
                auth_is_granted(&auth->config->administrators, ret_principal);
            if (ret_principal->is_administrator) {
                ret_principal->executor_count = 0;
            }
            return 0;
        case AUTH_BAD:
            return -ERR_INVALID;
        case AUTH_TOO_MANY:
            return -ERR_LIMIT;
        case AUTH_NOT_MINE:
            break;
        }
    }
    return err_set(err, -ERR_INVALID,
                   "request is not authenticated with any of the supported "
                   "schemes");
}
