#include "sched/state/extras.h"

#include "sched/state/floating.h"

/* What all addresses of a node's port are. */
static const int64_t PORT_ALL = (int64_t)1 << 32;

enum {
    EXTRAS_MAX = RESOURCE_LIST_MAX + 2 * HOST_PORTS_MAX,
    NAME_BYTES_MAX = 32, /* of a port without its address */
};

void extras_init(struct sched *sched)
{
    sched->extra_names = intern_create();
}

void extras_fini(struct sched *sched)
{
    intern_destroy(sched->extra_names);
    map_fini(&sched->extra_map);
    SLOTS_FREE(&sched->extras_used);
}

void extras_drop(struct sched *sched, struct class *class)
{
    for (uint32_t i = 0; i < class->extra_count; i++) {
        intern_unref(sched->extra_names, class->extras[i].number);
    }
    mem_free(class->extras);
    class->extras = NULL;
    class->extra_count = 0;
}

void extras_forget(struct sched *sched)
{
    map_fini(&sched->extra_map);
    SLOTS_FREE(&sched->extras_used);
}

/* Insert by number. */
static void add(struct sched *sched, struct class *class, struct str name,
                int64_t amount, int64_t capacity)
{
    uint32_t number = intern_add(sched->extra_names, name);
    uint32_t at = class->extra_count++;

    ASSERT(at < EXTRAS_MAX);
    for (; at > 0 && class->extras[at - 1].number > number; at--) {
        class->extras[at] = class->extras[at - 1];
    }
    class->extras[at] = (struct class_extra){number, amount, capacity};
}

/* One address has one of the port, and a part of all addresses. */
static void add_port(struct sched *sched, struct class *class,
                     const struct host_port *port)
{
    auto_strbuf name = {0};

    strbuf_addf(&name, "port:%s:%u", host_protocol_text(port->protocol),
                (unsigned)port->port);
    if (port->ip.byte_count == 0) {
        add(sched, class, strbuf_str(&name), PORT_ALL, PORT_ALL);
        return;
    }
    add(sched, class, strbuf_str(&name), 1, PORT_ALL);
    strbuf_addf(&name, "@%.*s", STR_ARG(port->ip));
    add(sched, class, strbuf_str(&name), 1, 1);
}

bool extras_resolve(struct sched *sched, struct class *class,
                    const struct requirement *requirement)
{
    const struct resource_list *requests = &requirement->requests;
    struct class_extra extras[EXTRAS_MAX];

    extras_drop(sched, class);
    if (sched->policy->rules_revision < POLICY_RULES_EXTRAS) {
        return false;
    }
    class->extras = extras;
    for (uint32_t i = 0; i < requests->count; i++) {
        const struct resource_amount *item = &requests->items[i];
        if (item->milli > 0 &&
            resource_column(&sched->policy->schema, item->name) < 0) {
            add(sched, class, item->name,
                item->milli < AMOUNT_ONE_MAX ? item->milli : AMOUNT_ONE_MAX,
                -1);
        }
    }
    for (uint32_t i = 0; i < requirement->port_count; i++) {
        add_port(sched, class, &requirement->ports[i]);
    }
    class->extras = class->extra_count
                        ? mem_dup(extras, class->extra_count * sizeof(*extras))
                        : NULL;
    return true;
}

static struct key128 key_of(uint32_t node, uint32_t number)
{
    return key_of_u64((uint64_t)node << 32 | number);
}

static i128 used_of(const struct sched *sched, uint32_t node, uint32_t number)
{
    uint32_t row = map_find(&sched->extra_map, key_of(node, number));

    return row == MAP_NONE ? 0 : sched->extras_used.items[row].amount;
}

static int64_t capacity_of(const struct sched *sched, uint32_t node,
                           const struct class_extra *extra)
{
    const struct node_record *record = sched->nodes.items[node].record;

    if (!record || extra->capacity >= 0) {
        return record ? extra->capacity : 0;
    }
    struct str name = intern_get(sched->extra_names, extra->number);
    int64_t total = resource_list_get(&record->total, name);
    int64_t foreign = resource_list_get(&record->foreign, name);
    int64_t left = foreign < total ? total - foreign : 0;
    return left < AMOUNT_ONE_MAX ? left : AMOUNT_ONE_MAX;
}

