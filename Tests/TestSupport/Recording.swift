import Clock
import Foundation

/// Runs a command-line tool to its end.
package func run(_ tool: String, _ arguments: [String]) throws {
  let process = Process()
  process.executableURL = URL(fileURLWithPath: "/usr/bin/" + tool)
  process.arguments = arguments
  process.standardInput = FileHandle.nullDevice
  let errors = Pipe()
  process.standardError = errors
  try process.run()
  let text = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
  process.waitUntilExit()
  guard process.terminationStatus == 0 else { throw Missing(description: "\(tool): \(text)") }
}

/// White noise in whole numbers of 16 or 24 bits, in which each frame differs from its neighbours.
package struct Recording {
  package var rate: Int
  package var channels: Int
  package var bits: Int
  package var samples: [Int32]

  package init(rate: Int = 44_100, channels: Int = 2, bits: Int = 16, frames: Int, seed: UInt64 = 1)
  {
    var random = SplitMix64(seed: seed)
    self.rate = rate
    self.channels = channels
    self.bits = bits
    let shift = UInt64(64 - bits + 2)
    samples = (0..<frames * channels).map { _ in
      Int32(truncatingIfNeeded: Int64(bitPattern: random.next()) >> shift)
    }
  }

  package var frameCount: Int { samples.count / channels }

  package var floats: [Float] {
    let scale = Float(1 << (bits - 1))
    return samples.map { Float($0) / scale }
  }

  /// Little-endian and interleaved.
  package var bytes: [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(samples.count * bits / 8)
    for sample in samples {
      for shift in stride(from: 0, to: bits, by: 8) {
        bytes.append(UInt8(truncatingIfNeeded: sample >> Int32(shift)))
      }
    }
    return bytes
  }

  package func part(_ range: Range<Int>) -> Recording {
    var part = self
    part.samples = Array(samples[range.lowerBound * channels..<range.upperBound * channels])
    return part
  }

  /// Writes the recording to the file `name`, with FFmpeg and the arguments `encoding`.
  @discardableResult
  package func write(
    to name: String, _ encoding: [String] = [], in folder: TemporaryFolder
  ) throws -> String {
    let raw = try folder.write(bytes, to: name + ".raw")
    let input = ["-f", "s\(bits)le", "-ar", "\(rate)", "-ac", "\(channels)", "-i", raw]
    try run("ffmpeg", ["-v", "error", "-y"] + input + encoding + [folder.file(name)])
    return folder.file(name)
  }
}
