#include "tutti.h"
#include "ctutti.h"

#include <errno.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

static _Thread_local char last_error[512];

const char *tutti_last_error(void) { return last_error; }

void ctutti_set_last_error(const char *line) { ctutti_copy(last_error, sizeof last_error, line); }

void ctutti_copy(char *to, size_t size, const char *from) {
  size_t length = strlen(from);
  if (length >= size) {
    length = size - 1;
    // No character of UTF-8 is cut in two.
    while (length > 0 && ((unsigned char)from[length] & 0xC0) == 0x80)
      length--;
  }
  memcpy(to, from, length);
  to[length] = 0;
}

void ctutti_fill_event(
    struct tutti_event *event, int kind, int level, int64_t item, const char *text) {
  event->kind = kind;
  event->level = level;
  event->item = item;
  ctutti_copy(event->text, sizeof event->text, text);
}

int ctutti_signal(void) {
  int descriptor = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  return descriptor < 0 ? -errno : descriptor;
}

void ctutti_raise(int descriptor) { (void)eventfd_write(descriptor, 1); }

void ctutti_clear(int descriptor) {
  eventfd_t value;
  (void)eventfd_read(descriptor, &value);
}

void ctutti_close(int descriptor) { close(descriptor); }
