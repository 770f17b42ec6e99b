#include "sched/growth/elastic.h"

#include <string.h>

#include "base/heap.h"
#include "sched/data/merge_sort.h"

/* The units of one queue that may still grow, in order. */
struct line {
    uint32_t lane;
    uint32_t first, end;  /* its units */
    uint32_t *alive;      /* units, in order */
    uint32_t alive_count; /* in this pass */
    uint32_t at;          /* the next of them */
    uint32_t kept_count;  /* of those before `at`, for the next pass */
    uint32_t shed_end;    /* those from here on give nothing more for load */
};

struct step {
    struct elastic_unit *units;
    uint32_t count;
    const struct elastic_rules *rules;
    const struct elastic_space *space;
    struct line *lines;
    uint32_t line_count;
    uint32_t *heap; /* lines, the one to grow (or shrink) next at the top */
    uint32_t heap_count;
    bool is_shedding; /* the heap is of those to shrink */
    bool has_changed, is_truncated;
    uint32_t growth_count;
};

/* Order. */

static bool goes_before(const struct elastic_unit *a,
                        const struct elastic_unit *b, int64_t aging_ms)
{
    return a->lane != b->lane ? a->lane < b->lane
                              : cfs_compare(&a->key, &b->key, aging_ms) < 0;
}

void elastic_sort(struct elastic_unit *units, uint32_t count, int64_t aging_ms,
                  struct arena *arena)
{
    uint32_t *order = arena_alloc_array(arena, count, sizeof(*order));
    uint32_t *other = arena_alloc_array(arena, count, sizeof(*other));
    struct elastic_unit *copy = arena_alloc_array(arena, count, sizeof(*copy));

    for (uint32_t i = 0; i < count; i++) {
        order[i] = i;
    }
#define GOES_BEFORE(b, a) goes_before(&units[*(b)], &units[*(a)], aging_ms)
    order = MERGE_SORT(order, other, count, GOES_BEFORE);
#undef GOES_BEFORE
    if (count) {
        memcpy(copy, units, count * sizeof(*copy));
    }
    for (uint32_t i = 0; i < count; i++) {
        units[i] = copy[order[i]];
    }
}

static bool is_waiting(const struct elastic_unit *unit)
{
    return unit->count < unit->min;
}

static bool wants_growth(const struct elastic_unit *unit)
{
    return unit->count < unit->max && !unit->is_frozen && !unit->is_held &&
           !is_waiting(unit);
}

static void make_lines(struct step *step, struct arena *arena)
{
    uint32_t *alive = arena_alloc_array(arena, step->count, sizeof(*alive));

    step->lines = arena_alloc_array(arena, step->count, sizeof(*step->lines));
    step->heap = arena_alloc_array(arena, step->count, sizeof(*step->heap));
    for (uint32_t i = 0; i < step->count; i++) {
        struct elastic_unit *unit = &step->units[i];
        ASSERT(unit->min <= unit->max && unit->count <= unit->max);
        if (i == 0 || unit->lane != unit[-1].lane) {
            step->lines[step->line_count++] = (struct line){
                .lane = unit->lane, .first = i, .alive = &alive[i]};
        }
        struct line *line = &step->lines[step->line_count - 1];
        line->end = line->shed_end = i + 1;
        bool may_start = is_waiting(unit) && step->space->start;
        if (may_start || wants_growth(unit)) {
            line->alive[line->alive_count++] = i;
        }
    }
}

/* The heap of lines. */

static bool line_less(const struct step *step, uint32_t a, uint32_t b)
{
    int c = step->space->compare_lanes(
        step->space->context, step->lines[a].lane, step->lines[b].lane);
    return c != 0 ? c < 0 : a < b;
}

/* Whether one line's turn comes before another's: the last is the first to
 * shrink. */
static bool goes_first(const struct step *step, const uint32_t *a,
                       const uint32_t *b)
{
    return step->is_shedding ? line_less(step, *b, *a)
                             : line_less(step, *a, *b);
}

