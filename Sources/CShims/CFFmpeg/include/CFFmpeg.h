#pragma once
#include <libavcodec/avcodec.h>
#include <libavcodec/vorbis_parser.h>
#include <libavfilter/avfilter.h>
#include <libavfilter/buffersink.h>
#include <libavfilter/buffersrc.h>
#include <libavformat/avformat.h>
#include <libavutil/channel_layout.h>
#include <libavutil/md5.h>
#include <libavutil/opt.h>
#include <libswresample/swresample.h>

// FFmpeg, looked up at run time: linking it would add some 50 ms to the start of every command, and would
// stop the program from starting at all where it is not installed.

#define CFF_AVUTIL(X)                                                                             \
  X(av_channel_layout_default) X(av_channel_layout_compare) X(av_channel_layout_copy)             \
  X(av_channel_layout_uninit) X(av_dict_free) X(av_dict_get) X(av_dict_set) X(av_frame_alloc)     \
  X(av_frame_free) X(av_frame_get_buffer) X(av_frame_unref) X(av_free) X(av_get_bytes_per_sample)                        \
  X(av_log_set_callback) X(av_malloc) X(av_md5_sum) X(av_max_alloc) X(av_opt_get) X(av_opt_get_dict_val) X(av_opt_set_dict_val) X(av_opt_set_double) X(av_rescale_q)        \
  X(av_sample_fmt_is_planar) X(av_strdup) X(av_strerror)

#define CFF_AVCODEC(X)                                                                            \
  X(av_packet_alloc) X(av_packet_free) X(av_packet_get_side_data) X(av_packet_unref)              \
  X(avcodec_alloc_context3) X(avcodec_descriptor_get) X(avcodec_flush_buffers)                    \
  X(avcodec_free_context) X(avcodec_open2) X(avcodec_parameters_to_context)                       \
  X(avcodec_find_decoder) X(avcodec_find_encoder) X(avcodec_receive_frame)              \
  X(avcodec_receive_packet) X(avcodec_send_frame) X(avcodec_send_packet) X(av_vorbis_parse_frame)                        \
  X(av_vorbis_parse_free) X(av_vorbis_parse_init)

#define CFF_AVFORMAT(X)                                                                           \
  X(av_find_best_stream) X(av_find_input_format) X(av_read_frame) X(avformat_alloc_context)       \
  X(avformat_close_input) X(avformat_find_stream_info) X(avformat_free_context)                   \
  X(avformat_open_input) X(avformat_seek_file) X(avio_alloc_context) X(avio_context_free) \
  X(avformat_index_get_entries_count) X(avformat_index_get_entry)                                 \
  X(avformat_index_get_entry_from_timestamp) X(av_add_index_entry) X(avio_closep) X(avio_open2)   \
  X(avio_flush) X(avio_read) X(avio_read_partial) X(avio_seek) X(avio_size) X(avio_write)

#define CFF_SWRESAMPLE(X)                                                                         \
  X(swr_alloc_set_opts2) X(swr_convert) X(swr_free) X(swr_get_out_samples) X(swr_init)

#define CFF_AVFILTER(X)                                                                           \
  X(av_buffersink_get_frame) X(av_buffersrc_add_frame_flags) X(avfilter_get_by_name)              \
  X(avfilter_graph_alloc) X(avfilter_graph_config) X(avfilter_graph_create_filter)                \
  X(avfilter_graph_free) X(avfilter_graph_parse_ptr) X(avfilter_inout_alloc)                      \
  X(avfilter_inout_free)

/// The functions in use, under their own names. None is null.
typedef struct CFFmpegCalls {
#define CFF_FIELD(name) __typeof__(&name) _Nonnull name;
  CFF_AVUTIL(CFF_FIELD) CFF_AVCODEC(CFF_FIELD) CFF_AVFORMAT(CFF_FIELD) CFF_SWRESAMPLE(CFF_FIELD)
#undef CFF_FIELD
} CFFmpegCalls;

