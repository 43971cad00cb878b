#pragma once
#include <stddef.h>

// The web page of `tutti serve`, as it stands in `web`, inside the program.

struct page_file {
  const char *name; // of the file: "app.js". The page asks for /assets/NAME, and for / as "index.html".
  const char *type; // its MIME type, with the character set where it is text
  const unsigned char *bytes;
  size_t size; // of `bytes`, in bytes; no zero byte follows
};

// The number of files.
size_t page_count(void);
// The file with this index, which is less than `page_count()`. The files live as long as the program.
const struct page_file *page_file_at(size_t index);
