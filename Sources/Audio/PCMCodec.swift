/// Packs samples unchanged, in packets of about 20 ms unless another length is asked for.
package final class PCMEncoder: AudioEncoder {
  package let format: StreamFormat
  private let samplesPerPacket: Int
  private var held: [Float] = []

  package init(audio: AudioFormat, sampleType: SampleType, packetFrames: Int? = nil) {
    format = StreamFormat(codec: .pcm, audio: audio, sampleType: sampleType)
    samplesPerPacket = max(packetFrames ?? audio.sampleRate / 50, 1) * audio.channelCount
  }

  package func encode(
    _ frames: [Float], appendingTo packets: inout [EncodedPacket]
  ) throws(CodecError) {
    held += frames
    var start = 0
    while held.count - start >= samplesPerPacket {
      packets.append(packet(of: held[start..<start + samplesPerPacket]))
      start += samplesPerPacket
    }
    held.removeFirst(start)
  }

  package func finish(appendingTo packets: inout [EncodedPacket]) throws(CodecError) {
    guard !held.isEmpty else { return }
    packets.append(packet(of: held[...]))
    held = []
  }

  private func packet(of samples: ArraySlice<Float>) -> EncodedPacket {
    var payload: [UInt8] = []
    format.sampleType.format.encode(Array(samples), appendingTo: &payload)
    return EncodedPacket(
      payload: payload, frameCount: samples.count / format.audio.channelCount)
  }
}

/// Unpacks the packets of `PCMEncoder`.
package final class PCMDecoder: AudioDecoder {
  private let sampleFormat: SampleFormat
  private let bytesPerFrame: Int

  /// - Throws: `CodecError.unsupported` if the format is not PCM or its shape is not supported.
  package init(format: StreamFormat) throws(CodecError) {
    guard format.codec == .pcm else { throw .unsupported("not PCM") }
    guard format.audio.isSupported else {
      throw .unsupported("\(format.audio.channelCount) channels at \(format.audio.sampleRate) Hz")
    }
    sampleFormat = format.sampleType.format
    bytesPerFrame = format.sampleType.byteCount * format.audio.channelCount
  }

  package func decode(
    _ payload: [UInt8], appendingTo frames: inout [Float]
  ) throws(CodecError) {
    guard !payload.isEmpty, payload.count.isMultiple(of: bytesPerFrame) else {
      throw .malformed("\(payload.count) bytes are not whole frames of \(bytesPerFrame)")
    }
    sampleFormat.decode(payload, appendingTo: &frames)
  }
}
