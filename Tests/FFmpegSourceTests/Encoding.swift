import Testing

/// A file format, with FFmpeg's arguments to write it.
struct Encoding: Sendable, CustomTestStringConvertible {
  var name: String
  var arguments: [String] = []
  var rate = 44_100
  var isLossless = false
  /// True if the file states its number of frames, and its decoder returns exactly these.
  var isExact = true

  var testDescription: String { ([name] + arguments).joined(separator: " ") }

  static let lossless = [
    Encoding(name: "a.wav", isLossless: true), Encoding(name: "a.aiff", isLossless: true),
    Encoding(name: "a.flac", isLossless: true), Encoding(name: "a.wv", isLossless: true),
    Encoding(name: "a.tta", isLossless: true),
    Encoding(name: "a.caf", isLossless: true, isExact: false),
    Encoding(name: "a.m4a", arguments: ["-c:a", "alac"], isLossless: true),
    Encoding(name: "flac.ogg", arguments: ["-c:a", "flac"], isLossless: true),
  ]
  /// AAC without noise substitution, whose noise differs each time it is decoded.
  static let lossy = [
    Encoding(name: "cbr.mp3", arguments: ["-b:a", "128k"]),
    Encoding(name: "vbr.mp3", arguments: ["-q:a", "3"]),
    Encoding(name: "plain.mp3", arguments: ["-write_xing", "0", "-q:a", "3"], isExact: false),
    Encoding(name: "a.ogg", arguments: ["-c:a", "libvorbis"]),
    Encoding(name: "a.opus", arguments: ["-b:a", "160k"], rate: 48_000),
    Encoding(name: "a.webm", arguments: ["-b:a", "160k"], rate: 48_000, isExact: false),
    Encoding(name: "a.mka", arguments: ["-c:a", "libvorbis"], isExact: false),
    Encoding(name: "a.m4a", arguments: ["-b:a", "192k", "-aac_pns", "0"]),
    Encoding(name: "a.aac", arguments: ["-b:a", "192k", "-aac_pns", "0"], isExact: false),
    Encoding(name: "a.wma", isExact: false),
    Encoding(name: "a.ts", arguments: ["-c:a", "aac", "-aac_pns", "0"], isExact: false),
    Encoding(name: "a.ac3", isExact: false),
    Encoding(name: "a.mp2", isExact: false),
    Encoding(name: "a.spx", arguments: ["-c:a", "libspeex"], rate: 32_000, isExact: false),
  ]
}
