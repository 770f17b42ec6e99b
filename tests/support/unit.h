/*
 * unit - what each unit test includes: cmocka with the headers it needs.
 */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the four above first. */
#include <cmocka.h>

#define TEST(name) cmocka_unit_test(name)
#define RUN_TESTS(tests) cmocka_run_group_tests(tests, NULL, NULL)
