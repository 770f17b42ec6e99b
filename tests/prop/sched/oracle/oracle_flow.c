/* Flows and what they allow (model.md 2.5 to 2.7), in a plan. */
#include "oracle_private.h"

/* Of a double's last bits: half a digit when it is rounded, and what sums that
 * are made in another order may differ by. */
enum { HALF_DIGIT = 1 << 21, ERROR_MAX = 1 << 15 };

/* Flows above what is used, or above a limit, by less are rounding's. */
static const double NEAR = 1e-9, SLACK = 1e-12;

/* What is left of a flow was once a small part beside what was used, and is
 * known no better than that, however little it is now. */
static const double BLUR = 2e-15;

/* To 30 binary digits, as numbers of a queue whose factor is 1 were counted in
 * millionths; `error` more or less of what is too many. */
static double rounded(double value, int64_t error)
{
    double scaled = value * 500000;
    int64_t bits;

    memcpy(&bits, &scaled, sizeof(bits));
    bits = scaled > 0 ? (bits + error + HALF_DIGIT) & -(2 * HALF_DIGIT) : 0;
    memcpy(&scaled, &bits, sizeof(scaled));
    return scaled;
}

/* The same; what decayed is that much more, or less. */
static double rounded_with(struct number number, int64_t error)
{
    double blur = error > 0 ? BLUR : error < 0 ? -BLUR : 0;

    return number.is_exact ? rounded(number.value, 0)
                           : rounded(number.value + blur, error);
}

static int compare_rounded(struct number a, struct number b, int64_t error)
{
    double x = rounded_with(a, error), y = rounded_with(b, -error);

    return (x > y) - (x < y);
}

int oracle_compare(const struct oracle *o, struct number a, struct number b)
{
    if (o->in->half_ms == 0) {
        return fraction_compare(a.exact, b.exact);
    }
    int c = compare_rounded(a, b, 0);
    o->plan->is_close |= compare_rounded(a, b, ERROR_MAX) != c ||
                         compare_rounded(a, b, -ERROR_MAX) != c;
    return c;
}

struct number oracle_number(struct fraction exact)
{
    return (struct number){exact, fraction_value(exact), true};
}

/* A flow, or what is used where it is not above that. */
static struct number larger(struct number flow, struct number used)
{
    return flow.value > used.value * (1 + NEAR) ? flow : used;
}

static struct number times(struct number a, int factor)
{
    return (struct number){fraction_times(a.exact, fraction_of(factor, 1)),
                           a.value * factor, a.is_exact};
}

/* Work of other pools may be taken back at any time. */
static bool is_lasting(const struct instance *in, int job)
{
    return instance_lifetime(in, job) == ENDLESS && !in->jobs[job].is_borrowed;
}

/* What all, or only endless, work of a queue costs, with `more`. */
static struct fraction usage_with(const struct oracle *o, int queue,
                                  bool is_endless,
                                  const int more[INSTANCE_KINDS])
{
    int amounts[INSTANCE_KINDS];

    memcpy(amounts, more, sizeof(amounts));

    for (int j = 0; j < o->in->job_count; j++) {
        bool is_left_out = o->alone == queue + 1;
        bool counts = (oracle_runs(o, j) || (o->status[j] == WAITING &&
                                             o->admitted[j] && !is_left_out)) &&
                      o->in->jobs[j].queue == queue &&
                      (!is_endless || is_lasting(o->in, j));
        for (int k = 0; counts && k < INSTANCE_KINDS; k++) {
            amounts[k] += o->in->jobs[j].request[k];
        }
    }
    return instance_cost(o->in, amounts);
}

void oracle_flows_begin(struct oracle *o)
{
    static const int NOTHING[INSTANCE_KINDS] = {0};

    for (int q = 0; q < o->in->queue_count; q++) {
        const struct flow_note *flow = &o->in->queues[q].flow[0];
        for (int e = 0; e < 2; e++) {
            struct number used = oracle_number(usage_with(o, q, e, NOTHING));
            double value = e ? flow->endless : flow->all;
            o->flow[q][e] = larger((struct number){{0, 1}, value, false}, used);
        }
    }
}

void oracle_flows_rise(struct oracle *o, int queue)
{
    static const int NOTHING[INSTANCE_KINDS] = {0};

    for (int e = 0; e < 2; e++) {
        struct number used = oracle_number(usage_with(o, queue, e, NOTHING));
        o->flow[queue][e] =
            o->in->half_ms > 0 ? larger(o->flow[queue][e], used) : used;
    }
}

static struct number flow_with(const struct oracle *o, int unit,
                               bool is_endless)
{
    int queue = o->in->jobs[unit].queue, request[INSTANCE_KINDS] = {0};

    oracle_unit_sum(o, unit, request);
    struct number used =
        oracle_number(usage_with(o, queue, is_endless, request));
    if (o->alone != queue + 1) {
        return larger(o->flow[queue][is_endless], used);
    }
    return o->in->half_ms > 0 ? larger(o->alone_flow, used) : used;
}