DEFINE_HEAP(lines, uint32_t, 2, const struct step *, goes_first, HEAP_PLAIN);

/* Of the lines that have something to grow, or of all. */
static void make_heap(struct step *step)
{
    step->heap_count = 0;
    for (uint32_t i = 0; i < step->line_count; i++) {
        if (step->is_shedding || step->lines[i].alive_count) {
            step->heap[step->heap_count++] = i;
        }
    }
    lines_build(step, step->heap, step->heap_count);
}

/* After the turn of the line at the top: it goes, or goes on. */
static void end_turn(struct step *step, bool is_left)
{
    ASSERT(step->heap_count > 0);
    if (is_left) {
        lines_sink(step, step->heap, step->heap_count, 0, step->heap[0]);
    } else {
        lines_remove(step, step->heap, --step->heap_count, 0);
    }
}

/* Growth. */

/* Whether a unit grew, and so may try again. */
static bool serve(struct step *step, uint32_t index)
{
    struct elastic_unit *unit = &step->units[index];
    const struct elastic_space *space = step->space;

    if (is_waiting(unit)) {
        if (!space->start(space->context, index)) {
            return false;
        }
        step->growth_count += unit->min - unit->count;
        unit->count = unit->min;
    } else if (space->grow(space->context, index)) {
        step->growth_count++;
        unit->count++;
    } else {
        return false;
    }
    ASSERT(unit->count <= unit->max); /* nobody grows beyond its maximum */
    step->has_changed = true;
    return wants_growth(unit);
}

/* Ask the next unit of a line; false: none of it is left. */
static bool step_line(struct step *step, struct line *line)
{
    const struct elastic_space *space = step->space;
    uint32_t index = line->alive[line->at++];
    const struct elastic_unit *unit = &step->units[index];

    if (serve(step, index)) {
        line->alive[line->kept_count++] = index;
    } else if (is_waiting(unit) && space->could_start(space->context, index)) {
        line->alive_count = line->at; /* those to its right hold still */
    }
    ASSERT(line->kept_count <= line->at);
    if (line->at >= line->alive_count) {
        line->alive_count = line->kept_count;
        line->at = line->kept_count = 0;
    }
    return line->alive_count > 0;
}

static void grow_all(struct step *step)
{
    make_heap(step);
    while (step->heap_count) {
        if (step->growth_count >= step->rules->growth_max) {
            step->is_truncated = true;
            return;
        }
        end_turn(step, step_line(step, &step->lines[step->heap[0]]));
    }
}

/* Shrinking. */

static bool may_give(const struct elastic_unit *unit)
{
    return unit->count > unit->min && !unit->is_frozen;
}

/* The rightmost unit of a line that may give a pod to others, or NONE. */
static uint32_t rightmost_of(const struct step *step, const struct line *line)
{
    for (uint32_t i = line->end; i > line->first; i--) {
        if (may_give(&step->units[i - 1])) {
            return i - 1;
        }
    }
    return NONE;
}

/* The one that is to give for the load, or NONE: frozen or not.  One that
 * cannot now will not in this step, for load only falls. */
static uint32_t heaviest_of(const struct step *step, struct line *line)
{
    const struct elastic_space *space = step->space;

    for (; line->shed_end > line->first; line->shed_end--) {
        const struct elastic_unit *unit = &step->units[line->shed_end - 1];
        if (unit->count > unit->min &&
            space->is_overloaded(space->context, line->shed_end - 1)) {
            return line->shed_end - 1;
        }
    }
    return NONE;
}

/* The rightmost of all: of the last line that has one. */
static uint32_t rightmost(const struct step *step)
{
    uint32_t best_line = NONE, best = NONE;

    for (uint32_t i = 0; i < step->line_count; i++) {
        if (best_line != NONE && line_less(step, i, best_line)) {
            continue;
        }
        uint32_t unit = rightmost_of(step, &step->lines[i]);
        if (unit != NONE) {
            best_line = i;
            best = unit;
        }
    }
    return best;
}

