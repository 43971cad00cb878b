#pragma once
#include <alsa/asoundlib.h>

/* alsa-lib prints to stderr by default; its callback type is variadic, which Swift cannot write. */
static inline void calsa_ignore(const char *file, int line, const char *function, int code,
                                const char *format, ...) {
  (void)file, (void)line, (void)function, (void)code, (void)format;
}
static inline void calsa_silence_messages(void) { snd_lib_error_set_handler(calsa_ignore); }
