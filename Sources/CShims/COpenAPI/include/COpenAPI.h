#pragma once

#include <stddef.h>

/// docs/openapi.json, as it was when this was built.
extern const unsigned char *const tutti_openapi;
extern const ptrdiff_t tutti_openapi_size;
