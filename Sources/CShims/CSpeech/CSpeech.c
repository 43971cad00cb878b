#include "CSpeech.h"

// Clang knows it in every C, and says so.
#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char words[] = {
#embed "digits.opus"
};

const unsigned char *const tutti_words = words;
const ptrdiff_t tutti_words_size = sizeof words;
