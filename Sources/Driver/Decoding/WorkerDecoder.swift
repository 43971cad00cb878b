package import Audio
import FFmpegSource
import Sender

/// Decodes packets that rooms get as they stand in a file or a stream, in a process of its own, because nobody here has looked
/// into them. A process that crashes or hangs on one decodes no more. For one thread at a time.
package final class WorkerDecoder: AudioDecoder {
  /// Frames of a packet of FLAC at most.
  private static let frameLimit = 65_535
  private static let timeout = Duration.seconds(5)

  private let link: WorkerLink
  private let bytesPerFrame: Int

  /// - Throws: `CodecError.failed` if there is no such process.
  package init(_ format: StreamFormat, workers: MediaWorkers = .shared) throws(CodecError) {
    bytesPerFrame = format.audio.channelCount * MemoryLayout<Float>.size
    do throws(MediaError) {
      link = try WorkerLink(
        "packets of \(format.codec)", workers: workers, interruption: try ReadInterruption(),
        gate: nil)
      link.timeout = Self.timeout
      guard case .done = try link.open(.openDecoder(format), descriptor: nil) else {
        throw link.talksNonsense()
      }
    } catch {
      throw .failed(call: "decoding process", reason: error.reason)
    }
  }

  /// - Throws: `CodecError.malformed` if the packet cannot be decoded, `failed` if the process has ended.
  package func decode(_ payload: [UInt8], appendingTo frames: inout [Float]) throws(CodecError) {
    do throws(MediaError) {
      guard case .frames(let bytes, nil, _) = try link.ask(.decode(payload[...])),
        bytes.count % bytesPerFrame == 0, bytes.count <= Self.frameLimit * bytesPerFrame
      else { throw link.talksNonsense() }
      frames.append(samples: bytes)
    } catch {
      throw link.isAlive
        ? .malformed(error.reason) : .failed(call: "decoding process", reason: error.reason)
    }
  }

  /// The process; nil once it has ended.
  package var process: Int32? { link.process }
}

extension [Float] {
  /// Appends samples that came as bytes.
  mutating func append(samples bytes: ArraySlice<UInt8>) {
    bytes.withUnsafeBytes { bytes in
      reserveCapacity(count + bytes.count / MemoryLayout<Float>.size)
      for place in stride(from: 0, to: bytes.count, by: MemoryLayout<Float>.size) {
        append(bytes.loadUnaligned(fromByteOffset: place, as: Float.self))
      }
    }
  }
}
