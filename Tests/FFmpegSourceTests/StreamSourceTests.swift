import Audio
import FFmpegSource
import Foundation
import Sender
import TestSupport
import Testing

@Suite struct StreamSourceTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// Returns a pipe into which a thread writes `bytes`, and which it then closes. Releasing the handle
  /// closes its descriptor, so the caller must hold it until the source has been read.
  private func pipe(of bytes: [UInt8]) -> FileHandle {
    let pipe = Pipe()
    let writer = pipe.fileHandleForWriting
    Thread.detachNewThread {
      try? writer.write(contentsOf: Data(bytes))
      try? writer.close()
    }
    return pipe.fileHandleForReading
  }

  @Test(arguments: ["a.wav", "a.flac", "a.ogg", "a.aac"])
  func `what comes through a pipe is what is in the file`(name: String) throws {
    let path = try Recording(frames: 50_000).write(to: name, in: folder)
    let handle = pipe(of: try folder.bytes(of: name))
    defer { withExtendedLifetime(handle) {} }
    let source = try StreamSource(
      descriptor: handle.fileDescriptor, interruption: ReadInterruption())
    #expect(try readAll(source) == readAll(FileSource(path: path)))
    #expect(source.frameCount == nil)
  }

  @Test(arguments: [16, 24], [1, 2, 6])
  func `raw samples come out as they are`(bits: Int, channels: Int) throws {
    let recording = Recording(rate: 48_000, channels: channels, bits: bits, frames: 10_007)
    let handle = pipe(of: recording.bytes)
    defer { withExtendedLifetime(handle) {} }
    let source = try StreamSource(
      descriptor: handle.fileDescriptor, rawFormat: RawFormat("48000:\(bits):\(channels)"),
      channels: ChannelLimit(maximum: 8), interruption: ReadInterruption())
    #expect(source.format == AudioFormat(sampleRate: 48_000, channelCount: channels))
    #expect(source.sampleType == (bits == 16 ? .int16 : .int24))
    #expect(source.isLossless)
    #expect(try readAll(source) == recording.floats)
  }

  @Test func `a stream cannot be sought`() throws {
    let handle = pipe(of: Recording(frames: 5_000).bytes)
    defer { withExtendedLifetime(handle) {} }
    let source = try StreamSource(
      descriptor: handle.fileDescriptor, rawFormat: RawFormat("44100:16:2"),
      interruption: ReadInterruption())
    try source.seek(toFrame: 0)
    #expect(throws: MediaError.notSeekable(path: "standard input")) {
      try source.seek(toFrame: 100)
    }
  }

  @Test func `an interruption ends a read that waits for ever`() throws {
    let silent = Pipe()
    defer { withExtendedLifetime(silent) {} }
    try silent.fileHandleForWriting.write(contentsOf: Data(Recording(frames: 5_000).bytes))
    let interruption = try ReadInterruption()
    let source = try StreamSource(
      descriptor: silent.fileHandleForReading.fileDescriptor, rawFormat: RawFormat("44100:16:2"),
      interruption: interruption)
    Thread.detachNewThread { interruption.interrupt() }
    #expect(try readAll(source).count <= 10_000)
    #expect(try readAll(source).isEmpty)
    try silent.fileHandleForWriting.close()
  }

  @Test func `nothing on the pipe is not audio`() throws {
    let handle = pipe(of: [])
    defer { withExtendedLifetime(handle) {} }
    #expect(throws: MediaError.self) {
      try StreamSource(descriptor: handle.fileDescriptor, interruption: ReadInterruption())
    }
  }
}
