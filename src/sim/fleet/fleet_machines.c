#include "sim/fleet/fleet_machines.h"

#include <stdlib.h>

#include "sim/world/text_file.h"

enum {
    COLUMNS = 5,
    AMOUNT_MAX = 1000000, /* of cores, GB or GPUs of a machine */
};

/* A machine and its place, so that sorting keeps the order of equals. */
struct row {
    struct fleet_machine machine;
    struct str type;
    size_t place;
};

static bool read_amount(struct str text, int64_t *ret_amount)
{
    *ret_amount = 0;
    for (size_t i = 0; i < text.byte_count; i++) {
        if (text.p[i] < '0' || text.p[i] > '9' || *ret_amount > AMOUNT_MAX) {
            return false;
        }
        *ret_amount = *ret_amount * 10 + (text.p[i] - '0');
    }
    return text.byte_count > 0 && *ret_amount <= AMOUNT_MAX;
}

static bool read_row(struct str line, struct arena *arena, struct row *ret_row)
{
    struct str columns[COLUMNS];
    struct fleet_machine *machine = &ret_row->machine;
    int64_t gpu_count;

    if (text_file_columns(line, columns, COLUMNS) != COLUMNS ||
        columns[0].byte_count == 0 || columns[1].byte_count == 0 ||
        !read_amount(columns[2], &machine->core_count) ||
        !read_amount(columns[3], &machine->memory_gb) ||
        !read_amount(columns[4], &gpu_count)) {
        return false;
    }
    machine->gpu_count = (uint32_t)gpu_count;
    machine->name = arena_str(arena, columns[0]);
    ret_row->type = arena_str(arena, columns[1]);
    return true;
}

static int compare_rows(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    int order = str_compare(x->type, y->type);

    return order ? order : x->place < y->place ? -1 : x->place > y->place;
}

/* The type of a row, in order; made when new.  False: there are too many. */
static bool enter_type(struct fleet_machines *machines, struct row *row)
{
    uint32_t count = machines->type_count;
    struct fleet_type *last = &machines->types[count ? count - 1 : 0];

    if (count == 0 || !str_equal(last->name, row->type)) {
        if (count == FLEET_TYPES_MAX) {
            return false;
        }
        last = &machines->types[machines->type_count++];
        *last = (struct fleet_type){.name = row->type, .gpus_min = UINT32_MAX};
    }
    row->machine.type = machines->type_count - 1;
    return true;
}

static int keep_rows(struct fleet_machines *machines, struct row *rows,
                     size_t count, uint32_t part, struct err *err)
{
    size_t of_type = 0;

    qsort(rows, count, sizeof(*rows), compare_rows);
    for (size_t i = 0; i < count; i++) {
        of_type =
            i && str_equal(rows[i].type, rows[i - 1].type) ? of_type + 1 : 0;
        uint32_t gpu_count = rows[i].machine.gpu_count;
        if (gpu_count == 0 || of_type % part != 0) {
            continue;
        }
        if (!enter_type(machines, &rows[i])) {
            return err_set(err, -ERR_LIMIT,
                           "there are more than %d types of machines",
                           (int)FLEET_TYPES_MAX);
        }
        struct fleet_type *type = &machines->types[rows[i].machine.type];
        type->machine_count++;
        type->gpu_count += gpu_count;
        type->gpus_min =
            gpu_count < type->gpus_min ? gpu_count : type->gpus_min;
        VEC_PUSH(&machines->items, rows[i].machine);
    }
    return machines->items.count
               ? 0
               : err_set(err, -ERR_INVALID, "no machine in it has a GPU");
}

int fleet_machines_parse(struct str text, uint32_t part,
                         struct fleet_machines *ret_machines, struct err *err)
{
    struct fleet_machines machines = {0};
    VEC(struct row) rows = {0};
    struct str line;
    uint32_t line_number = 0;
    int rc = 0;

    while (rc == 0 && text_file_line(&text, &line)) {
        struct row row = {.place = rows.count};
        line_number++;
        bool has_names =
            line_number == 1 && str_starts_with(line, STR("machine,"));
        if (line.byte_count == 0 || has_names) {
            continue;
        }
        if (!read_row(line, &machines.arena, &row) ||
            rows.count == FLEET_MACHINES_MAX) {
            rc = err_set(err, -ERR_INVALID,
                         "line %u: this is not a row of machine, gpu_type, "
                         "cap_cpu, cap_mem and cap_gpu",
                         line_number);
            break;
        }
        VEC_PUSH(&rows, row);
    }
    rc = rc ? rc : keep_rows(&machines, rows.items, rows.count, part, err);
    VEC_FREE(&rows);
    if (rc < 0) {
        fleet_machines_fini(&machines);
        return rc;
    }
    *ret_machines = machines;
    return 0;
}

int fleet_machines_read(const char *path, uint32_t part,
                        struct fleet_machines *ret_machines, struct err *err)
{
    auto_strbuf text = {0};
    struct err why;

    int rc = text_file_read(path, &text, err);
    if (rc < 0) {
        return rc;
    }
    rc = fleet_machines_parse(strbuf_str(&text), part, ret_machines, &why);
    return rc < 0 ? err_set(err, rc, "%s: %s", path, why.text) : 0;
}

void fleet_machines_fini(struct fleet_machines *machines)
{
    VEC_FREE(&machines->items);
    arena_fini(&machines->arena);
}
