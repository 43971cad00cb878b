import Clock
import Driver
import Foundation
import LinuxIO
import OpenSSLSecurity
import TestSupport
import Testing

@testable import House
@testable import Sender
@testable import Service

/// A household in its loop, with its file. A test asks it on the loop's own thread.
final class Home {
  let house: House
  private let loop: EventLoop

  init(in folder: TemporaryFolder) throws {
    let host = try GroupHost(
      reactor: Reactor(), security: TLSContext(IdentityKey.generate()))
    house = try House(host: host, settings: Self.settings(folder)) { Issue.record("\($0)") }
    loop = EventLoop(host.reactor, [host, house])
  }

  /// One that records what happens to it. `warn` gets the lines of its log.
  convenience init(
    in folder: TemporaryFolder, record: String,
    warn: @escaping (String) -> Void = { Issue.record("\($0)") }
  ) throws {
    try self.init(in: folder, record)
    house.listener.warning = warn
    house.start()
  }

  private init(in folder: TemporaryFolder, _ record: String) throws {
    let host = try GroupHost(
      reactor: Reactor(), security: TLSContext(IdentityKey.generate()))
    var settings = try Self.settings(folder)
    settings.record = record
    house = try House(host: host, settings: settings) { Issue.record("\($0)") }
    loop = EventLoop(host.reactor, [host, house])
  }

  private static func settings(_ folder: TemporaryFolder) throws -> House.Settings {
    .init(
      name: "study", version: "1",
      encoding: try EncoderChoice(codec: .auto, bitrate: nil, packetLength: 20),
      path: folder.file("house.db"), resumes: true)
  }

  /// As a daemon does that another one goes on for.
  func end() throws {
    try loop.turn(until: HostClock.now + .milliseconds(300))
    house.leave()
    try house.end()
  }

  /// Returns the answer, which comes once it is on the disk.
  @discardableResult
  func ask(_ request: Order) throws -> Answer {
    var result: Result<Answer, Refusal>?
    house.perform(request) { result = $0 }
    while result == nil { try loop.turn(until: HostClock.now + .seconds(10)) }
    return try #require(result).get()
  }

  func edit(_ group: String, _ edit: Order.QueueEdit) throws -> [Int] {
    try #require(try ask(.edit(group: group, edit, expected: nil)).queue).added
  }

  func ids(_ group: String) throws -> [Int] {
    try house.session.page(of: group, offset: 0, limit: 1000).entries.map(\.id)
  }

  func newGroup(_ name: String? = "Party", rooms: [String] = []) throws -> HouseState.Group {
    try #require(try ask(.createGroup(rooms: rooms, name: name)).group)
  }

  /// Returns the answer to a terminal.
  func command(
    _ request: ControlRequest, group: String? = nil
  ) throws -> ControlAnswer {
    var reply: ControlReply?
    house.answer(ControlCall(id: 1, group: group, request)) { reply = $0 }
    while reply == nil { try loop.turn(until: HostClock.now + .seconds(10)) }
    switch try #require(reply).outcome {
    case .done(let answer): return answer
    case .refused(let error): throw error
    case .access, .pairing, .library: throw Refusal.noSuch("answer")
    }
  }

  static func entries(_ numbers: Int...) -> [Order.NewEntry] {
    numbers.map { number in
      var entry = Order.NewEntry(location: "/music/\(number).flac")
      entry.title = "Title \(number)"
      return entry
    }
  }

  /// Ten seconds at 8 kHz, one channel of 16 bits.
  static var silence: Data {
    func little(_ number: Int, _ count: Int) -> [UInt8] {
      (0..<count).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
    }
    let length = 160_000
    return Data(
      Array("RIFF".utf8) + little(36 + length, 4) + Array("WAVEfmt ".utf8) + little(16, 4)
        + little(1, 2) + little(1, 2) + little(8_000, 4) + little(16_000, 4) + little(2, 2)
        + little(16, 2) + Array("data".utf8) + little(length, 4)
        + [UInt8](repeating: 0, count: length))
  }
}
