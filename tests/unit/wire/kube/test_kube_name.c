/*
 * kube_name: names, keys and values that Kubernetes takes, and those beside
 * them that it refuses.
 */
#include "unit.h"
#include "wire/kube/kube_name.h"

#define W10 "aaaaaaaaaa"
#define W60 W10 W10 W10 W10 W10 W10
#define W250 W60 W60 W60 W60 W10

static void dns_labels_are_small_words(void **state)
{
    (void)state;
    assert_true(kube_is_dns_label(STR("a")));
    assert_true(kube_is_dns_label(STR("0-a-9")));
    assert_true(kube_is_dns_label(STR(W60 "aaa")));
    assert_false(kube_is_dns_label(STR(W60 "aaaa")));
    assert_false(kube_is_dns_label(STR("")));
    assert_false(kube_is_dns_label(STR("-a")));
    assert_false(kube_is_dns_label(STR("a-")));
    assert_false(kube_is_dns_label(STR("A")));
    assert_false(kube_is_dns_label(STR("a.b")));
    assert_false(kube_is_dns_label(STR("a_b")));
    assert_false(kube_is_dns_label(str_make("a\0b", 3)));
}

static void subdomains_are_words_joined_by_dots(void **state)
{
    (void)state;
    assert_true(kube_is_subdomain(STR("a.b-c.9")));
    assert_true(kube_is_subdomain(STR(W250 "aaa")));
    assert_false(kube_is_subdomain(STR(W250 "aaaa")));
    assert_false(kube_is_subdomain(STR("")));
    assert_false(kube_is_subdomain(STR("a..b")));
    assert_false(kube_is_subdomain(STR(".a")));
    assert_false(kube_is_subdomain(STR("a.")));
    assert_false(kube_is_subdomain(STR("a-.b")));
    assert_false(kube_is_subdomain(STR("a.-b")));
    assert_false(kube_is_subdomain(STR("a.B")));
}

static void label_keys_may_have_a_prefix(void **state)
{
    (void)state;
    assert_true(kube_is_label_key(STR("Pool_1.x-Y")));
    assert_true(kube_is_label_key(STR("kubernetes.io/role")));
    assert_true(kube_is_label_key(STR(W60 "aaa")));
    assert_false(kube_is_label_key(STR(W60 "aaaa")));
    assert_false(kube_is_label_key(STR("")));
    assert_false(kube_is_label_key(STR("/role")));
    assert_false(kube_is_label_key(STR("kubernetes.io/")));
    assert_false(kube_is_label_key(STR("K.io/role")));
    assert_false(kube_is_label_key(STR("a/b/c")));
    assert_false(kube_is_label_key(STR("_a")));
}

static void label_values_may_be_empty(void **state)
{
    (void)state;
    assert_true(kube_is_label_value(STR("")));
    assert_true(kube_is_label_value(STR("A.b_c-1")));
    assert_true(kube_is_label_value(STR(W60 "aaa")));
    assert_false(kube_is_label_value(STR(W60 "aaaa")));
    assert_false(kube_is_label_value(STR("a-")));
    assert_false(kube_is_label_value(STR("a b")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(dns_labels_are_small_words),
        TEST(subdomains_are_words_joined_by_dots),
        TEST(label_keys_may_have_a_prefix),
        TEST(label_values_may_be_empty),
    };
    return RUN_TESTS(tests);
}
