#include "CFFmpeg.h"

#include <pthread.h>

#include "Load.h"

static CFFmpegCalls calls;
static CFFmpegFilterCalls filter_calls;
static int has_filters;
static int is_loaded;
static _Thread_local char last_log[256];

static void keep_log(void *context, int level, const char *format, va_list arguments) {
  (void)context;
  if (level > AV_LOG_ERROR) return;
  vsnprintf(last_log, sizeof last_log, format, arguments);
  last_log[strcspn(last_log, "\r\n")] = 0;
}

#define FIND(name) &&find(library, #name, &calls.name)

static int load_avutil(void) {
  void *library = open_library(SONAME("libavutil", LIBAVUTIL_VERSION_MAJOR));
  return library CFF_AVUTIL(FIND);
}

static int load_avcodec(void) {
  void *library = open_library(SONAME("libavcodec", LIBAVCODEC_VERSION_MAJOR));
  return library CFF_AVCODEC(FIND);
}

static int load_avformat(void) {
  void *library = open_library(SONAME("libavformat", LIBAVFORMAT_VERSION_MAJOR));
  return library CFF_AVFORMAT(FIND);
}

static int load_swresample(void) {
  void *library = open_library(SONAME("libswresample", LIBSWRESAMPLE_VERSION_MAJOR));
  return library CFF_SWRESAMPLE(FIND);
}

static void load(void) {
  is_loaded = load_avutil() && load_avcodec() && load_avformat() && load_swresample();
  if (!is_loaded) return;
  cff_watch_connections((const void *)calls.avio_open2);
  calls.av_log_set_callback(keep_log);
  // No sound file needs a larger block at once; a lying one asks for it.
  calls.av_max_alloc((size_t)256 << 20);
}

const CFFmpegCalls *cff_load(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, load);
  return is_loaded ? &calls : NULL;
}

#define FIND_FILTER(name) &&find(library, #name, &filter_calls.name)

static void load_filters(void) {
  void *library = open_library(SONAME("libavfilter", LIBAVFILTER_VERSION_MAJOR));
  has_filters = library CFF_AVFILTER(FIND_FILTER);
}

const CFFmpegFilterCalls *cff_load_filters(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, load_filters);
  return has_filters ? &filter_calls : NULL;
}

const char *cff_load_failure(void) { return load_failure; }
const char *cff_last_log(void) { return last_log; }
void cff_clear_log(void) { last_log[0] = 0; }

void cff_set_log(const char *text) { snprintf(last_log, sizeof last_log, "%s", text); }

static const char *bytes_name(void *context) {
  (void)context;
  return "bytes";
}

#define TEXT(field) {#field, "", offsetof(CFFBytes, field), AV_OPT_TYPE_STRING, {.str = NULL}, 0, 0, \
                     AV_OPT_FLAG_DECODING_PARAM}

static const AVOption bytes_options[] = {
    TEXT(location), TEXT(mime_type), TEXT(icy_metadata_headers),
    {"metadata", "", offsetof(CFFBytes, metadata), AV_OPT_TYPE_DICT, {.str = NULL}, 0, 0,
     AV_OPT_FLAG_DECODING_PARAM},
    {NULL}};

static const AVClass bytes_class = {.class_name = "bytes", .item_name = bytes_name,
                                    .option = bytes_options, .version = LIBAVUTIL_VERSION_INT};

static void *next_child(void *context, void *before) {
  return before ? NULL : ((AVIOContext *)context)->opaque;
}

static const AVClass context_class = {.class_name = "connection", .item_name = bytes_name,
                                      .version = LIBAVUTIL_VERSION_INT, .child_next = next_child};

AVIOContext *cff_bytes_open(void *owner, uint32_t handle, int size, const char *location,
                            const char *mime_type, const char *icy_metadata_headers,
                            int (*read)(void *, uint8_t *, int),
                            int64_t (*seek)(void *, int64_t, int)) {
  CFFBytes *bytes = calls.av_malloc(sizeof *bytes);
  unsigned char *buffer = calls.av_malloc(size);
  AVIOContext *context =
      bytes && buffer ? calls.avio_alloc_context(buffer, size, 0, bytes, read, NULL, seek) : NULL;
  if (!context) {
    calls.av_free(buffer);
    calls.av_free(bytes);
    return NULL;
  }
  *bytes = (CFFBytes){.kind = &bytes_class, .owner = owner, .handle = handle};
  bytes->location = calls.av_strdup(location);
  bytes->mime_type = calls.av_strdup(mime_type);
  bytes->icy_metadata_headers = calls.av_strdup(icy_metadata_headers);
  context->av_class = &context_class;
  return context;
}

void cff_bytes_note(CFFBytes *bytes, const char *key, const char *value) {
  calls.av_dict_set(&bytes->metadata, key, value, 0);
}

void cff_bytes_close(AVIOContext *context) {
  CFFBytes *bytes = context->opaque;
  calls.av_free(bytes->location);
  calls.av_free(bytes->mime_type);
  calls.av_free(bytes->icy_metadata_headers);
  calls.av_dict_free(&bytes->metadata);
  calls.av_free(bytes);
  calls.av_free(context->buffer);
  calls.avio_context_free(&context);
}
