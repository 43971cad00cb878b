#include <stdint.h>

// Takes the place of the Swift library's `_swift_stdlib_getScalarName` in the programs, as scripts/leave-out.ld says: no character has
// a name there, and the table of all names stays out.

intptr_t csys_unnamed(uint32_t scalar, uint8_t *buffer, intptr_t capacity) {
  (void)scalar, (void)buffer, (void)capacity;
  return 0;
}
