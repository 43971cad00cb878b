#pragma once
#include <stddef.h>

// The web page of `tutti serve`: the files of `web`, built into the program.

struct page_file {
  const char *name; // Name of the file, such as "app.js". Served at /assets/NAME; "index.html" is served at /.
  const char *type; // MIME type, with the character set if the file is text
  const unsigned char *bytes;
  size_t size; // Length of `bytes`; no zero byte follows.
};

// Returns the number of files.
size_t page_count(void);
// Returns the file with this index, which must be less than `page_count()`. Files live as long as the program.
const struct page_file *page_file_at(size_t index);
