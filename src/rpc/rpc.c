#include "rpc/rpc.h"

const char *rpc_code_name(enum rpc_code code)
{
    static const char *const names[] = {
        [RPC_OK] = "OK",
        [RPC_CANCELLED] = "CANCELLED",
        [RPC_UNKNOWN] = "UNKNOWN",
        [RPC_INVALID_ARGUMENT] = "INVALID_ARGUMENT",
        [RPC_DEADLINE_EXCEEDED] = "DEADLINE_EXCEEDED",
        [RPC_NOT_FOUND] = "NOT_FOUND",
        [RPC_ALREADY_EXISTS] = "ALREADY_EXISTS",
        [RPC_PERMISSION_DENIED] = "PERMISSION_DENIED",
        [RPC_RESOURCE_EXHAUSTED] = "RESOURCE_EXHAUSTED",
        [RPC_FAILED_PRECONDITION] = "FAILED_PRECONDITION",
        [RPC_ABORTED] = "ABORTED",
        [RPC_OUT_OF_RANGE] = "OUT_OF_RANGE",
        [RPC_UNIMPLEMENTED] = "UNIMPLEMENTED",
        [RPC_INTERNAL] = "INTERNAL",
        [RPC_UNAVAILABLE] = "UNAVAILABLE",
        [RPC_DATA_LOSS] = "DATA_LOSS",
        [RPC_UNAUTHENTICATED] = "UNAUTHENTICATED",
    };
    unsigned index = (unsigned)code;

    return index < ARRAY_COUNT(names) ? names[index] : "UNKNOWN";
}
