#pragma once
#include <expat.h>

/* Newer versions of Expat deprecate XML_GetCurrentLineNumber for a function that older ones lack. */
static inline unsigned long long cexpat_line(XML_Parser parser) {
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wdeprecated-declarations"
  return XML_GetCurrentLineNumber(parser);
#pragma clang diagnostic pop
}
