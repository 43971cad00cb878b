import Foundation
import Output
import Testing

/// A path that only one test uses.
final class TemporaryFile {
  let path: String

  init() throws {
    path = FileManager.default.temporaryDirectory.appending(path: "\(UUID()).wav").path
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  func wave() throws -> Wave { Wave(bytes: [UInt8](try Data(contentsOf: URL(filePath: path)))) }
}

/// A WAV file, parsed by its header.
struct Wave {
  var bytes: [UInt8]

  func number(at offset: Int, bytes count: Int) -> Int {
    bytes[offset..<(offset + count)].reversed().reduce(0) { $0 << 8 | Int($1) }
  }
  /// Size of the header with the chunks of the format: 44 bytes, or 58 for formats other than
  /// integer PCM.
  var headerSize: Int { number(at: 16, bytes: 4) == 18 ? 58 : 44 }
  var body: [UInt8] { Array(bytes[headerSize...]) }

  func samples<Sample: BitwiseCopyable>(as type: Sample.Type) -> [Sample] {
    body.withUnsafeBytes { body in
      (0..<(body.count / MemoryLayout<Sample>.size)).map {
        body.loadUnaligned(fromByteOffset: $0 * MemoryLayout<Sample>.size, as: Sample.self)
      }
    }
  }
}

@Suite struct WaveFileTests {
  @Test func `the header fits the file after each flush`() throws {
    let file = try TemporaryFile()
    var wave = try WaveFile(path: file.path, sampleRate: 44_100, format: .packed24)
    for turn in 0..<3 {
      try wave.flush()
      let read = try file.wave()
      #expect(read.bytes.count == 44 + turn * 6 * 20_000)
      #expect(read.number(at: 4, bytes: 4) == read.bytes.count - 8)
      #expect(read.number(at: 40, bytes: 4) == read.bytes.count - 44)
      #expect(read.number(at: 20, bytes: 2) == 1)
      #expect(read.number(at: 22, bytes: 2) == 2)
      #expect(read.number(at: 24, bytes: 4) == 44_100)
      #expect(read.number(at: 28, bytes: 4) == 44_100 * 6)
      #expect(read.number(at: 34, bytes: 2) == 24)
      try wave.append([Float](repeating: 0.5, count: 40_000), count: 20_000)
    }
  }

  @Test func `24 bits hold full scale on both sides`() throws {
    let file = try TemporaryFile()
    var wave = try WaveFile(path: file.path, sampleRate: 48_000, format: .packed24)
    try wave.append([1, -1, 0, 0x1p-23, .nan, 2], count: 3)
    try wave.flush()
    #expect(
      try file.wave().body == [
        0xFF, 0xFF, 0x7F, 0, 0, 0x80, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0xFF, 0xFF, 0x7F,
      ])
  }

  @Test func `a file stops at its largest size and stays valid`() throws {
    let file = try TemporaryFile()
    var wave = try WaveFile(
      path: file.path, sampleRate: 48_000, format: .float32, largestSize: 58 + 8 * 100)
    let frames = [Float](repeating: 0.25, count: 2 * 60)
    try wave.append(frames, count: 60)
    #expect(throws: SinkError.self) { try wave.append(frames, count: 60) }
    #expect(try file.wave().samples(as: Float.self) == frames)
    #expect(try file.wave().number(at: 54, bytes: 4) == 480)
  }

  @Test func `floats have the chunks that the format asks for`() throws {
    let file = try TemporaryFile()
    var wave = try WaveFile(path: file.path, sampleRate: 96_000, format: .float32)
    try wave.append([Float](repeating: 0.5, count: 2000), count: 1000)
    try wave.flush()
    let read = try file.wave()
    #expect(read.number(at: 16, bytes: 4) == 18)
    #expect(read.number(at: 20, bytes: 2) == 3)
    #expect(read.number(at: 36, bytes: 2) == 0)
    #expect(read.bytes[38..<42].elementsEqual("fact".utf8))
    #expect(read.number(at: 46, bytes: 4) == 1000)
    #expect(read.bytes[50..<54].elementsEqual("data".utf8))
    #expect(read.number(at: 54, bytes: 4) == 8000)
    #expect(read.bytes.count == 58 + 8000)
  }

  @Test func `a check neither leaves a file nor harms one`() throws {
    let file = try TemporaryFile()
    try WaveFile.check(path: file.path)
    #expect(!FileManager.default.fileExists(atPath: file.path))
    try Data([1, 2, 3]).write(to: URL(filePath: file.path))
    try WaveFile.check(path: file.path)
    #expect(try file.wave().bytes == [1, 2, 3])
    #expect(throws: SinkError.self) { try WaveFile.check(path: "/no/such/directory/a.wav") }
    #expect(throws: SinkError.self) { try WaveFile.check(path: "/tmp") }
  }
}
