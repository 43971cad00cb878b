// Helpers of the C interface's own, not for programs.
#ifndef CTUTTI_H
#define CTUTTI_H

#include "tutti.h"

void ctutti_set_last_error(const char *line);
// Copies as many whole characters as fit.
void ctutti_copy(char *to, size_t size, const char *from);
void ctutti_fill_event(
    struct tutti_event *event, int kind, int level, int64_t item, const char *text);
// A descriptor that can be read after `ctutti_raise`, until `ctutti_clear`; a negative error number if there is none.
int ctutti_signal(void);
void ctutti_raise(int descriptor);
void ctutti_clear(int descriptor);
void ctutti_close(int descriptor);

#endif
