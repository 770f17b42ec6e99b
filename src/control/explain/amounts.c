/* Amounts with their resources' names, for people and for programs. */
#include "control/explain/amounts.h"

#include <inttypes.h>

#include "control/state/state.h"

enum { MILLI = 1000 };

/* Bytes for a person: exact where that is short ("64Mi"), else to a tenth
 * ("23.4Gi"). */
static void put_bytes(struct strbuf *buf, int64_t bytes)
{
    static const char suffixes[][3] = {"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};
    double amount = (double)bytes;
    size_t power = 0;

    while ((amount >= 1024 || amount <= -1024) &&
           power + 1 < ARRAY_COUNT(suffixes)) {
        amount /= 1024;
        power++;
    }
    bool is_whole = amount == (double)(int64_t)amount;
    strbuf_addf(buf, "%.*f%s", is_whole ? 0 : 1, amount, suffixes[power]);
}

void amounts_put_one(struct strbuf *buf, const struct control *c, int column,
                     int64_t amount)
{
    /* Amounts are counted in resources of the policy. */
    ASSERT(column >= 0 &&
           (uint32_t)column < c->policy->policy.schema.column_count);
    int64_t unit = c->policy->policy.schema.columns[column].unit_milli;
    struct str name = c->policy->policy.schema.columns[column].name;
    bool is_bytes = resource_is_bytes(name);

    if (is_bytes && unit % MILLI == 0) {
        put_bytes(buf, amount * (unit / MILLI));
        strbuf_addf(buf, " %.*s", STR_ARG(name));
    } else if (unit % MILLI == 0) {
        strbuf_addf(buf, "%" PRId64 " %.*s", amount * (unit / MILLI),
                    STR_ARG(name));
    } else {
        strbuf_addf(buf, "%.12g %.*s",
                    (double)amount * (double)unit / (double)MILLI,
                    STR_ARG(name));
    }
}

static const struct resource_vec nothing;

void amounts_put(struct strbuf *buf, const struct control *c,
                 const struct resource_vec *vec)
{
    amounts_put_room(buf, c, vec, &nothing);
}

void amounts_put_room(struct strbuf *buf, const struct control *c,
                      const struct resource_vec *vec,
                      const struct resource_vec *asked)
{
    bool is_first = true;

    for (uint32_t r = 0; r < c->policy->policy.schema.column_count; r++) {
        bool is_asked = asked->v[r] > 0 && !c->policy->policy.is_floating[r];
        if (vec->v[r] != 0 || is_asked) {
            strbuf_add_text(buf, is_first ? "" : ", ");
            amounts_put_one(buf, c, (int)r, vec->v[r]);
            is_first = false;
        }
    }
    if (is_first) {
        strbuf_add_text(buf, "nothing");
    }
}

struct resource_list name_amounts(struct control *c,
                                  const struct resource_vec *vec,
                                  struct arena *arena)
{
    const struct resource_schema *schema = &c->policy->policy.schema;
    struct resource_list list = {
        .items = arena_alloc_array(arena, schema->column_count,
                                   sizeof(struct resource_amount)),
    };

    for (uint32_t i = 0; i < schema->column_count; i++) {
        if (vec->v[i] == 0) {
            continue;
        }
        struct str name = arena_str(arena, schema->columns[i].name);
        int rc = resource_list_add(&list, name,
                                   vec->v[i] * schema->columns[i].unit_milli);
        ASSERT(rc == 0); /* each column's name is another */
    }
    return list;
}
