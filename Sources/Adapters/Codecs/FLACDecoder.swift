package import Audio
import CFLAC

/// Decodes FLAC packets of one frame each. It puts out all samples of a packet at once.
package final class FLACDecoder: AudioDecoder {
  private let handle: UnsafeMutablePointer<FLAC__StreamDecoder>
  private let info: StreamInfo
  /// The packet that the library reads, and the number of bytes already read.
  private var input: [UInt8] = []
  private var inputPosition = 0
  private var output: [Float] = []
  private var frameCount = 0
  private var fault: String?

  /// - Throws: `CodecError.malformed` if the format's configuration is not a valid STREAMINFO block.
  package init(format: StreamFormat) throws(CodecError) {
    let info = try StreamInfo(parsing: format.configuration)
    guard info.channelCount == format.audio.channelCount,
      info.sampleRate == format.audio.sampleRate
    else {
      throw .malformed(
        "STREAMINFO has \(info.sampleRate) Hz and \(info.channelCount) channels, the format "
          + "\(format.audio.sampleRate) Hz and \(format.audio.channelCount)")
    }
    guard let created = FLAC__stream_decoder_new() else {
      throw .failed(call: "FLAC__stream_decoder_new", reason: "out of memory")
    }
    handle = created
    self.info = info
    try open(configuration: format.configuration)
  }

  deinit { FLAC__stream_decoder_delete(handle) }

  /// Tells the library the stream's parameters as a file would: the magic word, then STREAMINFO as the
  /// last block.
  private func open(configuration: [UInt8]) throws(CodecError) {
    let status = FLAC__stream_decoder_init_stream(
      handle, readPacket, nil, nil, nil, nil, takeFrame, nil, noteFault,
      Unmanaged.passUnretained(self).toOpaque())
    guard status == FLAC__STREAM_DECODER_INIT_STATUS_OK else {
      throw .failed(call: "FLAC__stream_decoder_init_stream", reason: "status \(status.rawValue)")
    }
    input = Array("fLaC".utf8) + [0x80, 0, 0, UInt8(StreamInfo.byteCount)] + configuration
    guard FLAC__stream_decoder_process_until_end_of_metadata(handle) != 0, fault == nil else {
      throw .malformed("STREAMINFO: \(fault ?? "refused")")
    }
  }

  package func decode(
    _ payload: [UInt8], appendingTo frames: inout [Float]
  ) throws(CodecError) {
    input = payload
    inputPosition = 0
    output.removeAll(keepingCapacity: true)
    frameCount = 0
    fault = nil
    // After this, the library searches for a new sync code, independent of the previous packet.
    guard FLAC__stream_decoder_flush(handle) != 0 else {
      throw .failed(call: "FLAC__stream_decoder_flush", reason: "refused")
    }
    _ = FLAC__stream_decoder_process_single(handle)
    if let fault { throw .malformed("FLAC frame: \(fault)") }
    guard frameCount == 1 else { throw .malformed("no FLAC frame in \(payload.count) bytes") }
    frames += output
  }

  /// Hands the rest of the packet to the library. Returns the number of bytes.
  fileprivate func read(into buffer: UnsafeMutableBufferPointer<UInt8>) -> Int {
    let count = min(buffer.count, input.count - inputPosition)
    _ = buffer.update(fromContentsOf: input[inputPosition..<inputPosition + count])
    inputPosition += count
    return count
  }

  /// `channels` holds a pointer to `header.blocksize` samples for each of `header.channels`.
  fileprivate func take(
    _ header: FLAC__FrameHeader, _ channels: UnsafePointer<UnsafePointer<FLAC__int32>?>
  ) {
    frameCount += 1
    guard Int(header.channels) == info.channelCount, Int(header.sample_rate) == info.sampleRate,
      Int(header.bits_per_sample) == info.bitsPerSample
    else { return fail("its format is not that of the stream") }
    // The frame's header allows at most 65 535 samples per channel, which bounds the output.
    let channelCount = info.channelCount
    let blockSize = Int(header.blocksize)
    let scale = 1 / Float(UInt64(1) << UInt64(info.bitsPerSample - 1))
    output = [Float](unsafeUninitializedCapacity: blockSize * channelCount) { samples, count in
      for channel in 0..<channelCount {
        guard let source = channels[channel] else { return }
        for frame in 0..<blockSize {
          samples[frame &* channelCount &+ channel] = Float(source[frame]) * scale
        }
      }
      count = blockSize * channelCount
    }
  }

  fileprivate func fail(_ reason: String) {
    fault = fault ?? reason
  }
}

// Callbacks of the library, on the decoding thread. The context is the decoder, which is alive while it
// decodes.

private func decoder(_ context: UnsafeMutableRawPointer) -> FLACDecoder {
  Unmanaged<FLACDecoder>.fromOpaque(context).takeUnretainedValue()
}

private func readPacket(
  _: UnsafePointer<FLAC__StreamDecoder>?, buffer: UnsafeMutablePointer<FLAC__byte>?,
  size: UnsafeMutablePointer<Int>?, context: UnsafeMutableRawPointer?
) -> FLAC__StreamDecoderReadStatus {
  guard let buffer, let size, let context else { return FLAC__STREAM_DECODER_READ_STATUS_ABORT }
  size.pointee = decoder(context).read(into: .init(start: buffer, count: size.pointee))
  return size.pointee > 0
    ? FLAC__STREAM_DECODER_READ_STATUS_CONTINUE
    : FLAC__STREAM_DECODER_READ_STATUS_END_OF_STREAM
}

private func takeFrame(
  _: UnsafePointer<FLAC__StreamDecoder>?, frame: UnsafePointer<FLAC__Frame>?,
  channels: UnsafePointer<UnsafePointer<FLAC__int32>?>?, context: UnsafeMutableRawPointer?
) -> FLAC__StreamDecoderWriteStatus {
  guard let frame, let channels, let context else { return FLAC__STREAM_DECODER_WRITE_STATUS_ABORT }
  decoder(context).take(frame.pointee.header, channels)
  return FLAC__STREAM_DECODER_WRITE_STATUS_CONTINUE
}

private func noteFault(
  _: UnsafePointer<FLAC__StreamDecoder>?, status: FLAC__StreamDecoderErrorStatus,
  context: UnsafeMutableRawPointer?
) {
  guard let context else { return }
  switch status {
  case FLAC__STREAM_DECODER_ERROR_STATUS_LOST_SYNC: decoder(context).fail("no sync code")
  case FLAC__STREAM_DECODER_ERROR_STATUS_BAD_HEADER: decoder(context).fail("broken header")
  case FLAC__STREAM_DECODER_ERROR_STATUS_FRAME_CRC_MISMATCH: decoder(context).fail("wrong CRC")
  default: decoder(context).fail("status \(status.rawValue)")
  }
}
