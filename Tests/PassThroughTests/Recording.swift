import Foundation
import Testing

/// A seeded generator (SplitMix64), so that a failure can be had again.
struct SplitMix64: RandomNumberGenerator {
  var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }
}

/// A folder of its own for a test, removed with its last reference.
final class TemporaryFolder {
  let path: String

  init() throws {
    path = NSTemporaryDirectory() + "media-" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  func file(_ name: String) -> String { path + "/" + name }

  @discardableResult
  func write(_ bytes: [UInt8], to name: String) throws -> String {
    let folder = URL(fileURLWithPath: file(name)).deletingLastPathComponent()
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try Data(bytes).write(to: URL(fileURLWithPath: file(name)))
    return file(name)
  }

  func bytes(of name: String) throws -> [UInt8] {
    [UInt8](try Data(contentsOf: URL(fileURLWithPath: file(name))))
  }
}

/// Runs a command-line tool to its end.
func run(_ tool: String, _ arguments: [String]) throws {
  let process = Process()
  process.executableURL = URL(fileURLWithPath: "/usr/bin/" + tool)
  process.arguments = arguments
  process.standardInput = FileHandle.nullDevice
  let errors = Pipe()
  process.standardError = errors
  try process.run()
  let text = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
  process.waitUntilExit()
  try #require(process.terminationStatus == 0, "\(tool): \(text)")
}

/// White noise in whole numbers of 16 or 24 bits, of which any frame can be told from its neighbours.
struct Recording {
  var rate: Int
  var channels: Int
  var bits: Int
  var samples: [Int32]

  init(rate: Int = 44_100, channels: Int = 2, bits: Int = 16, frames: Int, seed: UInt64 = 1) {
    var random = SplitMix64(seed: seed)
    self.rate = rate
    self.channels = channels
    self.bits = bits
    let shift = UInt64(64 - bits + 2)
    samples = (0..<frames * channels).map { _ in
      Int32(truncatingIfNeeded: Int64(bitPattern: random.next()) >> shift)
    }
  }

  /// 997 Hz at half of full scale, in both channels: no period is a whole number of frames.
  static func sine(rate: Int, _ frames: Range<Int>) -> Recording {
    var recording = Recording(rate: rate, frames: 0)
    recording.samples = frames.flatMap { frame in
      let value = sin(2 * .pi * 997 * Double(frame) / Double(rate)) * 16_384
      return [Int32(value.rounded()), Int32(value.rounded())]
    }
    return recording
  }

  var frameCount: Int { samples.count / channels }

  var floats: [Float] {
    let scale = Float(1 << (bits - 1))
    return samples.map { Float($0) / scale }
  }

  /// Little-endian and interleaved.
  var bytes: [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(samples.count * bits / 8)
    for sample in samples {
      for shift in stride(from: 0, to: bits, by: 8) {
        bytes.append(UInt8(truncatingIfNeeded: sample >> Int32(shift)))
      }
    }
    return bytes
  }

  func part(_ range: Range<Int>) -> Recording {
    var part = self
    part.samples = Array(samples[range.lowerBound * channels..<range.upperBound * channels])
    return part
  }

  /// Writes it to the file `name`, by FFmpeg with the arguments `encoding`.
  @discardableResult
  func write(
    to name: String, _ encoding: [String] = [], in folder: TemporaryFolder
  ) throws -> String {
    let raw = try folder.write(bytes, to: name + ".raw")
    let input = ["-f", "s\(bits)le", "-ar", "\(rate)", "-ac", "\(channels)", "-i", raw]
    try run("ffmpeg", ["-v", "error", "-y"] + input + encoding + [folder.file(name)])
    return folder.file(name)
  }
}
