import CFFmpeg
import Glibc
import Sender

/// Gives FFmpeg the bytes of a file, by a descriptor, so that no demuxer opens a path.
final class FileInput {
  private static let bufferSize = 32 << 10

  let file: MediaFile
  private let library: FFmpegLibrary
  private var position: Int64 = 0
  private(set) var context: UnsafeMutablePointer<AVIOContext>?

  /// - Parameter isSeekable: false for a file that can only be played from its beginning to its end.
  init(
    _ file: MediaFile, isSeekable: Bool = true, library: FFmpegLibrary
  ) throws(MediaError) {
    (self.file, self.library) = (file, library)
    let buffer = library.calls.av_malloc(Self.bufferSize)
    context = library.calls.avio_alloc_context(
      buffer?.assumingMemoryBound(to: UInt8.self), Int32(Self.bufferSize), 0,
      Unmanaged.passUnretained(self).toOpaque(), readFile, nil, isSeekable ? seekFile : nil)
    guard context != nil else {
      library.calls.av_free(buffer)
      throw .unreadable(path: file.path, reason: "out of memory")
    }
  }

  deinit {
    // FFmpeg may have replaced the first buffer by its own.
    library.calls.av_free(context?.pointee.buffer)
    library.calls.avio_context_free(&context)
  }

  /// Makes `format` read from this input, which must outlive it.
  func prepare(_ format: UnsafeMutablePointer<AVFormatContext>) {
    format.pointee.pb = context
    format.pointee.io_open = refuseToOpen
  }

  fileprivate func read(into buffer: UnsafeMutablePointer<UInt8>, count: Int32) -> Int32 {
    let size = file.read(into: buffer, count: Int(count), from: position)
    guard size > 0 else { return size == 0 ? cff_eof : cff_io_error }
    position += Int64(size)
    return Int32(size)
  }

  fileprivate func seek(to place: Int64, _ origin: Int32) -> Int64 {
    switch origin & ~AVSEEK_FORCE {
    case AVSEEK_SIZE: return file.size
    case SEEK_SET where place >= 0: position = place
    default: return Int64(cff_invalid_argument)
    }
    return position
  }
}

/// FFmpeg's callback, on the reading thread. The context is the input, which outlives the AVIOContext.
private func readFile(
  context: UnsafeMutableRawPointer?, buffer: UnsafeMutablePointer<UInt8>?, count: Int32
) -> Int32 {
  guard let context, let buffer, count > 0 else { return cff_io_error }
  return Unmanaged<FileInput>.fromOpaque(context).takeUnretainedValue()
    .read(into: buffer, count: count)
}

/// FFmpeg's callback, on the reading thread.
private func seekFile(context: UnsafeMutableRawPointer?, place: Int64, origin: Int32) -> Int64 {
  guard let context else { return Int64(cff_io_error) }
  return Unmanaged<FileInput>.fromOpaque(context).takeUnretainedValue().seek(to: place, origin)
}

/// FFmpeg's callback: refuses, because a file must open no other.
func refuseToOpen(
  context: UnsafeMutablePointer<AVFormatContext>?,
  bytes: UnsafeMutablePointer<UnsafeMutablePointer<AVIOContext>?>?, url: UnsafePointer<CChar>?,
  flags: Int32, options: UnsafeMutablePointer<OpaquePointer?>?
) -> Int32 { cff_invalid_argument }
