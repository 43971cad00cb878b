import Audio
import Driver
import FFmpegSource
import Foundation
import Glibc
import Sender
import TestSupport
import Testing

/// Tests of packets that are decoded as they came, by the finished program in a process of its own.
@Suite struct WorkerDecoderTests {
  private let folder: TemporaryFolder
  private let path: String
  private let packets: [EncodedPacket]
  private let format: StreamFormat

  init() throws {
    folder = try TemporaryFolder()
    path = try Recording(frames: 60_000).write(to: "a.flac", in: folder)
    let source = try FileSource(path: path).packets()
    format = source.format
    var all: [EncodedPacket] = []
    while let packet = try source.next() { all.append(packet) }
    packets = all
  }

  private func decoder() throws(CodecError) -> WorkerDecoder {
    try WorkerDecoder(format, workers: WorkerSourceTests.workers)
  }

  @Test func `packets are decoded to the bit by a process that can do nothing else`() throws {
    let decoder = try decoder()
    var (frames, whole): ([Float], [Float]) = ([], [])
    for packet in packets { try decoder.decode(packet.payload, appendingTo: &frames) }
    try FileSource(path: path).read(100_000, appendingTo: &whole)
    #expect(packets.count > 10 && frames.starts(with: whole))
    let process = try #require(decoder.process)
    let status = try String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
    #expect(status.contains("Seccomp:\t2"))
  }

  @Test func `a packet that is none is malformed, and the next one is decoded`() throws {
    let decoder = try decoder()
    var frames: [Float] = []
    let error = #expect(throws: CodecError.self) {
      try decoder.decode([1, 2, 3], appendingTo: &frames)
    }
    guard case .malformed = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(frames.isEmpty)
    try decoder.decode(packets[0].payload, appendingTo: &frames)
    #expect(!frames.isEmpty)
  }

  @Test func `a process that was killed decodes no more, and says so at once`() throws {
    let decoder = try decoder()
    var frames: [Float] = []
    try decoder.decode(packets[0].payload, appendingTo: &frames)
    kill(try #require(decoder.process), SIGKILL)
    for _ in 0..<2 {
      let error = #expect(throws: CodecError.self) {
        try decoder.decode(packets[1].payload, appendingTo: &frames)
      }
      guard case .failed = error else {
        Issue.record("\(String(describing: error))")
        return
      }
    }
  }
}