static bool take_from(struct step *step, uint32_t index)
{
    if (!step->space->shrink(step->space->context, index)) {
        return false;
    }
    /* No pod of a minimum is taken. */
    ASSERT(step->units[index].count > step->units[index].min);
    step->units[index].count--;
    return true;
}

static void shed_load(struct step *step)
{
    step->is_shedding = true;
    make_heap(step);
    while (step->heap_count) {
        struct line *line = &step->lines[step->heap[0]];
        uint32_t index = heaviest_of(step, line);
        if (index != NONE && take_from(step, index)) {
            step->has_changed = true;
        } else if (index != NONE) {
            line->shed_end--; /* none of its pods may go */
        }
        end_turn(step, index != NONE);
    }
    step->is_shedding = false;
}

/* Take pods from the right until a unit starts; else nothing was taken. */
static bool make_room(struct step *step, uint32_t index, uint32_t *before)
{
    const struct elastic_space *space = step->space;
    uint64_t mark = space->mark(space->context);
    uint32_t other;

    for (uint32_t i = 0; i < step->count; i++) {
        before[i] = step->units[i].count;
    }
    while ((other = rightmost(step)) != NONE && take_from(step, other)) {
        if (space->start(space->context, index)) {
            step->units[index].count = step->units[index].min;
            return true;
        }
    }
    space->back(space->context, mark);
    for (uint32_t i = 0; i < step->count; i++) {
        step->units[i].count = before[i];
    }
    return false;
}

static void make_rooms(struct step *step, struct arena *arena)
{
    uint32_t *before = arena_alloc_array(arena, step->count, sizeof(*before));

    for (uint32_t i = 0; step->space->start && i < step->count; i++) {
        if (is_waiting(&step->units[i])) {
            step->has_changed |= make_room(step, i, before);
        }
    }
}

/* Whether a unit has run more than 1 + evenness times the mean of its line's
 * units that run. */
static bool is_far_ahead(const struct step *step, const struct line *line,
                         uint32_t index)
{
    u128 sum = 0;
    uint64_t count = 0;

    for (uint32_t i = line->first; i < line->end; i++) {
        if (!is_waiting(&step->units[i])) {
            sum += cfs_score_fixed(&step->units[i].key);
            count++;
        }
    }
    return exact_compare_products(
               cfs_score_fixed(&step->units[index].key),
               (u128)count * FRACTION_ONE_PPM, sum,
               (u128)(FRACTION_ONE_PPM + step->rules->evenness_ppm)) > 0;
}

static uint32_t leftmost_that_wants(const struct step *step,
                                    const struct line *line)
{
    for (uint32_t i = line->first; i < line->end; i++) {
        if (wants_growth(&step->units[i])) {
            return i;
        }
    }
    return NONE;
}

/* Move one pod from the right to the left of a line. */
static bool even_out(struct step *step, const struct line *line)
{
    const struct elastic_space *space = step->space;
    uint32_t from = rightmost_of(step, line);
    uint32_t to = leftmost_that_wants(step, line);

    if (from == NONE || to == NONE || to >= from ||
        !is_far_ahead(step, line, from)) {
        return false;
    }
    uint64_t mark = space->mark(space->context);
    if (!take_from(step, from)) {
        return false;
    }
    if (!space->grow(space->context, to)) {
        space->back(space->context, mark);
        step->units[from].count++;
        return false;
    }
    step->units[to].count++;
    return true;
}

bool elastic_step(struct elastic_unit *units, uint32_t count,
                  const struct elastic_rules *rules,
                  const struct elastic_space *space, struct arena *arena)
{
    struct step step = {
        .units = units,
        .count = count,
        .rules = rules,
        .space = space,
        .has_changed = rules->has_changed,
    };

    make_lines(&step, arena);
    grow_all(&step);
    shed_load(&step);
    if (!step.has_changed) {
        make_rooms(&step, arena);
    }
    for (uint32_t i = 0; !step.has_changed && i < step.line_count; i++) {
        step.has_changed = even_out(&step, &step.lines[i]);
    }
    return step.is_truncated;
}
