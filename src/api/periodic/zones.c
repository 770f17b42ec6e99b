#include "api/periodic/zones.h"

#include <glib.h>

struct system_zone {
    GTimeZone *zone; /* a reference */
    pthread_mutex_t *lock;
};

static int32_t offset_s(const struct zone *zone, int64_t utc_s)
{
    const struct system_zone *system = zone->ctx;

    pthread_mutex_lock(system->lock);
    gint interval =
        g_time_zone_find_interval(system->zone, G_TIME_TYPE_UNIVERSAL, utc_s);
    int32_t offset = g_time_zone_get_offset(system->zone, interval);
    pthread_mutex_unlock(system->lock);
    return offset;
}

/* Whether it is a name of the database, such as America/Argentina/Ushuaia: no
 * path that leads out of it, no rule of POSIX, and no offset. */
static bool is_name(struct str name)
{
    bool is_begin = true;

    if (name.byte_count == 0 || name.byte_count > ZONE_NAME_BYTES_MAX) {
        return false;
    }
    for (size_t i = 0; i < name.byte_count; i++) {
        char c = name.p[i];
        bool is_letter = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
        if (!is_letter && (is_begin || ((c < '0' || c > '9') && c != '_' &&
                                        c != '-' && c != '+' && c != '/'))) {
            return false;
        }
        is_begin = c == '/';
    }
    return !is_begin;
}

/* What GLib has for a name; NULL: nothing. */
static GTimeZone *find(struct str name, pthread_mutex_t *lock)
{
    char text[ZONE_NAME_BYTES_MAX + 1] = {0};

    if (!is_name(name)) {
        return NULL;
    }
    memcpy(text, name.p, name.byte_count);
    pthread_mutex_lock(lock);
    GTimeZone *zone = g_time_zone_new_identifier(text);
    pthread_mutex_unlock(lock);
    return zone;
}

int zone_open(struct str name, pthread_mutex_t *lock, struct zone *ret_zone,
              struct err *err)
{
    GTimeZone *found = find(name.byte_count ? name : STR("UTC"), lock);

    if (!found) {
        return err_set(err, -ERR_INVALID,
                       "timeZone: \"%.*s\" must be a name of the server's time "
                       "zone database, such as Europe/Berlin or UTC",
                       name.byte_count > ZONE_NAME_BYTES_MAX
                           ? ZONE_NAME_BYTES_MAX
                           : (int)name.byte_count,
                       name.p ? name.p : "");
    }
    struct system_zone *system = mem_alloc(sizeof(*system));
    *system = (struct system_zone){found, lock};
    *ret_zone = (struct zone){.offset_s = offset_s, .ctx = system};
    return 0;
}

void zone_close(struct zone *zone)
{
    struct system_zone *system = (struct system_zone *)(uintptr_t)zone->ctx;

    if (system) {
        pthread_mutex_lock(system->lock);
        g_time_zone_unref(system->zone);
        pthread_mutex_unlock(system->lock);
        mem_free(system);
    }
    *zone = (struct zone){0};
}
