import Foundation
import TestSupport
import Testing

/// A daemon that plays a station, which people pause and go back in.
@Suite struct RadioTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// A station of 64 kbit/s that sends 4 s at once, and then what passes, with a title each 10 s.
  private func station(_ over: DispatchSemaphore) throws -> TestPeer {
    try run(
      "ffmpeg",
      [
        "-v", "error", "-f", "lavfi", "-i", "aevalsrc='0.4*sin(2*PI*(200*t+10*t*t))':s=44100:d=120",
        "-b:a", "64k", "-write_xing", "0", "-id3v2_version", "0", folder.file("a.mp3"),
      ])
    let bytes = try folder.bytes(of: "a.mp3")
    return try TestPeer { connection in
      var head = ""
      while !head.contains("\r\n\r\n") {
        let bytes = connection.receive()
        guard !bytes.isEmpty else { return }
        head += String(decoding: bytes, as: UTF8.self)
      }
      let answer =
        "HTTP/1.0 200 OK\r\nicy-name: Station\r\nicy-metaint: 8000\r\n"
        + "Content-Type: audio/mpeg\r\n\r\n"
      connection.send(Array(answer.utf8))
      for second in 0..<120 {
        let title = Array("StreamTitle='A - Title \(second / 10)';".utf8)
        let blocks = (title.count + 15) / 16
        connection.send(
          Array(bytes[(second * 8_000)..<min(bytes.count, second * 8_000 + 8_000)])
            + [UInt8(blocks)] + title + [UInt8](repeating: 0, count: blocks * 16 - title.count))
        if second > 4, over.wait(timeout: .now() + 1) == .success { return }
      }
    }
  }

  @Test func `only what plays is kept as a station`() throws {
    let over = DispatchSemaphore(value: 0)
    let server = try station(over)
    defer { over.signal() }
    let page = try TestPeer { connection in
      _ = connection.receive()
      let text = "<html><body>Listen here</body></html>"
      let head = "HTTP/1.0 200 OK\r\nContent-Type: text/html\r\nContent-Length: \(text.utf8.count)"
      connection.send(Array((head + "\r\n\r\n" + text).utf8))
    }
    let daemon = try Daemon(in: folder)
    for wrong in ["http://\(page.address)/", "http://127.0.0.1:1/"] {
      let refused = #expect(throws: Daemon.Refused.self) {
        try daemon.run("radio", "--keep", wrong)
      }
      #expect("\(try #require(refused))".contains("no station can be heard there"))
    }
    // A name is believed: the station may be off.
    _ = try daemon.run("radio", "--keep", "http://127.0.0.1:1/", "--name", "Later")
    let address = "http://\(server.address)/radio"
    #expect(try daemon.run("radio", "--keep", address) == ["Station is a station now"])
    #expect(try daemon.run("radio").count == 2)
    #expect(try daemon.stop() == 0)
  }

  private func position(_ daemon: Daemon) throws -> Double {
    try daemon.status()["positionS"] as? Double ?? 0
  }

  private func lateness(_ daemon: Daemon) throws -> Double? {
    try daemon.status()["behindLiveS"] as? Double
  }

  @Test func `a station is paused, heard late, heard again, and live again`() throws {
    let over = DispatchSemaphore(value: 0)
    let server = try station(over)
    defer { over.signal() }
    let room = try ReceiverProgram("a", in: folder)
    let daemon = try Daemon(in: folder)
    _ = try daemon.run(["play", "http://\(server.address)/radio", "--at", room.address])
    try daemon.wait { try position($0) > 3 }
    #expect(try lateness(daemon) == nil)
    _ = try daemon.run("pause")
    let place = try position(daemon)
    try daemon.wait { try $0.status()["liveS"] as? Double ?? 0 > place + 12 }
    _ = try daemon.run("resume")
    try daemon.wait { try position($0) > place + 2 }
    #expect(try position(daemon) < place + 8)
    #expect(try #require(try lateness(daemon)) > 9)
    #expect(try daemon.run("status").contains { $0.contains("behind live") })
    #expect(try daemon.run("groups").contains { $0.contains("behind live") })
    _ = try daemon.run("seek", "1")
    try daemon.wait { try (1.5..<place).contains(position($0)) }
    let said = try daemon.run("seek", "live")
    #expect(said.last?.hasSuffix("live again") == true, "\(said)")
    try daemon.wait { try $0.status()["state"] as? String == "playing" && lateness($0) == nil }
    #expect(try position(daemon) > place + 10)
    // Nobody answers there.
    _ = try daemon.run("add", "http://127.0.0.1:1/gone")
    _ = try daemon.run("jump", "2")
    try daemon.wait { try $0.run("status").contains { $0.hasPrefix("failed") } }
    let row = try daemon.run("queue")[1]
    #expect(row.contains("gone") && row.contains("cannot be read"), "\(row)")
    #expect(try daemon.stop() == 0)
    #expect(try room.program.stop() == 0)
  }
}
