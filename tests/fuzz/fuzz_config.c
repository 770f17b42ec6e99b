/* Configurations, as YAML. */
#include "fuzz.h"
#include "main/config/config.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count)
{
    auto_arena arena = {0};
    auto_strbuf first = {0}, second = {0};
    struct config *config = NULL;
    struct err err = {{0}};

    if (config_read(str_make(bytes, byte_count), "fuzz", &arena, &config,
                    &err) < 0) {
        ASSERT(err.text[0]);
        return 0;
    }
    if (config_check(config, &err) < 0) {
        ASSERT(err.text[0]);
    }
    settings_print(&config_settings, config, SETTINGS_COMMENTED, &first);
    int rc = config_read(strbuf_str(&first), "print", &arena, &config, &err);
    ASSERT(rc == 0);
    settings_print(&config_settings, config, SETTINGS_COMMENTED, &second);
    ASSERT(str_equal(strbuf_str(&first), strbuf_str(&second)));
    return 0;
}
