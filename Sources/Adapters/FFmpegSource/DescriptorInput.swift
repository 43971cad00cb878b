import CFFmpeg
import Glibc
import Sender

/// Gives FFmpeg the bytes of a file descriptor, from its beginning to its end.
final class DescriptorInput {
  /// In bytes; small, so that a live source is not held back for long.
  private static let bufferSize = 4_096

  private let descriptor: Int32
  private let interruption: ReadInterruption
  private let library: FFmpegLibrary
  private(set) var context: UnsafeMutablePointer<AVIOContext>?

  init(
    descriptor: Int32, interruption: ReadInterruption, library: FFmpegLibrary
  ) throws(MediaError) {
    self.descriptor = descriptor
    self.interruption = interruption
    self.library = library
    let buffer = library.calls.av_malloc(Self.bufferSize)
    context = library.calls.avio_alloc_context(
      buffer?.assumingMemoryBound(to: UInt8.self), Int32(Self.bufferSize), 0,
      Unmanaged.passUnretained(self).toOpaque(), readDescriptor, nil, nil)
    guard let context else {
      library.calls.av_free(buffer)
      throw .unreadable(path: "descriptor \(descriptor)", reason: "out of memory")
    }
    context.pointee.seekable = 0
  }

  deinit {
    // FFmpeg may have replaced the first buffer by its own.
    library.calls.av_free(context?.pointee.buffer)
    library.calls.avio_context_free(&context)
  }

  fileprivate func read(into buffer: UnsafeMutablePointer<UInt8>, count: Int32) -> Int32 {
    while interruption.waits(for: descriptor) {
      let size = Glibc.read(descriptor, buffer, Int(count))
      if size > 0 { return Int32(size) }
      if size == 0 { return cff_eof }
      guard errno == EINTR || errno == EAGAIN else { return cff_io_error }
    }
    return cff_exit
  }
}

/// FFmpeg's callback, on the reading thread. The context is the input, which outlives the AVIOContext.
private func readDescriptor(
  context: UnsafeMutableRawPointer?, buffer: UnsafeMutablePointer<UInt8>?, count: Int32
) -> Int32 {
  guard let context, let buffer, count > 0 else { return cff_io_error }
  return Unmanaged<DescriptorInput>.fromOpaque(context).takeUnretainedValue()
    .read(into: buffer, count: count)
}
