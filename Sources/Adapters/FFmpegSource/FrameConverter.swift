import Audio
import CFFmpeg
import Sender

/// Converts decoded frames of any sample format, channels and rate to interleaved `Float` of one rate
/// and number of channels.
final class FrameConverter {
  private let library: FFmpegLibrary
  private let path: String
  private let output: AudioFormat
  private var context: OpaquePointer?
  private var inputRate: Int32 = 0
  private var inputFormat: Int32 = -1
  private var inputLayout = AVChannelLayout()
  private var scratch: [Float] = []

  init(output: AudioFormat, path: String, library: FFmpegLibrary) {
    self.output = output
    self.path = path
    self.library = library
  }

  deinit {
    library.calls.swr_free(&context)
    library.calls.av_channel_layout_uninit(&inputLayout)
  }

  /// Discards the resampler's history, because the next frames begin a new run.
  func reset() { library.calls.swr_free(&context) }

  func convert(_ block: FrameReader.Block, appendingTo frames: inout [Float]) throws(MediaError) {
    let frame = block.frame
    try configure(for: frame, appendingTo: &frames)
    var planes = planes(of: frame, from: block.offset)
    try run(&planes, count: Int32(clamping: block.count), appendingTo: &frames)
  }

  /// Appends the resampler's remaining frames; none if it only copies.
  func drain(appendingTo frames: inout [Float]) throws(MediaError) {
    guard context != nil else { return }
    var none: [UnsafePointer<UInt8>?] = []
    try run(&none, count: 0, appendingTo: &frames)
    reset()
  }

  private func planes(
    of frame: UnsafeMutablePointer<AVFrame>, from offset: Int
  ) -> [UnsafePointer<UInt8>?] {
    let channels = Int(frame.pointee.ch_layout.nb_channels)
    let format = AVSampleFormat(frame.pointee.format)
    let sampleSize = Int(library.calls.av_get_bytes_per_sample(format))
    let isPlanar = library.calls.av_sample_fmt_is_planar(format) != 0
    let skipped = offset * sampleSize * (isPlanar ? 1 : channels)
    return (0..<(isPlanar ? channels : 1)).map { plane in
      guard let start = frame.pointee.extended_data?[plane] else { return nil }
      return UnsafePointer(start + skipped)
    }
  }

  /// Sets up the resampler. A stream may change its shape between two frames; the resampler's
  /// remaining frames then come out first.
  private func configure(
    for frame: UnsafeMutablePointer<AVFrame>, appendingTo frames: inout [Float]
  ) throws(MediaError) {
    let calls = library.calls
    if context != nil, frame.pointee.sample_rate == inputRate, frame.pointee.format == inputFormat,
      calls.av_channel_layout_compare(&frame.pointee.ch_layout, &inputLayout) == 0
    {
      return
    }
    try drain(appendingTo: &frames)
    inputRate = frame.pointee.sample_rate
    inputFormat = frame.pointee.format
    _ = calls.av_channel_layout_copy(&inputLayout, &frame.pointee.ch_layout)
    var from = AVChannelLayout()
    var to = AVChannelLayout()
    defer {
      calls.av_channel_layout_uninit(&from)
      calls.av_channel_layout_uninit(&to)
    }
    if inputLayout.order == AV_CHANNEL_ORDER_UNSPEC {
      calls.av_channel_layout_default(&from, inputLayout.nb_channels)
    } else {
      _ = calls.av_channel_layout_copy(&from, &inputLayout)
    }
    calls.av_channel_layout_default(&to, Int32(output.channelCount))
    let isSet = calls.swr_alloc_set_opts2(
      &context, &to, AV_SAMPLE_FMT_FLT, Int32(output.sampleRate), &from,
      AVSampleFormat(inputFormat), inputRate, 0, nil)
    guard isSet >= 0, let context else { throw unsupported(isSet) }
    // A mix of many channels into two must not exceed full scale.
    _ = calls.av_opt_set_double(UnsafeMutableRawPointer(context), "rematrix_maxval", 1, 0)
    let isReady = calls.swr_init(context)
    guard isReady >= 0 else { throw unsupported(isReady) }
  }

  private func unsupported(_ code: Int32) -> MediaError {
    let channels = inputLayout.nb_channels
    reset()
    return .unsupported(
      path: path,
      reason: "\(channels) channels at \(inputRate) Hz: \(library.reason(of: code))")
  }

  private func run(
    _ planes: inout [UnsafePointer<UInt8>?], count: Int32, appendingTo frames: inout [Float]
  ) throws(MediaError) {
    guard let context else { return }
    let calls = library.calls
    let capacity = calls.swr_get_out_samples(context, count)
    guard capacity > 0 else { return }
    let needed = Int(capacity) * output.channelCount
    if scratch.count < needed { scratch = [Float](repeating: 0, count: needed) }
    let produced = scratch.withUnsafeMutableBytes { bytes in
      var target = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
      return planes.withUnsafeMutableBufferPointer { source in
        calls.swr_convert(context, &target, capacity, count > 0 ? source.baseAddress : nil, count)
      }
    }
    guard produced >= 0 else { throw unsupported(produced) }
    frames += scratch[0..<Int(produced) * output.channelCount]
  }
}