void oracle_leave_out(struct oracle *o, int unit)
{
    static const int NOTHING[INSTANCE_KINDS] = {0};
    int queue = o->in->jobs[unit].queue;
    double whole = fraction_value(usage_with(o, queue, false, NOTHING));

    o->alone = queue + 1;
    o->alone_flow = (struct number){
        {0, 1},
        o->flow[queue][0].value - whole +
            fraction_value(usage_with(o, queue, false, NOTHING)),
        false,
    };
}

void oracle_put_back(struct oracle *o, int unit)
{
    o->alone = 0;
    oracle_flows_rise(o, o->in->jobs[unit].queue);
}

struct number oracle_flow_with(const struct oracle *o, int unit)
{
    int queue = o->in->jobs[unit].queue;

    return times(flow_with(o, unit, false), o->in->queues[queue].factor_halves);
}

struct number oracle_flow_now(const struct oracle *o, int queue)
{
    return times(o->flow[queue][0], o->in->queues[queue].factor_halves);
}

static int charged_ms(const struct oracle *o, int job)
{
    int lifetime = instance_lifetime(o->in, job);
    int deadline = o->in->jobs[job].deadline;

    return deadline && deadline < lifetime ? deadline : lifetime;
}

/* The charge for a unit, or for a job alone. */
static struct fraction charge_of(const struct oracle *o, int job,
                                 const int request[INSTANCE_KINDS])
{
    static const int NOTHING[INSTANCE_KINDS] = {0};
    int queue = o->in->jobs[job].queue;

    return instance_charge(o->in, queue, usage_with(o, queue, false, NOTHING),
                           usage_with(o, queue, false, request),
                           charged_ms(o, job));
}

/* What is left of a queue's budget; nothing, where more was booked in the
 * meantime than it had. */
static struct fraction budget_left(const struct oracle *o, int queue)
{
    struct fraction left =
        fraction_times(instance_share(o->in, queue, true),
                       fraction_of(o->in->budget_minutes * 60000, 1));

    left = fraction_less(left, o->spent[queue]);
    for (int j = 0; j < o->in->job_count; j++) {
        bool is_booked = (oracle_runs(o, j) && o->status[j] != PLACED) ||
                         (o->status[j] == WAITING && o->admitted[j]);
        if (is_booked && o->in->jobs[j].queue == queue) {
            left = fraction_less(left, o->in->jobs[j].charge);
        }
    }
    return left;
}

static bool is_within_budget(const struct oracle *o, int unit)
{
    int queue = o->in->jobs[unit].queue, request[INSTANCE_KINDS] = {0};

    oracle_unit_sum(o, unit, request);
    return fraction_compare(charge_of(o, unit, request),
                            budget_left(o, queue)) <= 0;
}

bool oracle_is_within_rights(const struct oracle *o, int unit)
{
    int queue = o->in->jobs[unit].queue;

    if (o->is_lending) {
        return true; /* it may be taken back at any time */
    }
    if (instance_lifetime(o->in, unit) != ENDLESS) {
        return o->in->budget_minutes == NO_LIMIT || is_within_budget(o, unit);
    }
    if (o->in->over_share_percent == NO_LIMIT) {
        return true;
    }
    struct fraction limit =
        fraction_times(instance_share(o->in, queue, false),
                       fraction_of(100 + o->in->over_share_percent, 100));
    struct number flow = flow_with(o, unit, true);
    return flow.is_exact ? fraction_compare(flow.exact, limit) <= 0
                         : flow.value <= fraction_value(limit) * (1 + SLACK);
}

double oracle_book(struct oracle *o, int unit,
                   const int request[INSTANCE_KINDS])
{
    int queue = o->in->jobs[unit].queue;

    if (o->in->budget_minutes == NO_LIMIT || o->is_lending ||
        instance_lifetime(o->in, unit) == ENDLESS) {
        return 0;
    }
    struct fraction charge = charge_of(o, unit, request);
    o->spent[queue] = fraction_add(o->spent[queue], charge);
    return fraction_value(charge) * 1e6;
}

void oracle_share_charge(struct oracle *o, int unit)
{
    struct fraction charge = {0, 1};
    int count = 0;

    for (int j = 0; j < o->in->job_count; j++) {
        if (oracle_is_member(o, unit, j)) {
            charge = fraction_add(charge, o->in->jobs[j].charge);
            count++;
        }
    }
    o->asking_charge = fraction_times(charge, fraction_of(1, count));
}

double oracle_rebook(struct oracle *o, int job)
{
    int queue = o->in->jobs[job].queue;

    o->spent[queue] = fraction_add(o->spent[queue], o->asking_charge);
    return fraction_value(o->asking_charge) * 1e6;
}
