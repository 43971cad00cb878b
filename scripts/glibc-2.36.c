/* The functions that Debian's static Swift run-time library takes from glibc 2.38, for programs that run with the 2.36 of
   Debian 12. Linked only by scripts/cross.sh. */
#define _GNU_SOURCE
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

long __isoc23_strtol(const char *s, char **end, int base) { return strtol(s, end, base); }
long long __isoc23_strtoll(const char *s, char **end, int base) { return strtoll(s, end, base); }
unsigned long __isoc23_strtoul(const char *s, char **end, int base) {
  return strtoul(s, end, base);
}
unsigned long long __isoc23_strtoull(const char *s, char **end, int base) {
  return strtoull(s, end, base);
}

int __isoc23_sscanf(const char *s, const char *format, ...) {
  va_list values;
  va_start(values, format);
  int count = vsscanf(s, format, values);
  va_end(values);
  return count;
}

int __isoc23_fscanf(FILE *file, const char *format, ...) {
  va_list values;
  va_start(values, format);
  int count = vfscanf(file, format, values);
  va_end(values);
  return count;
}

size_t strlcpy(char *to, const char *from, size_t size) {
  size_t length = strlen(from);
  if (size) {
    size_t count = length < size ? length : size - 1;
    memcpy(to, from, count);
    to[count] = 0;
  }
  return length;
}

size_t strlcat(char *to, const char *from, size_t size) {
  size_t length = strnlen(to, size);
  return length + strlcpy(to + length, from, size - length);
}
