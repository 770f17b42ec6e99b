/*
 * depends: jobs that wait for others, from a request's annotations to what the
 * leader is told.
 */
#include "api_fixture.h"
#include "armada/services.pb-c.h"
#include "field.h"
#include "sample.h"
#include "unit.h"

static Api__JobSubmitResponse *
submit(struct fixture *f, Berth__Submission__Item **items, size_t count)
{
    Berth__Submission__Request *request =
        sample_request_of(&f->arena, items, count);

    return fixture_call(f, "/api.Submit/SubmitJobs", &request->base,
                        &api__job_submit_response__descriptor);
}

static Berth__Submission__Item *item_after(struct fixture *f,
                                           const char *depends_on)
{
    Berth__Submission__Item *item =
        sample_item(&f->arena, sample_pod(&f->arena));

    if (depends_on) {
        sample_annotation(&f->arena, item, "berth.dev/dependsOn", depends_on);
    }
    return item;
}

/* Submit one that depends on `text`; "" or why it is refused. */
static const char *refusal_of(struct fixture *f, const char *text)
{
    Berth__Submission__Item *item = item_after(f, text);

    return submit(f, &item, 1) ? "" : f->status.message;
}

static void targets_are_ids_and_client_ids(void **state)
{
    struct fixture f;
    char text[80];

    (void)state;
    fixture_init(&f);
    fixture_start(&f);
    fixture_queue(&f, "q");
    Berth__Submission__Item *items[] = {item_after(&f, NULL),
                                        item_after(&f, "client/one:ended")};
    items[0]->client_id = field("one");
    Api__JobSubmitResponse *response = submit(&f, items, 2);
    assert_non_null(response);
    assert_int_equal(response->n_job_response_items, 2);
    /* By the store, where the first one is in a moment. */
    assert_string_equal(refusal_of(&f, "client/one"), "");
    (void)snprintf(text, sizeof(text), "%s:failed,%s",
                   response->job_response_items[0]->job_id,
                   response->job_response_items[1]->job_id);
    assert_string_equal(refusal_of(&f, text), "");
    fixture_fini(&f);
}

static void what_makes_no_sense_is_refused(void **state)
{
    struct fixture f;

    (void)state;
    fixture_init(&f);
    fixture_start(&f);
    fixture_queue(&f, "q");
    assert_string_equal(
        refusal_of(&f, "me"),
        "dependsOn: \"me\" is neither a job's id nor client/CLIENT_ID");
    assert_string_equal(
        refusal_of(&f, "01h00000000000000000000000:soon"),
        "dependsOn: \"soon\" is not succeeded, ended or failed");
    assert_string_equal(
        refusal_of(&f, "client/none"),
        "dependsOn: there is no job with clientId none in queue q, nor does "
        "one come earlier in this request");
    /* One that comes later, or itself: so there are no circles. */
    Berth__Submission__Item *item = item_after(&f, "client/self");
    item->client_id = field("self");
    assert_null(submit(&f, &item, 1));
    item = item_after(&f, "01h00000000000000000000000");
    sample_gang(&f.arena, item, "g", "2");
    assert_null(submit(&f, &item, 1));
    assert_non_null(strstr(f.status.message, "to a member of a gang"));
    fixture_fini(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(targets_are_ids_and_client_ids),
        TEST(what_makes_no_sense_is_refused),
    };
    return RUN_TESTS(tests);
}
