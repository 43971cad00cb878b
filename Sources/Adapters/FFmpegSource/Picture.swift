import CFFmpeg
import Glibc
package import Sender

/// A picture from a file of its own, or from a media file.
package struct Picture: Hashable, Sendable {
  /// In bytes; a larger picture counts as none.
  package static let sizeLimit = 16 << 20

  package enum Kind: String, CaseIterable, Sendable {
    case jpeg, png, gif, webp, bmp

    package var mimeType: String { "image/\(rawValue)" }

    var codec: AVCodecID {
      switch self {
      case .jpeg: AV_CODEC_ID_MJPEG
      case .png: AV_CODEC_ID_PNG
      case .gif: AV_CODEC_ID_GIF
      case .webp: AV_CODEC_ID_WEBP
      case .bmp: AV_CODEC_ID_BMP
      }
    }

    /// Detects the kind by the first bytes, because names and tags lie.
    fileprivate init?(_ bytes: [UInt8]) {
      func has(_ mark: String, at place: Int = 0) -> Bool {
        bytes.dropFirst(place).starts(with: Array(mark.utf8))
      }
      if bytes.starts(with: [0xff, 0xd8, 0xff]) {
        self = .jpeg
      } else if bytes.starts(with: [0x89, 0x50, 0x4e, 0x47]) {
        self = .png
      } else if has("GIF8") {
        self = .gif
      } else if has("RIFF"), has("WEBP", at: 8) {
        self = .webp
      } else if has("BM") {
        self = .bmp
      } else {
        return nil
      }
    }
  }

  package let bytes: [UInt8]
  package let kind: Kind

  /// Returns nil for bytes that are no picture, or too many.
  package init?(_ bytes: [UInt8]) {
    guard bytes.count <= Self.sizeLimit, let kind = Kind(bytes) else { return nil }
    (self.bytes, self.kind) = (bytes, kind)
  }

  /// - Throws: `MediaError` if the file cannot be read, or is no picture.
  package init(path: String) throws(MediaError) {
    let file = open(FileName.bytes(of: path), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    guard file >= 0 else {
      throw .unreadable(path: path, reason: String(cString: strerror(errno)))
    }
    defer { close(file) }
    var bytes: [UInt8] = []
    var block = [UInt8](repeating: 0, count: 1 << 16)
    while bytes.count <= Self.sizeLimit {
      let count = read(file, &block, block.count)
      guard count > 0 else { break }
      bytes += block.prefix(count)
    }
    guard let picture = Picture(bytes) else {
      throw .notAudio(path: path, reason: "it is no picture of at most 16 MiB")
    }
    self = picture
  }

  /// Returns a hash of the content, which serves as the picture's name.
  package func hash() throws(MediaError) -> String {
    try FFmpegLibrary.load(toPlay: "a picture").hash(of: bytes)
  }

  /// Loads everything that `fitting` needs, for a process that can load nothing later.
  package static func prepare() { _ = try? PictureScaler() }

  /// Returns the picture as a JPEG of at most `size` pixels each way, or unchanged if it is no larger.
  /// Takes some 50 ms.
  ///
  /// - Throws: `MediaError` if the picture is broken, or FFmpeg's filters are missing.
  package func fitting(_ size: Int) throws(MediaError) -> Picture {
    let scaler = try PictureScaler()
    let frame = try scaler.decode(self)
    let (width, height) = (Int(frame.pointee.width), Int(frame.pointee.height))
    guard max(width, height) > size else { return self }
    let scale = Double(size) / Double(max(width, height))
    // The encoder needs even numbers.
    let target = [width, height].map { max(2, Int(Double($0) * scale) / 2 * 2) }
    try scaler.scale(to: target[0], target[1])
    guard let made = Picture(try scaler.encode()) else {
      throw PictureScaler.broken(cff_invalid_data)
    }
    return made
  }
}
