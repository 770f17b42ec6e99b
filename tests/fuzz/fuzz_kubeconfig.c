/* Kubeconfigs: one that was read names a server, and whole pairs of keys. */
#include "fuzz.h"
#include "kube/config/kube_config.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count)
{
    struct kube_config config;
    struct err err = {{0}};

    if (kube_config_parse(str_make(bytes, byte_count), "/nowhere", STR(""),
                          &config, &err) < 0) {
        ASSERT(err.text[0]);
        return 0;
    }
    ASSERT(strncmp(config.server, "http", 4) == 0);
    ASSERT(!config.certificate.byte_count == !config.key.byte_count);
    ASSERT(config.exec.args && config.exec.envs);
    kube_config_fini(&config);
    return 0;
}
