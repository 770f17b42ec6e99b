#include "sched/fairness/rates.h"
#include "sched/feature_table.h"

enum {
    HISTORY_VERSION = 2, /* 1: the rates alone, without sections */
    SECTIONS_MAX = 64,
};

void sched_history_pack(const struct sched *sched, struct strbuf *buf)
{
    pack_u64(buf, HISTORY_VERSION);
    for (size_t i = 0; feature_at(i); i++) {
        const struct feature *feature = feature_at(i);
        auto_strbuf bytes = {0};
        if (feature->pack) {
            feature->pack(sched, &bytes);
        }
        if (bytes.byte_count) {
            pack_str(buf, str_of(feature->name));
            pack_u64(buf, feature->version);
            pack_str(buf, strbuf_str(&bytes));
        }
    }
}

static const struct feature *find_section(struct str name)
{
    const struct feature *feature;

    for (size_t i = 0; (feature = feature_at(i)); i++) {
        if (feature->unpack && str_equal(str_of(feature->name), name)) {
            return feature;
        }
    }
    return NULL;
}

static int unpack_section(struct sched *sched, struct pack_reader *reader,
                          struct map *jobs)
{
    const struct feature *section = find_section(unpack_str(reader));
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
