#pragma once
#include <errno.h>

// The value of a call that succeeded, or a negative errno.
static inline int outcome(int result) { return result < 0 ? -errno : result; }
