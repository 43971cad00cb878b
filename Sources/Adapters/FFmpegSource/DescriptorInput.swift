import CFFmpeg
import Glibc
package import Sender

/// Gives FFmpeg the bytes of a file descriptor, from its beginning to its end.
final class DescriptorInput {
  /// Reads up to so many bytes, at least one. Returns their number, or FFmpeg's code.
  typealias Read = (_ buffer: UnsafeMutablePointer<UInt8>, _ count: Int) -> Int32

  /// In bytes; small, so that a live source is not held back for long.
  private static let bufferSize = 4_096

  private let read: Read
  private let library: FFmpegLibrary
  private(set) var context: UnsafeMutablePointer<AVIOContext>?

  init(library: FFmpegLibrary, name: String, _ read: @escaping Read) throws(MediaError) {
    self.read = read
    self.library = library
    let buffer = library.calls.av_malloc(Self.bufferSize)
    context = library.calls.avio_alloc_context(
      buffer?.assumingMemoryBound(to: UInt8.self), Int32(Self.bufferSize), 0,
      Unmanaged.passUnretained(self).toOpaque(), readDescriptor, nil, nil)
    guard let context else {
      library.calls.av_free(buffer)
      throw .unreadable(path: name, reason: "out of memory")
    }
    context.pointee.seekable = 0
  }

  deinit {
    // FFmpeg may have replaced the first buffer by its own.
    library.calls.av_free(context?.pointee.buffer)
    library.calls.avio_context_free(&context)
  }

  /// Waits for bytes of `descriptor`, until it is interrupted.
  static func read(
    _ descriptor: Int32, into buffer: UnsafeMutablePointer<UInt8>, _ count: Int,
    _ interruption: ReadInterruption
  ) -> Int32 {
    while interruption.waits(for: descriptor) {
      let size = Glibc.read(descriptor, buffer, count)
      if size > 0 { return Int32(clamping: size) }
      if size == 0 { return cff_eof }
      guard errno == EINTR || errno == EAGAIN else { return cff_io_error }
    }
    return cff_exit
  }

  fileprivate func fill(_ buffer: UnsafeMutablePointer<UInt8>, _ count: Int) -> Int32 {
    read(buffer, count)
  }
}

/// Reads a descriptor for a decoding process, which has none of its own.
package final class DescriptorGate: SourceGate {
  private let descriptor: Int32
  private let interruption: ReadInterruption

  /// - Parameter descriptor: stays open; it belongs to the caller.
  package init(descriptor: Int32, interruption: ReadInterruption) {
    self.descriptor = descriptor
    self.interruption = interruption
  }

  package func answer(_ call: SourceCall) -> SourceReply {
    guard case .read(_, let count) = call else {
      return .failed(code: cff_invalid_argument, reason: "")
    }
    var block = [UInt8](repeating: 0, count: min(count, DecoderMessage.byteLimit))
    let given = block.withUnsafeMutableBufferPointer { block in
      block.baseAddress.map {
        DescriptorInput.read(descriptor, into: $0, block.count, interruption)
      } ?? cff_io_error
    }
    guard given >= 0 || given == cff_eof else { return .failed(code: given, reason: "") }
    return .bytes(block.prefix(max(0, Int(given))), titles: [])
  }
}

/// FFmpeg's callback, on the reading thread. The context is the input, which outlives the AVIOContext.
private func readDescriptor(
  context: UnsafeMutableRawPointer?, buffer: UnsafeMutablePointer<UInt8>?, count: Int32
) -> Int32 {
  guard let context, let buffer, count > 0 else { return cff_io_error }
  return Unmanaged<DescriptorInput>.fromOpaque(context).takeUnretainedValue()
    .fill(buffer, Int(count))
}