static void count_one(struct sched *sched, uint32_t node,
                      const struct class_extra *extra, int64_t count)
{
    struct key128 key = key_of(node, extra->number);
    uint32_t row = map_find(&sched->extra_map, key);

    if (row == MAP_NONE) {
        row = SLOTS_TAKE(&sched->extras_used);
        sched->extras_used.items[row] =
            (struct extra_used){node, extra->number, 0};
        (void)map_put(&sched->extra_map, key, row);
    }
    i128 *amount = &sched->extras_used.items[row].amount;
    *amount += (i128)extra->amount * count;
    ASSERT(*amount >= 0); /* only what was counted leaves */
    if (*amount == 0) {
        (void)map_remove(&sched->extra_map, key);
        sched->extras_used.items[row].node = NONE;
        SLOTS_GIVE(&sched->extras_used, row);
    }
}

void extras_count_each(struct sched *sched, uint32_t node,
                       const struct class *class, int64_t count)
{
    for (uint32_t i = 0; i < class->extra_count; i++) {
        count_one(sched, node, &class->extras[i], count);
    }
}

static uint32_t times_in(i128 left, int64_t amount, uint32_t most)
{
    i128 times = left < 0 ? 0 : left / amount;

    return times < most ? (uint32_t)times : most;
}

uint32_t extras_times(const struct sched *sched, uint32_t node,
                      const struct class *class, uint32_t most)
{
    for (uint32_t i = 0; i < class->extra_count && most > 0; i++) {
        const struct class_extra *extra = &class->extras[i];
        most = times_in((i128)capacity_of(sched, node, extra) -
                            used_of(sched, node, extra->number),
                        extra->amount, most);
    }
    return most;
}

uint32_t extras_times_empty(const struct sched *sched, uint32_t node,
                            const struct class *class, uint32_t most)
{
    for (uint32_t i = 0; i < class->extra_count && most > 0; i++) {
        const struct class_extra *extra = &class->extras[i];
        most = times_in(capacity_of(sched, node, extra), extra->amount, most);
    }
    return most;
}

struct str extras_lacking(const struct sched *sched, uint32_t node,
                          const struct class *class)
{
    for (uint32_t i = 0; i < class->extra_count; i++) {
        const struct class_extra *extra = &class->extras[i];
        if ((i128)capacity_of(sched, node, extra) -
                used_of(sched, node, extra->number) <
            extra->amount) {
            return intern_get(sched->extra_names, extra->number);
        }
    }
    return (struct str){"", 0};
}

void extras_left(const struct sched *sched, uint32_t node,
                 const struct class *class, i128 *ret_left)
{
    for (uint32_t i = 0; i < class->extra_count; i++) {
        const struct class_extra *extra = &class->extras[i];
        ret_left[i] = (i128)capacity_of(sched, node, extra) -
                      used_of(sched, node, extra->number);
    }
}

void extras_sum_add(i128 *sums, const struct class *class,
                    const struct class *other)
{
    uint32_t i = 0, k = 0;

    while (i < class->extra_count && k < other->extra_count) {
        uint32_t mine = class->extras[i].number;
        uint32_t theirs = other->extras[k].number;
        if (mine == theirs) {
            sums[i] += other->extras[k].amount;
        }
        i += mine <= theirs;
        k += theirs <= mine;
    }
}

/* What the runs of a node have of a number. */
static i128 sum_of(const struct sched *sched, uint32_t node, uint32_t number,
                   uint32_t *ret_count)
{
    i128 sum = 0;

    for (uint32_t r = sched->nodes.items[node].run_first; r != NONE;
         r = sched->runs.items[r].node_next) {
        const struct class *class =
            &sched->classes
                 .items[class_of_job(sched, sched->runs.items[r].job)];
        for (uint32_t i = 0; i < class->extra_count; i++) {
            if (class->extras[i].number == number) {
                sum += class->extras[i].amount;
                ++*ret_count;
            }
        }
    }
    return sum;
}

bool extras_are_right(const struct sched *sched)
{
    uint32_t counted = 0, running = 0;

    for (size_t i = 0; i < sched->extras_used.count; i++) {
        const struct extra_used *used = &sched->extras_used.items[i];
        if (used->node != NONE &&
            sum_of(sched, used->node, used->number, &counted) != used->amount) {
            return false;
        }
    }
    for (uint32_t n = 0; n < sched->nodes.count; n++) {
        for (uint32_t r = sched->nodes.items[n].run_first; r != NONE;
             r = sched->runs.items[r].node_next) {
            running += sched->classes
                           .items[class_of_job(sched, sched->runs.items[r].job)]
                           .extra_count;
        }
    }
    return counted == running;
}