/// The table, filled by the first call; null where FFmpeg of the version of these headers is not there.
/// May be called from any thread.
const CFFmpegCalls *_Nullable cff_load(void);

/// Answers whether libavformat may connect to an address: four bytes of IPv4 in `low`, or sixteen of IPv6.
typedef int (*cff_judge)(void *_Nullable context, int is_v6, uint64_t high, uint64_t low);

/// Asked for each connection that libavformat makes on this thread from here on; without one it makes none.
void cff_set_judge(cff_judge _Nullable judge, void *_Nullable context);

/// Finds the code of the library that has `function`, before it connects.
void cff_watch_connections(const void *_Nonnull function);

/// True if connections of libavformat are judged. Not in a program that does not offer its own `connect` to libraries.
int cff_judges_connections(void);

/// The same for filters, which few need. None is null.
typedef struct CFFmpegFilterCalls {
#define CFF_FIELD(name) __typeof__(&name) _Nonnull name;
  CFF_AVFILTER(CFF_FIELD)
#undef CFF_FIELD
} CFFmpegFilterCalls;

/// After `cff_load` gave its table; null where libavfilter of the version of these headers is not there.
/// May be called from any thread.
const CFFmpegFilterCalls *_Nullable cff_load_filters(void);

/// Why `cff_load` or `cff_load_filters` gave null: the dynamic linker's own words.
const char *_Nonnull cff_load_failure(void);

/// The last error that FFmpeg logged on this thread since `cff_clear_log`; empty where there was none.
/// FFmpeg never writes to the terminal.
const char *_Nonnull cff_last_log(void);
void cff_clear_log(void);
/// The same for a failure of which another process has told.
void cff_set_log(const char *_Nonnull text);

/// The questions that FFmpeg asks of a connection beside its bytes. `AVIOContext.opaque` is one of these where `cff_bytes_open` made it.
typedef struct CFFBytes {
  const AVClass *_Nonnull kind;
  /// For the call backs; FFmpeg leaves it alone.
  void *_Nullable owner;
  uint32_t handle;
  /// Strings and metadata under the names that they have in FFmpeg's HTTP.
  char *_Nullable location;
  char *_Nullable mime_type;
  char *_Nullable icy_metadata_headers;
  AVDictionary *_Nullable metadata;
} CFFBytes;

/// A context whose bytes come from the call backs; null where memory ends. `cff_bytes_close` frees it, and FFmpeg must not.
AVIOContext *_Nullable cff_bytes_open(
    void *_Nullable owner, uint32_t handle, int size, const char *_Nonnull location,
    const char *_Nonnull mime_type, const char *_Nonnull icy_metadata_headers,
    int (*_Nonnull read)(void *_Nullable, uint8_t *_Nullable, int),
    int64_t (*_Nullable seek)(void *_Nullable, int64_t, int));
/// The text that the station shows from now on.
void cff_bytes_note(CFFBytes *_Nonnull bytes, const char *_Nonnull key, const char *_Nonnull value);
void cff_bytes_close(AVIOContext *_Nonnull context);

static const int cff_avformat_major = LIBAVFORMAT_VERSION_MAJOR;
static const int cff_avcodec_major = LIBAVCODEC_VERSION_MAJOR;
static const int cff_avfilter_major = LIBAVFILTER_VERSION_MAJOR;
static const int cff_swresample_major = LIBSWRESAMPLE_VERSION_MAJOR;

// Macros that Swift does not see.
static const int cff_eof = AVERROR_EOF;
static const int cff_exit = AVERROR_EXIT;
static const int cff_again = AVERROR(EAGAIN);
static const int cff_io_error = AVERROR(EIO);
static const int cff_invalid_argument = AVERROR(EINVAL);
static const int cff_invalid_data = AVERROR_INVALIDDATA;
static const int cff_decoder_not_found = AVERROR_DECODER_NOT_FOUND;
static const int64_t cff_no_pts = AV_NOPTS_VALUE;
