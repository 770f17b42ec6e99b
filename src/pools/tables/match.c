#include "pools/tables/match.h"

bool match_selects(const struct pool_record *record, const struct label *labels,
                   uint32_t label_count)
{
    if (!record->has_selector) {
        return false;
    }
    for (uint32_t i = 0; i < record->label_count; i++) {
        const struct label *label =
            label_find(labels, label_count, record->labels[i].key);
        if (!label || !str_equal(label->value, record->labels[i].value)) {
            return false;
        }
    }
    for (uint32_t i = 0; i < record->expression_count; i++) {
        if (!affinity_expression_matches(&record->expressions[i], labels,
                                         label_count, (struct str){0})) {
            return false;
        }
    }
    return true;
}

uint32_t match_node(const struct pool_record *const *records,
                    uint32_t record_count, const struct label *labels,
                    uint32_t label_count, uint32_t *ret_match_count)
{
    uint32_t found = MATCH_DEFAULT, count = 0;

    ASSERT(record_count <= POOL_OBJECTS_MAX);
    for (uint32_t i = 0; i < record_count; i++) {
        if (match_selects(records[i], labels, label_count)) {
            found = i;
            count++;
        }
    }
    if (ret_match_count) {
        *ret_match_count = count;
    }
    return count == 1 ? found : MATCH_DEFAULT;
}

uint32_t match_home(const struct pool_record *const *records,
                    uint32_t record_count, struct str name)
{
    ASSERT(record_count <= POOL_OBJECTS_MAX);
    for (uint32_t i = 0; name.byte_count && i < record_count; i++) {
        if (str_equal(records[i]->name, name)) {
            return i;
        }
    }
    return MATCH_DEFAULT;
}

bool match_may_borrow(const struct pool_record *home,
                      const struct pool_record *lender)
{
    struct str name = lender ? lender->name : (struct str){0};

    if (home == lender || (home && home->is_borrowing_off) ||
        (lender && lender->is_sharing_off)) {
        return false;
    }
    for (uint32_t i = 0; home && i < home->lender_count; i++) {
        struct str allowed = home->lenders[i];
        if (str_equal(allowed, name) ||
            (!lender && str_equal(allowed, POOL_DEFAULT_NAME))) {
            return true;
        }
    }
    return !home || home->lender_count == 0;
}
