#include "api/core/leader_questions.h"

#include "base/base.h"

void leader_questions_init(struct leader_questions *questions)
{
    (void)pthread_mutex_init(&questions->lock, NULL);
    LIST_INIT(&questions->waiting);
}

void leader_questions_fini(struct leader_questions *questions)
{
    ASSERT(LIST_EMPTY(&questions->waiting));
    (void)pthread_mutex_destroy(&questions->lock);
}

static int count_of(const struct leader_questions *questions, struct str caller)
{
    const struct leader_question *question;
    int count = 0;

    LIST_FOREACH(question, &questions->waiting, entry)
    {
        count += str_equal(question->caller, caller);
    }
    return count;
}

bool leader_questions_enter(struct leader_questions *questions,
                            struct leader_question *question, struct str caller)
{
    ASSERT(caller.p);
    if (question->caller.p) {
        return true;
    }
    pthread_mutex_lock(&questions->lock);
    bool has_room = count_of(questions, caller) < QUESTIONS_EACH_MAX;
    if (has_room) {
        question->caller = caller;
        LIST_INSERT_HEAD(&questions->waiting, question, entry);
    }
    pthread_mutex_unlock(&questions->lock);
    return has_room;
}

void leader_questions_leave(struct leader_questions *questions,
                            struct leader_question *question)
{
    if (!question->caller.p) {
        return;
    }
    pthread_mutex_lock(&questions->lock);
    LIST_REMOVE(question, entry);
    pthread_mutex_unlock(&questions->lock);
    question->caller = (struct str){0};
}
