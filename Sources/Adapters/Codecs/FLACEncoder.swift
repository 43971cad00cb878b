package import Audio
import CFLAC

package struct FLACSettings: Hashable, Sendable {
  /// Frames per packet, 16 to 65 535; nil chooses by the sample rate.
  package var blockSize: Int?
  /// 0 to 8; higher levels cost more time.
  package var compressionLevel: Int

  package init(blockSize: Int? = nil, compressionLevel: Int = 5) {
    self.blockSize = blockSize
    self.compressionLevel = compressionLevel
  }
}

/// Encodes to FLAC, one frame per packet. Lossless for samples that came from 16 bits, or from 24 if
/// `sampleType` is wider than 16 bits; others are rounded to that.
package final class FLACEncoder: AudioEncoder {
  package private(set) var format: StreamFormat

  private let handle: UnsafeMutablePointer<FLAC__StreamEncoder>
  private let bitsPerSample: Int
  private let sink = Sink()
  private var isFinished = false

  package init(
    audio: AudioFormat, sampleType: SampleType, settings: FLACSettings = FLACSettings()
  ) throws(CodecError) {
    guard audio.isSupported else {
      throw .unsupported("FLAC at \(audio.sampleRate) Hz with \(audio.channelCount) channels")
    }
    guard let created = FLAC__stream_encoder_new() else {
      throw .failed(call: "FLAC__stream_encoder_new", reason: "out of memory")
    }
    handle = created
    bitsPerSample = sampleType == .int16 ? 16 : 24
    format = StreamFormat(codec: .flac, audio: audio, sampleType: sampleType)
    try open(settings)
  }

  // The library writes its remaining frames into the sink, which outlives it.
  deinit { FLAC__stream_encoder_delete(handle) }

  /// About 43 ms: longer blocks compress little better and make a seek coarser.
  private static func defaultBlockSize(at sampleRate: Int) -> Int {
    switch sampleRate {
    case ..<16_000: 512
    case ..<32_000: 1_024
    case ..<64_000: 2_048
    case ..<128_000: 4_096
    default: 8_192
    }
  }

  private func open(_ settings: FLACSettings) throws(CodecError) {
    let blockSize = settings.blockSize ?? Self.defaultBlockSize(at: format.audio.sampleRate)
    let isAccepted =
      FLAC__stream_encoder_set_channels(handle, UInt32(format.audio.channelCount)) != 0
      && FLAC__stream_encoder_set_bits_per_sample(handle, UInt32(bitsPerSample)) != 0
      && FLAC__stream_encoder_set_sample_rate(handle, UInt32(format.audio.sampleRate)) != 0
      && FLAC__stream_encoder_set_compression_level(
        handle, UInt32(clamping: settings.compressionLevel)) != 0
      && FLAC__stream_encoder_set_blocksize(handle, UInt32(clamping: blockSize)) != 0
      && FLAC__stream_encoder_set_streamable_subset(handle, 0) != 0
    guard isAccepted else { throw .failed(call: "FLAC__stream_encoder_set", reason: state) }
    let status = FLAC__stream_encoder_init_stream(
      handle, writeBytes, nil, nil, nil, Unmanaged.passUnretained(sink).toOpaque())
    guard status == FLAC__STREAM_ENCODER_INIT_STATUS_OK else {
      throw .failed(call: "FLAC__stream_encoder_init_stream", reason: "status \(status.rawValue)")
    }
    // The library has written "fLaC", a block header of four bytes and STREAMINFO, then its comment block.
    guard sink.header.count >= 8 + StreamInfo.byteCount else {
      throw .failed(call: "FLAC__stream_encoder_init_stream", reason: "it wrote no STREAMINFO")
    }
    format.configuration = Array(sink.header[8..<8 + StreamInfo.byteCount])
  }

  private var state: String {
    String(cString: FLAC__stream_encoder_get_resolved_state_string(handle))
  }

  package func encode(
    _ frames: [Float], appendingTo packets: inout [EncodedPacket]
  ) throws(CodecError) {
    precondition(!isFinished, "frames after the end of the stream")
    let channelCount = format.audio.channelCount
    precondition(frames.count.isMultiple(of: channelCount), "half a frame")
    let samples = integers(frames)
    let isDone = FLAC__stream_encoder_process_interleaved(
      handle, samples, UInt32(clamping: frames.count / channelCount))
    guard isDone != 0 else { throw .failed(call: "FLAC__stream_encoder_process", reason: state) }
    handOver(to: &packets)
  }

  package func finish(appendingTo packets: inout [EncodedPacket]) throws(CodecError) {
    guard !isFinished else { return }
    isFinished = true
    guard FLAC__stream_encoder_finish(handle) != 0 else {
      throw .failed(call: "FLAC__stream_encoder_finish", reason: state)
    }
    handOver(to: &packets)
  }

  private func handOver(to packets: inout [EncodedPacket]) {
    packets += sink.packets
    sink.packets.removeAll(keepingCapacity: true)
  }

  private func integers(_ frames: [Float]) -> [Int32] {
    let scale = Float(1 << (bitsPerSample - 1))
    let top = scale - 1
    return frames.map { sample in
      let scaled = (sample * scale).rounded(.toNearestOrEven)
      // Comparisons with NaN are false, so NaN becomes silence.
      guard scaled > -scale else { return scaled <= -scale ? Int32(-scale) : 0 }
      return Int32(min(scaled, top))
    }
  }
}

/// Collects the library's output.
private final class Sink {
  var header: [UInt8] = []
  var packets: [EncodedPacket] = []

  func write(_ bytes: UnsafeBufferPointer<UInt8>, frames: Int) {
    if frames == 0 {
      header += bytes
    } else {
      packets.append(EncodedPacket(payload: Array(bytes), frameCount: frames))
    }
  }
}

/// Callback of the library, on the encoding thread: first the header in parts without samples, then one
/// call per frame. The context is the encoder's sink.
private func writeBytes(
  _: UnsafePointer<FLAC__StreamEncoder>?, bytes: UnsafePointer<FLAC__byte>?, count: Int,
  samples: UInt32, _: UInt32, context: UnsafeMutableRawPointer?
) -> FLAC__StreamEncoderWriteStatus {
  guard let bytes, let context else { return FLAC__STREAM_ENCODER_WRITE_STATUS_FATAL_ERROR }
  Unmanaged<Sink>.fromOpaque(context).takeUnretainedValue()
    .write(UnsafeBufferPointer(start: bytes, count: count), frames: Int(samples))
  return FLAC__STREAM_ENCODER_WRITE_STATUS_OK
}
