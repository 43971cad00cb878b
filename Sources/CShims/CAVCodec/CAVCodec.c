#define _GNU_SOURCE  // dladdr
#include "CAVCodec.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "Load.h"

static CAVCalls calls;
static int is_loaded;
// Loading was tried in vain.
static _Atomic int has_failed;

static const char avcodec_name[] = SONAME("libavcodec", LIBAVCODEC_VERSION_MAJOR);
static const char avutil_name[] = SONAME("libavutil", LIBAVUTIL_VERSION_MAJOR);

static int lies_in(const char *folder, size_t length) {
  char path[512];
  int size = snprintf(path, sizeof path, "%.*s/%s", (int)length, folder, avcodec_name);
  return size > 0 && (size_t)size < sizeof path && access(path, R_OK) == 0;
}

static int lies_in_search_path(const char *path) {
  while (path && *path) {
    size_t length = strcspn(path, ":");
    if (length > 0 && lies_in(path, length)) return 1;
    path += length;
    if (*path == ':') path++;
  }
  return 0;
}

int cav_is_installed(void) {
  if (has_failed) return 0;
  if (lies_in_search_path(getenv("LD_LIBRARY_PATH"))) return 1;
  // Where the C library lies, others of this architecture do too.
  Dl_info libc;
  if (dladdr((void *)getenv, &libc) && libc.dli_fname) {
    const char *end = strrchr(libc.dli_fname, '/');
    if (end && lies_in(libc.dli_fname, (size_t)(end - libc.dli_fname))) return 1;
  }
  return lies_in_search_path("/usr/local/lib:/usr/lib:/usr/lib64:/lib:/lib64");
}

#define FIND(name) &&find(library, #name, &calls.name)

static int load_avutil(void) {
  void *library = open_library(avutil_name);
  return library CAV_AVUTIL(FIND);
}

static int load_avcodec(void) {
  void *library = open_library(avcodec_name);
  return library CAV_AVCODEC(FIND);
}

static void load(void) {
  is_loaded = load_avutil() && load_avcodec();
  has_failed = !is_loaded;
  if (!is_loaded) return;
  calls.av_log_set_level(AV_LOG_QUIET);
  // A packet of sound needs no larger block; a lying one may ask for it.
  calls.av_max_alloc((size_t)16 << 20);
}

const CAVCalls *cav_load(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, load);
  return is_loaded ? &calls : NULL;
}

const char *cav_load_failure(void) { return load_failure; }
