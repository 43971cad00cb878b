#pragma once
#include <libavcodec/avcodec.h>
#include <libavutil/channel_layout.h>

// FFmpeg's decoders without its demuxers, looked up at run time by a receiver that plays a stream which needs
// them: it has to run without them, and they cost 15 MB of address space and some 20 ms.

#define CAV_AVUTIL(X)                                                                             \
  X(av_frame_alloc) X(av_frame_free) X(av_frame_unref) X(av_freep) X(av_log_set_level) X(av_mallocz)               \
  X(av_max_alloc) X(av_strerror)

#define CAV_AVCODEC(X)                                                                            \
  X(av_packet_alloc) X(av_packet_free) X(avcodec_alloc_context3) X(avcodec_find_decoder)          \
  X(avcodec_free_context) X(avcodec_open2) X(avcodec_receive_frame) X(avcodec_send_packet)

/// The functions in use, under their own names. None is null.
typedef struct CAVCalls {
#define CAV_FIELD(name) __typeof__(&name) _Nonnull name;
  CAV_AVUTIL(CAV_FIELD) CAV_AVCODEC(CAV_FIELD)
#undef CAV_FIELD
} CAVCalls;

/// True if the library of the version of these headers lies where libraries lie, by a look at the disk alone:
/// nothing is loaded. Takes microseconds. Not any more once loading it has failed. From any thread.
int cav_is_installed(void);

/// The table, filled by the first call; null where the library is not there or does not fit. From any thread.
const CAVCalls *_Nullable cav_load(void);

/// Why `cav_load` gave null: the dynamic linker's own words.
const char *_Nonnull cav_load_failure(void);

static const int cav_major = LIBAVCODEC_VERSION_MAJOR;

// Macros that Swift does not see.
static const int cav_again = AVERROR(EAGAIN);
static const int cav_eof = AVERROR_EOF;
static const int cav_padding = AV_INPUT_BUFFER_PADDING_SIZE;
