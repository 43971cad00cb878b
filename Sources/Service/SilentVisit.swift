import Clock
package import Driver
package import House
import LinuxIO
package import Sender

/// A short session without music that changes settings of rooms while no player runs here.
package struct SilentVisit {
  /// Time within which all rooms must answer.
  private static let timeout = Nanoseconds.seconds(10)
  /// If rooms take longer than this, it says which ones it waits for.
  private static let silence = Nanoseconds.seconds(1)

  private let host: GroupHost
  private let senderName: String
  private let rooms: [RoomRecord]
  private let addresses: [(host: String, port: UInt16)]
  private let say: (String) -> Void

  /// - Parameter say: called with a line for people.
  package init(
    _ rooms: [RoomRecord], at addresses: [(host: String, port: UInt16)], on host: GroupHost,
    senderName: String, say: @escaping (String) -> Void
  ) {
    (self.host, self.senderName, self.say) = (host, senderName, say)
    (self.rooms, self.addresses) = (rooms, addresses)
  }

  /// Changes the settings and returns the resulting ones.
  package func set(_ change: RoomChange) throws -> [StatusReport.Room] {
    let driver = try driver()
    if let refusal = try awaitRooms(driver) {
      throw Refusal.unavailable("not every room could be reached: \(refusal)")
    }
    for command in try change.commands(for: .all) {
      _ = try driver.carryOut(command).mapError { Refusal.invalid($0.description) }.get()
    }
    let set = StatusReport(driver.status()).rooms
    try end(driver)
    return set
  }

  /// Sends the goodbye and waits until it has left.
  private func end(_ driver: GroupDriver) throws {
    driver.carryOut(.stop)
    while !driver.session.isFinished { try turn(driver, until: nil) }
    try driver.end()
  }

  private func driver() throws -> GroupDriver {
    let sources = try PlaybackSources(
      EncoderChoice(codec: .auto, bitrate: nil, packetLength: 20))
    let driver = try GroupDriver(
      host: host,
      settings: .init(
        senderName: senderName, endsWithPlaylist: false, claim: .init(givesBack: true)),
      playlist: Playlist(), reads: sources.reads, makeSerializer: sources.makeSerializer)
    for record in rooms { driver.addRoom(record) }
    for (host, port) in addresses { driver.addRoom(host: host, port: port) }
    return driver
  }

  /// Returns the reason why a room has not answered, or nil if all have.
  private func awaitRooms(_ driver: GroupDriver) throws -> String? {
    let began = HostClock.now
    var speaksAt: LocalTime? = began + Self.silence
    while true {
      let absent = driver.status().rooms.filter { $0.settings == nil }
      if absent.isEmpty { return nil }
      let names = absent.map(\.explanation).joined(separator: "; ")
      // A room that refuses is retried again and again, so stop waiting once all missing rooms have
      // refused.
      let areDecided = absent.allSatisfy { if case .away = $0.connection { true } else { false } }
      guard HostClock.now < began + Self.timeout, !areDecided else { return names }
      if let time = speaksAt, time <= HostClock.now {
        say("waiting for " + absent.map(\.name).joined(separator: ", "))
        speaksAt = nil
      }
      try turn(driver, until: speaksAt ?? began + Self.timeout)
    }
  }

  private func turn(_ driver: GroupDriver, until deadline: LocalTime?) throws {
    try EventLoop(driver.host.reactor, [driver.host]).turn(until: deadline)
  }
}
