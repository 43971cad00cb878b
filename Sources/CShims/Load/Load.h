#pragma once
// Looks libraries up at run time, for the shims of FFmpeg. Each file that includes this has its own last failure.
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

// The name of a shared library ends with the major version, for which the headers' structures hold.
#define SONAME(library, major) library ".so." AV_STRINGIFY(major)

static char load_failure[256];

static void *open_library(const char *name) {
  // Left open for the life of the process: FFmpeg keeps state that does not survive being unloaded.
  void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (!library) snprintf(load_failure, sizeof load_failure, "%s", dlerror());
  return library;
}

static int find(void *library, const char *name, void *field) {
  void *symbol = dlsym(library, name);
  if (!symbol) snprintf(load_failure, sizeof load_failure, "%s is missing", name);
  memcpy(field, &symbol, sizeof symbol);
  return symbol != NULL;
}
