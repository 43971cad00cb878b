#include "COpenAPI.h"

// Clang knows it in every C, and says so.
#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char document[] = {
#embed "../../../docs/openapi.json"
};

const unsigned char *const tutti_openapi = document;
const ptrdiff_t tutti_openapi_size = sizeof document;
