#include "sched/state/history.h"

#include "sched/apps/apps.h"
#include "sched/evict/cooldown.h"
#include "sched/fairness/admitted.h"
#include "sched/fairness/penalty.h"
#include "sched/fairness/rates.h"
#include "sched/fairness/usage_ledger.h"
#include "sched/health/health.h"
#include "sched/order/sweep.h"
#include "sched/state/distance_cap.h"
#include "sched/state/scale.h"
#include "sched/state/sub_groups.h"

enum {
    HISTORY_VERSION = 2, /* 1: the rates alone, without sections */
    SECTIONS_MAX = 64,
};

/* In the order in which they are written, and read: what a gang asks for must
 * be known before it is admitted. */
static const struct history_section SECTIONS[] = {
    {"rates", 1, rates_pack, rates_unpack},
    {"sub-groups", 1, sub_groups_pack, sub_groups_unpack},
    /* 1: none at once; 2: none from a time on. */
    {"admitted", 3, admitted_pack, admitted_unpack},
    {"applications", 1, apps_pack, apps_unpack},
    {"health", 1, health_pack, health_unpack},
    {"penalties", 1, penalty_pack, penalty_unpack},
    {"standings", 1, usage_ledgers_pack, usage_ledgers_unpack},
    {"hops", 1, hops_pack, hops_unpack},
    {"scaled", 1, scale_pack, scale_unpack},
    {"truces", 1, cooldown_pack, cooldown_unpack},
    {"sweeps", 1, sweep_pack, sweep_unpack},
};

void sched_history_pack(const struct sched *sched, struct strbuf *buf)
{
    pack_u64(buf, HISTORY_VERSION);
    for (size_t i = 0; i < ARRAY_COUNT(SECTIONS); i++) {
        auto_strbuf bytes = {0};
        SECTIONS[i].pack(sched, &bytes);
        if (bytes.byte_count) {
            pack_str(buf, str_of(SECTIONS[i].name));
            pack_u64(buf, SECTIONS[i].version);
            pack_str(buf, strbuf_str(&bytes));
        }
    }
}

static const struct history_section *find_section(struct str name)
{
    for (size_t i = 0; i < ARRAY_COUNT(SECTIONS); i++) {
        if (str_equal(str_of(SECTIONS[i].name), name)) {
            return &SECTIONS[i];
        }
    }
    return NULL;
}

static int unpack_section(struct sched *sched, struct pack_reader *reader,
                          struct map *jobs)
{
    const struct history_section *section = find_section(unpack_str(reader));
    struct history_reader part = {.jobs = jobs};

    part.version = unpack_u64(reader);
    part.pack.rest = unpack_str(reader);
    if (reader->is_bad) {
        return -ERR_CORRUPT;
    }
    if (!section || part.version > section->version) {
        return -ERR_VERSION;
    }
    section->unpack(sched, &part);
    return part.pack.is_bad || part.pack.rest.byte_count ? -ERR_CORRUPT : 0;
}

static int unpack_sections(struct sched *sched, struct pack_reader *reader)
{
    struct map jobs = {0};
    int rc = 0;

    for (uint32_t n = 0; reader->rest.byte_count && rc == 0; n++) {
        rc = n < SECTIONS_MAX ? unpack_section(sched, reader, &jobs)
                              : -ERR_CORRUPT;
    }
    map_fini(&jobs);
    return rc;
}

int sched_history_unpack(struct sched *sched, struct str bytes)
{
    struct history_reader reader = {.pack = {.rest = bytes}, .version = 1};
    uint64_t version = unpack_u64(&reader.pack);

    if (reader.pack.is_bad) {
        return -ERR_CORRUPT;
    }
    if (version > HISTORY_VERSION) {
        return -ERR_VERSION;
    }
    sched->version++;
    if (version >= 2) {
        return unpack_sections(sched, &reader.pack);
    }
    rates_unpack(sched, &reader);
    return reader.pack.is_bad ? -ERR_CORRUPT : 0;
}
