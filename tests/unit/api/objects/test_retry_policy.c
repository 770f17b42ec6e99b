/*
 * Retry policies (armada-api.md 1.5).
 */
#include "api/objects/retry_validate.h"
#include "api_fixture.h"
#include "armada/services.pb-c.h"
#include "field.h"
#include "unit.h"

/* A policy that keeps all rules, to be bent. */
struct policy_case {
    Api__RetryPolicy policy;
    Api__RetryRule rule;
    Api__RetryRule *rules[1];
    Api__RetryMutation mutate;
    Api__RetryResourceMutation resources;
    Api__RetryResourceBump memory;
};

static void policy_init(struct policy_case *c)
{
    c->policy = (Api__RetryPolicy)API__RETRY_POLICY__INIT;
    c->rule = (Api__RetryRule)API__RETRY_RULE__INIT;
    c->mutate = (Api__RetryMutation)API__RETRY_MUTATION__INIT;
    c->resources =
        (Api__RetryResourceMutation)API__RETRY_RESOURCE_MUTATION__INIT;
    c->memory = (Api__RetryResourceBump)API__RETRY_RESOURCE_BUMP__INIT;
    c->policy.name = field("p");
    c->policy.default_action = API__RETRY_ACTION__RETRY_ACTION_FAIL;
    c->rules[0] = &c->rule;
    c->policy.rules = c->rules;
    c->policy.n_rules = 1;
    c->rule.action = API__RETRY_ACTION__RETRY_ACTION_RETRY;
    c->rule.on_category = field("oom");
    c->rule.mutate = &c->mutate;
    c->mutate.resources = &c->resources;
    c->resources.memory = &c->memory;
    c->memory.factor = 1.5;
}

static bool is_valid(const struct policy_case *c)
{
    struct refusal refusal;

    return retry_policy_validate(&c->policy, &refusal) == 0;
}

static void test_retry_policy_rules(void **state)
{
    struct policy_case c;

    (void)state;
    policy_init(&c);
    assert_true(is_valid(&c));
    c.policy.name = field("Upper");
    assert_false(is_valid(&c));
    policy_init(&c);
    c.policy.default_action = API__RETRY_ACTION__RETRY_ACTION_UNSPECIFIED;
    assert_false(is_valid(&c));
    policy_init(&c);
    c.rule.action = API__RETRY_ACTION__RETRY_ACTION_UNSPECIFIED;
    assert_false(is_valid(&c));
    policy_init(&c);
    c.rule.on_category = field("");
    assert_false(is_valid(&c));
    auto_mem char *text = mem_alloc(OBJECT_BYTES_MAX + 1);
    memset(text, 'x', OBJECT_BYTES_MAX);
    c.rule.on_category = text;
    assert_false(is_valid(&c));
    policy_init(&c);
    c.rule.action = API__RETRY_ACTION__RETRY_ACTION_FAIL;
    assert_false(is_valid(&c));
    policy_init(&c);
    c.memory.factor = 1.0;
    assert_false(is_valid(&c));
    c.memory.factor = 0;
    assert_false(is_valid(&c));
    c.memory.static_ = field("1Gi");
    assert_true(is_valid(&c));
    c.memory.static_ = field("-1Gi");
    assert_false(is_valid(&c));
    c.memory.static_ = field("1Gi");
    c.memory.factor = 2;
    assert_false(is_valid(&c));
}

static void test_retry_policies(void **state)
{
    struct fixture f;
    struct policy_case c;
    Api__RetryPolicyGetRequest get_request =
        API__RETRY_POLICY_GET_REQUEST__INIT;
    Api__RetryPolicyDeleteRequest delete =
        API__RETRY_POLICY_DELETE_REQUEST__INIT;
    Api__RetryPolicyListRequest list = API__RETRY_POLICY_LIST_REQUEST__INIT;
    Api__Queue queue = fixture_queue_message("q", 1);
    char *policies[] = {field("p")};

    (void)state;
    fixture_init(&f);
    fixture_start(&f);
    policy_init(&c);
    assert_int_equal(fixture_code(&f,
                                  "/api.RetryPolicyService/UpdateRetryPolicy",
                                  &c.policy.base),
                     RPC_NOT_FOUND);
    assert_int_equal(fixture_code(&f,
                                  "/api.RetryPolicyService/CreateRetryPolicy",
                                  &c.policy.base),
                     RPC_OK);
    Api__RetryPolicyList *all =
        fixture_call(&f, "/api.RetryPolicyService/GetRetryPolicies", &list.base,
                     &api__retry_policy_list__descriptor);
    assert_int_equal(all->n_retry_policies, 1);
    assert_int_equal(fixture_code(&f, "/api.RetryPolicyService/GetRetryPolicy",
                                  &get_request.base),
                     RPC_INVALID_ARGUMENT);
    assert_int_equal(fixture_code(&f,
                                  "/api.RetryPolicyService/DeleteRetryPolicy",
                                  &delete.base),
                     RPC_INVALID_ARGUMENT);
    queue.retry_policies = policies;
    queue.n_retry_policies = 1;
    assert_int_equal(fixture_code(&f, "/api.Submit/UpdateQueue", &queue.base),
                     RPC_OK);
    /* Deleting it takes its name out of queues; twice is fine. */
    delete.name = get_request.name = field("p");
    for (int i = 0; i < 2; i++) {
        assert_int_equal(
            fixture_code(&f, "/api.RetryPolicyService/DeleteRetryPolicy",
                         &delete.base),
            RPC_OK);
    }
    assert_int_equal(fixture_get_queue(&f, "q")->n_retry_policies, 0);
    assert_int_equal(fixture_code(&f, "/api.RetryPolicyService/GetRetryPolicy",
                                  &get_request.base),
                     RPC_NOT_FOUND);
    fixture_fini(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_retry_policy_rules),
        TEST(test_retry_policies),
    };

    return RUN_TESTS(tests);
}
