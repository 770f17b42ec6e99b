#include "wire/training/training_fields.h"

#include <string.h>

int training_refuse(struct training_reading *r, const char *path,
                    const char *key, const char *what)
{
    return err_set(r->err, -ERR_INVALID, "%s%s%s: %s", path,
                   *path && *key ? "." : "", key, what);
}

json_t *training_field(const json_t *object, const char *key)
{
    json_t *value = json_object_get(object, key);

    return json_is_null(value) ? NULL : value;
}

struct str training_text(const json_t *value)
{
    return str_make(json_string_value(value), json_string_length(value));
}

bool training_is_text(const json_t *value)
{
    return json_is_string(value) &&
           strlen(json_string_value(value)) == json_string_length(value);
}

static const struct training_member *
find_member(const struct training_member *members, size_t count,
            const char *key)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(members[i].key, key) == 0) {
            return &members[i];
        }
    }
    return NULL;
}

int training_check_keys(struct training_reading *r, const char *path,
                        json_t *object, const struct training_member *members,
                        size_t count)
{
    const char *key;
    json_t *value;

    if (!json_is_object(object)) {
        return training_refuse(r, path, "", "must be an object");
    }
    json_object_foreach(object, key, value)
    {
        if (!find_member(members, count, key)) {
            return training_refuse(r, path, key, "unknown field");
        }
    }
    return 0;
}

int training_read_number(struct training_reading *r, const char *path,
                         const struct training_member *member, json_t *object,
                         int64_t *ret_number)
{
    const json_t *value = training_field(object, member->key);

    *ret_number = member->initial;
    if (!value) {
        json_object_set_new(object, member->key, json_integer(member->initial));
        return 0;
    }
    if (!json_is_integer(value)) {
        return training_refuse(r, path, member->key, "must be a whole number");
    }
    *ret_number = json_integer_value(value);
    if (*ret_number < member->min || *ret_number > member->max) {
        return err_set(r->err, -ERR_INVALID,
                       "%s.%s: must be from %lld to %lld, not %lld", path,
                       member->key, (long long)member->min,
                       (long long)member->max, (long long)*ret_number);
    }
    return 0;
}

static int read_member(struct training_reading *r, const char *path,
                       const struct training_member *member, json_t *object,
                       char *record)
{
    const json_t *value = training_field(object, member->key);
    void *place = record + member->offset;

    switch (member->kind) {
    case MEMBER_NUMBER:
        return training_read_number(r, path, member, object, place);
    case MEMBER_TEXT:
        if (value && !training_is_text(value)) {
            return training_refuse(r, path, member->key, "must be a text");
        }
        *(struct str *)place = value ? training_text(value) : STR("");
        return 0;
    case MEMBER_BOOL:
        if (value && !json_is_boolean(value)) {
            return training_refuse(r, path, member->key,
                                   "must be true or false");
        }
        *(bool *)place = json_is_true(value);
        if (!value) {
            json_object_set_new(object, member->key, json_false());
        }
        return 0;
    case MEMBER_OTHER:
        break;
    }
    return 0;
}

int training_read_members(struct training_reading *r, const char *path,
                          json_t *object, const struct training_member *members,
                          size_t count, void *record)
{
    int rc = training_check_keys(r, path, object, members, count);

    for (size_t i = 0; i < count && rc == 0; i++) {
        rc = read_member(r, path, &members[i], object, record);
    }
    return rc;
}

int training_read_texts(struct training_reading *r, const char *path,
                        json_t *map)
{
    const char *key;
    json_t *value;
    void *next;

    if (map && !json_is_object(map)) {
        return training_refuse(r, path, "", "must be a map of texts");
    }
    json_object_foreach_safe(map, next, key, value)
    {
        if (json_is_integer(value)) {
            json_object_set_new(
                map, key,
                json_sprintf("%lld", (long long)json_integer_value(value)));
        } else if (json_is_boolean(value)) {
            json_object_set_new(
                map, key, json_string(json_is_true(value) ? "true" : "false"));
        } else if (!training_is_text(value)) {
            return training_refuse(r, path, key, "must be a text");
        }
    }
    return 0;
}

json_t *training_object(json_t *parent, const char *key)
{
    json_t *object = training_field(parent, key);

    if (!object) {
        object = json_object();
        json_object_set_new(parent, key, object);
    }
    return object;
}
