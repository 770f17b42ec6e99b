/*
 * leader_questions: nobody keeps the leader from the others by asking.
 */
#include <unistd.h>

#include "api/core/leader_questions.h"
#include "api_fixture.h"
#include "berth/api.pb-c.h"
#include "patience.h"
#include "unit.h"

static void each_caller_has_so_many(void **state)
{
    struct leader_question of_a[QUESTIONS_EACH_MAX] = {0}, further = {0},
                           of_b = {0};
    struct leader_questions questions;

    (void)state;
    leader_questions_init(&questions);
    for (int i = 0; i < QUESTIONS_EACH_MAX; i++) {
        assert_true(leader_questions_enter(&questions, &of_a[i], STR("a")));
    }
    assert_false(leader_questions_enter(&questions, &further, STR("a")));
    assert_true(leader_questions_enter(&questions, &of_b, STR("b")));
    /* One that waits may ask on. */
    assert_true(leader_questions_enter(&questions, &of_a[0], STR("a")));
    leader_questions_leave(&questions, &of_a[0]);
    assert_true(leader_questions_enter(&questions, &further, STR("a")));
    for (int i = 0; i < QUESTIONS_EACH_MAX; i++) {
        leader_questions_leave(&questions, &of_a[i]);
    }
    leader_questions_leave(&questions, &further);
    leader_questions_leave(&questions, &of_b);
    leader_questions_fini(&questions);
}

/* A leader that answers nothing until it may, and what came of the calls. */
struct slow_leader {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    bool may_answer;
    int answered_count, refused_count;
};

static void answer_late(struct fixture *fixture, struct command *command)
{
    struct slow_leader *slow = fixture->exchange_ctx;

    (void)command;
    pthread_mutex_lock(&slow->mutex);
    while (!slow->may_answer) {
        pthread_cond_wait(&slow->changed, &slow->mutex);
    }
    pthread_mutex_unlock(&slow->mutex);
}

static void on_reply(void *ctx, const struct rpc_status *status,
                     struct str reply)
{
    struct slow_leader *slow = ctx;

    (void)reply;
    pthread_mutex_lock(&slow->mutex);
    slow->answered_count += status->code == RPC_OK;
    slow->refused_count += status->code == RPC_RESOURCE_EXHAUSTED;
    pthread_cond_broadcast(&slow->changed);
    pthread_mutex_unlock(&slow->mutex);
}

static void wait_for(struct slow_leader *slow, const int *count, int wanted)
{
    pthread_mutex_lock(&slow->mutex);
    while (*count < wanted) {
        pthread_cond_wait(&slow->changed, &slow->mutex);
    }
    pthread_mutex_unlock(&slow->mutex);
}

/* Over the wire further questions are refused, and those that wait answered. */
static void further_questions_are_refused(void **state)
{
    struct slow_leader slow = {PTHREAD_MUTEX_INITIALIZER,
                               PTHREAD_COND_INITIALIZER, false, 0, 0};
    struct rpc_call_options options = {.timeout_ms = patient_ms(30000)};
    struct fixture f;

    (void)state;
    fixture_init(&f);
    f.on_exchange = answer_late;
    f.exchange_ctx = &slow;
    fixture_start(&f);
    for (int i = 0; i < QUESTIONS_EACH_MAX + 3; i++) {
        rpc_channel_call_async(f.channel,
                               "/berth.api.Berth/ListMaintenanceWindows",
                               STR(""), &options, on_reply, &slow);
    }
    wait_for(&slow, &slow.refused_count, 3);
    assert_int_equal(slow.answered_count, 0);
    pthread_mutex_lock(&slow.mutex);
    slow.may_answer = true;
    pthread_cond_broadcast(&slow.changed);
    pthread_mutex_unlock(&slow.mutex);
    wait_for(&slow, &slow.answered_count, QUESTIONS_EACH_MAX);
    assert_int_equal(
        fixture_code(
            &f, "/berth.api.Berth/ListMaintenanceWindows",
            &(Berth__Api__ListMaintenanceWindowsRequest)
                 BERTH__API__LIST_MAINTENANCE_WINDOWS_REQUEST__INIT.base),
        RPC_OK);
    fixture_fini(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(each_caller_has_so_many),
        TEST(further_questions_are_refused),
    };

    return RUN_TESTS(tests);
}
