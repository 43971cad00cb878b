import Foundation
import TestSupport
import Testing

/// Tests of a source that delivers later than the clock needs it.
@Suite struct LateSourceTests {
  let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// Serves `file`, from any byte on. Bytes after `limit` are sent only once `gate` is open.
  private static func server(
    _ file: [UInt8], stallingAt limit: Int, until gate: DispatchSemaphore
  ) throws -> TestPeer {
    try TestPeer { connection in
      var head = ""
      while !head.contains("\r\n\r\n") {
        let bytes = connection.receive()
        guard !bytes.isEmpty else { return }
        head += String(decoding: bytes, as: UTF8.self)
      }
      let range = head.split(separator: "\r\n").first { $0.lowercased().hasPrefix("range:") }
      let start = range?.split(separator: "=").last?.split(separator: "-").first.flatMap { Int($0) }
      let first = min(start ?? 0, file.count)
      guard first < file.count else {
        connection.send(Array("HTTP/1.1 416 Range Not Satisfiable\r\n\r\n".utf8))
        return
      }
      let answer =
        "HTTP/1.1 206 Partial Content\r\nAccept-Ranges: bytes\r\n"
        + "Content-Length: \(file.count - first)\r\n"
        + "Content-Range: bytes \(first)-\(file.count - 1)/\(file.count)\r\n\r\n"
      connection.send(Array(answer.utf8) + file[first..<max(first, limit)])
      gate.wait()
      gate.signal()
      connection.send(Array(file[max(first, limit)...]))
    }
  }

  @Test func `an address that stalls is waited for, and goes on without a lost frame`() throws {
    let file = Tone.wave(rate: 48_000, seconds: 4)
    let gate = DispatchSemaphore(value: 0)
    let server = try Self.server(file, stallingAt: 44 + 48_000 * 4 * 3 / 2, until: gate)
    let receivers = try ["a", "b"].map { try ReceiverProgram($0, in: folder) }
    let player = try player(
      ["http://\(server.address)/tone.wav"], at: receivers.map(\.address), in: folder)
    try player.line(with: "too slow to play on; waiting for the next 2 s of it")
    gate.signal()
    #expect(try player.exitCode() == 0, "\(player.lines)")
    #expect(player.lines(with: "of silence").count == 1)
    #expect(player.lines(with: "network is too slow").isEmpty)
    for receiver in receivers { #expect(try receiver.program.stop() == 0) }
    for name in ["a", "b"] {
      try expectWhole(ToneRecording(folder.file("\(name).wav")), seconds: 4)
    }
  }

  /// Expects one tone of this length with one silence in it, in which nothing is lost.
  private func expectWhole(_ recording: ToneRecording, seconds: Double) throws {
    let sounding = recording.sounding
    func isSilent(from index: Int) -> Bool {
      sounding[index..<min(index + 480, sounding.endIndex)].allSatisfy { abs($0) < 1e-6 }
    }
    let stop = try #require(sounding.indices.first { isSilent(from: $0) })
    let start = try #require(sounding[stop...].indices.first { abs(sounding[$0]) >= 1e-6 })
    // A fade hides a few frames at the edges of the silence.
    let heard = stop - sounding.startIndex + sounding.endIndex - start
    #expect(abs(Double(heard) - seconds * Double(recording.rate)) < 100)
    let before = ToneRecording.phases(of: sounding[..<stop], recording.rate)
    let after = ToneRecording.phases(
      of: sounding[start...], recording.rate, at: stop - sounding.startIndex)
    for phase in before + after {
      let distance = phase - before[0]
      #expect(abs(distance - distance.rounded()) < 0.05)
    }
    let silent = sounding[stop..<start].allSatisfy { abs($0) < 1e-6 }
    #expect(silent)
  }
}
