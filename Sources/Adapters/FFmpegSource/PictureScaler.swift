import CFFmpeg
import Sender

/// Makes pictures smaller, with FFmpeg's decoders, its `scale` filter and its JPEG encoder. For one picture.
final class PictureScaler {
  /// Larger pictures would need more memory than a thumbnail is worth.
  private static let pixelLimit: Int64 = 100_000_000
  /// From 1, the best, to 31.
  private static let quality: Int32 = 3

  private let library: FFmpegLibrary
  private let filters: CFFmpegFilterCalls
  private var frame: UnsafeMutablePointer<AVFrame>
  private var graph: UnsafeMutablePointer<AVFilterGraph>?

  init() throws(MediaError) {
    library = try FFmpegLibrary.load(toPlay: "a picture")
    guard let filters = cff_load_filters() else {
      throw .unsupported(path: "a picture", reason: String(cString: cff_load_failure()))
    }
    guard let frame = library.calls.av_frame_alloc() else { throw Self.broken(cff_io_error) }
    (self.filters, self.frame) = (filters.pointee, frame)
  }

  deinit {
    var freeing: UnsafeMutablePointer<AVFrame>? = frame
    library.calls.av_frame_free(&freeing)
    filters.avfilter_graph_free(&graph)
  }

  static func broken(_ code: Int32) -> MediaError {
    .notAudio(
      path: "a picture", reason: "it is broken (\(code)): \(String(cString: cff_last_log()))")
  }

  private func check(_ code: Int32) throws(MediaError) {
    if code < 0 { throw Self.broken(code) }
  }

  /// Decodes the picture. The result is valid until the next call.
  func decode(_ picture: Picture) throws(MediaError) -> UnsafeMutablePointer<AVFrame> {
    let calls = library.calls
    var context = calls.avcodec_alloc_context3(calls.avcodec_find_decoder(picture.kind.codec))
    defer { calls.avcodec_free_context(&context) }
    var packet = calls.av_packet_alloc()
    defer { calls.av_packet_free(&packet) }
    guard let context, let packet else { throw Self.broken(cff_decoder_not_found) }
    context.pointee.max_pixels = Self.pixelLimit
    context.pointee.thread_count = 1
    try check(calls.avcodec_open2(context, nil, nil))
    // Decoders read a little beyond the end.
    var bytes = picture.bytes + [UInt8](repeating: 0, count: Int(AV_INPUT_BUFFER_PADDING_SIZE))
    let code = bytes.withUnsafeMutableBufferPointer { buffer in
      packet.pointee.data = buffer.baseAddress
      packet.pointee.size = Int32(picture.bytes.count)
      defer { packet.pointee.data = nil }
      return calls.avcodec_send_packet(context, packet)
    }
    try check(code)
    _ = calls.avcodec_send_packet(context, nil)
    try check(calls.avcodec_receive_frame(context, frame))
    guard frame.pointee.width > 0, frame.pointee.height > 0 else { throw Self.broken(0) }
    return frame
  }

  func scale(to width: Int, _ height: Int) throws(MediaError) {
    graph = filters.avfilter_graph_alloc()
    graph?.pointee.nb_threads = 1
    var (input, output):
      (UnsafeMutablePointer<AVFilterContext>?, UnsafeMutablePointer<AVFilterContext>?)
    let shape =
      "video_size=\(frame.pointee.width)x\(frame.pointee.height):pix_fmt=\(frame.pointee.format)"
      + ":time_base=1/1:pixel_aspect=1/1"
    try check(
      filters.avfilter_graph_create_filter(
        &input, filters.avfilter_get_by_name("buffer"), "in", shape, nil, graph))
    try check(
      filters.avfilter_graph_create_filter(
        &output, filters.avfilter_get_by_name("buffersink"), "out", nil, nil, graph))
    var outputs = end("in", of: input)
    var inputs = end("out", of: output)
    defer {
      filters.avfilter_inout_free(&outputs)
      filters.avfilter_inout_free(&inputs)
    }
    let chain = "scale=\(width):\(height):flags=area,format=yuvj420p"
    try check(filters.avfilter_graph_parse_ptr(graph, chain, &inputs, &outputs, nil))
    try check(filters.avfilter_graph_config(graph, nil))
    try check(filters.av_buffersrc_add_frame_flags(input, frame, 0))
    try check(filters.av_buffersrc_add_frame_flags(input, nil, 0))
    library.calls.av_frame_unref(frame)
    try check(filters.av_buffersink_get_frame(output, frame))
  }

  private func end(
    _ name: String, of filter: UnsafeMutablePointer<AVFilterContext>?
  ) -> UnsafeMutablePointer<AVFilterInOut>? {
    let end = filters.avfilter_inout_alloc()
    end?.pointee.name = library.calls.av_strdup(name)
    end?.pointee.filter_ctx = filter
    return end
  }

  func encode() throws(MediaError) -> [UInt8] {
    let calls = library.calls
    let encoder = calls.avcodec_find_encoder(AV_CODEC_ID_MJPEG)
    var context = calls.avcodec_alloc_context3(encoder)
    defer { calls.avcodec_free_context(&context) }
    var packet = calls.av_packet_alloc()
    defer { calls.av_packet_free(&packet) }
    guard encoder != nil, let context, let packet else { throw Self.broken(cff_decoder_not_found) }
    context.pointee.width = frame.pointee.width
    context.pointee.height = frame.pointee.height
    context.pointee.pix_fmt = AVPixelFormat(rawValue: frame.pointee.format)
    context.pointee.color_range = AVCOL_RANGE_JPEG
    context.pointee.time_base = AVRational(num: 1, den: 1)
    context.pointee.thread_count = 1
    context.pointee.flags |= AV_CODEC_FLAG_QSCALE
    context.pointee.global_quality = FF_QP2LAMBDA * Self.quality
    try check(calls.avcodec_open2(context, encoder, nil))
    frame.pointee.quality = context.pointee.global_quality
    frame.pointee.pict_type = AV_PICTURE_TYPE_NONE
    frame.pointee.pts = 0
    try check(calls.avcodec_send_frame(context, frame))
    _ = calls.avcodec_send_frame(context, nil)
    try check(calls.avcodec_receive_packet(context, packet))
    return Array(UnsafeBufferPointer(start: packet.pointee.data, count: Int(packet.pointee.size)))
  }
}
