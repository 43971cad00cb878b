import Audio
import CFFmpeg
import Sender

/// A chain of FFmpeg's audio filters, with the same format of frames at its input and output.
final class FilterGraph {
  private let calls: CFFmpegFilterCalls
  private let library: FFmpegLibrary
  private let format: AudioFormat
  private let path: String
  private var graph: UnsafeMutablePointer<AVFilterGraph>?
  private var input: UnsafeMutablePointer<AVFilterContext>?
  private var output: UnsafeMutablePointer<AVFilterContext>?
  private var frame: UnsafeMutablePointer<AVFrame>?
  private var written: Int64 = 0

  /// - Throws: `MediaError.unsupported`, which names the missing or wrong filter.
  init(_ chain: String, format: AudioFormat, path: String) throws(MediaError) {
    library = try FFmpegLibrary.load(toPlay: path)
    guard let calls = cff_load_filters() else {
      throw .unsupported(
        path: path,
        reason: "FFmpeg's filters are missing (\(String(cString: cff_load_failure()))); "
          + "install them with: apt install libavfilter\(cff_avfilter_major)")
    }
    self.calls = calls.pointee
    (self.format, self.path) = (format, path)
    frame = library.calls.av_frame_alloc()
    graph = self.calls.avfilter_graph_alloc()
    graph?.pointee.nb_threads = 1
    cff_clear_log()
    let code = build(chain)
    guard code >= 0, frame != nil else {
      throw .unsupported(path: path, reason: "filter \(chain): \(library.reason(of: code))")
    }
  }

  deinit {
    library.calls.av_frame_free(&frame)
    calls.avfilter_graph_free(&graph)
  }

  private func build(_ chain: String) -> Int32 {
    let shape =
      "time_base=1/\(format.sampleRate):sample_rate=\(format.sampleRate):sample_fmt=flt"
      + ":channel_layout=\(layout)"
    var code = calls.avfilter_graph_create_filter(
      &input, calls.avfilter_get_by_name("abuffer"), "in", shape, nil, graph)
    guard code >= 0 else { return code }
    code = calls.avfilter_graph_create_filter(
      &output, calls.avfilter_get_by_name("abuffersink"), "out", nil, nil, graph)
    guard code >= 0 else { return code }
    // From the chain's point of view, its source is an output, and its sink an input.
    var outputs = end("in", of: input)
    var inputs = end("out", of: output)
    defer {
      calls.avfilter_inout_free(&outputs)
      calls.avfilter_inout_free(&inputs)
    }
    guard outputs != nil, inputs != nil else { return cff_io_error }
    let same =
      "aformat=sample_fmts=flt:sample_rates=\(format.sampleRate):channel_layouts=\(layout)"
    let whole = chain.isEmpty ? same : chain + "," + same
    code = calls.avfilter_graph_parse_ptr(graph, whole, &inputs, &outputs, nil)
    return code < 0 ? code : calls.avfilter_graph_config(graph, nil)
  }

  /// The channel layout as a mask, which every version of FFmpeg reads.
  private var layout: String {
    var layout = AVChannelLayout()
    library.calls.av_channel_layout_default(&layout, Int32(format.channelCount))
    defer { library.calls.av_channel_layout_uninit(&layout) }
    return layout.order == AV_CHANNEL_ORDER_NATIVE
      ? "0x" + String(layout.u.mask, radix: 16) : "\(format.channelCount)c"
  }

  private func end(
    _ name: String, of filter: UnsafeMutablePointer<AVFilterContext>?
  ) -> UnsafeMutablePointer<AVFilterInOut>? {
    let end = calls.avfilter_inout_alloc()
    end?.pointee.name = library.calls.av_strdup(name)
    end?.pointee.filter_ctx = filter
    return end
  }

  /// Gives interleaved frames to the chain; an empty array marks the end. Returns false if it takes
  /// no more.
  func write(_ frames: [Float]) -> Bool {
    guard !frames.isEmpty else { return calls.av_buffersrc_add_frame_flags(input, nil, 0) >= 0 }
    guard let frame else { return false }
    let count = frames.count / format.channelCount
    frame.pointee.format = AV_SAMPLE_FMT_FLT.rawValue
    frame.pointee.sample_rate = Int32(format.sampleRate)
    frame.pointee.nb_samples = Int32(clamping: count)
    frame.pointee.pts = written
    library.calls.av_channel_layout_default(
      &frame.pointee.ch_layout, Int32(format.channelCount))
    defer { library.calls.av_frame_unref(frame) }
    guard library.calls.av_frame_get_buffer(frame, 0) >= 0,
      let target = frame.pointee.extended_data?[0]
    else { return false }
    frames.withUnsafeBytes { source in
      UnsafeMutableRawBufferPointer(start: target, count: source.count).copyMemory(from: source)
    }
    written += Int64(count)
    return calls.av_buffersrc_add_frame_flags(input, frame, 0) >= 0
  }

  /// Appends the frames that the chain has ready. Returns false if it needs more input, nil at its
  /// end.
  ///
  /// - Throws: `MediaError.broken` if a filter fails.
  func read(appendingTo frames: inout [Float]) throws(MediaError) -> Bool? {
    guard let frame, let code = try nextFrame(frame) else { return nil }
    guard code >= 0 else { return false }
    defer { library.calls.av_frame_unref(frame) }
    let count = Int(frame.pointee.nb_samples) * format.channelCount
    guard frame.pointee.format == AV_SAMPLE_FMT_FLT.rawValue, count > 0,
      let start = frame.pointee.extended_data?[0]
    else { return true }
    start.withMemoryRebound(to: Float.self, capacity: count) { samples in
      frames += UnsafeBufferPointer(start: samples, count: count)
    }
    return true
  }

  /// Drops a block of frames that the chain has ready. Returns the number that a filter noted with it under this key;
  /// nil if it needs more input, and at its end.
  ///
  /// - Throws: `MediaError.broken` if a filter fails.
  func readNote(_ key: String) throws(MediaError) -> Double? {
    guard let frame else { return nil }
    while let code = try nextFrame(frame), code >= 0 {
      defer { library.calls.av_frame_unref(frame) }
      let entry = library.calls.av_dict_get(frame.pointee.metadata, key, nil, 0)
      if let text = entry?.pointee.value { return Double(String(cString: text)) ?? -.infinity }
    }
    return nil
  }

  /// Returns FFmpeg's code: negative if the chain needs more input. Nil at its end.
  private func nextFrame(
    _ frame: UnsafeMutablePointer<AVFrame>
  ) throws(MediaError) -> Int32? {
    let code = calls.av_buffersink_get_frame(output, frame)
    if code == cff_eof { return nil }
    guard code >= 0 || code == cff_again else {
      throw .broken(path: path, reason: "a filter failed: \(library.reason(of: code))")
    }
    return code
  }
}
