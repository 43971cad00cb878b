#pragma once

#include <stddef.h>

/// The words with which a receiver says its PIN, made by scripts/speech.py: 0 to 9, then "My PIN is". Each is the number of its packets
/// (1 byte), and for each packet its length (2 bytes, the most significant first) and the packet: Opus, mono, 48 kHz, 60 ms.
extern const unsigned char *const tutti_words;
extern const ptrdiff_t tutti_words_size;
