import Clock
import Driver
import FFmpegSource
import House
import LinuxIO
import Sender
import Service

/// A short session without music that changes settings of rooms while no player runs here.
struct SilentVisit {
  /// Time within which all rooms must answer.
  private static let timeout = Nanoseconds.seconds(10)
  /// If rooms take longer than this, it prints which ones it waits for.
  private static let silence = Nanoseconds.seconds(1)

  let state: StateDirectory
  let wish: RoomWish

  /// Changes the settings and returns the resulting ones.
  func set(_ change: RoomChange) throws -> [StatusReport.Room] {
    let driver = try driver()
    if let refusal = try awaitRooms(driver) {
      throw Failure(.unavailable, "not every room could be reached: \(refusal)")
    }
    for command in try change.commands(for: .all) {
      _ = try driver.carryOut(command).mapError { Failure(.usage, $0.description) }.get()
    }
    let rooms = StatusReport(driver.status()).rooms
    try end(driver)
    return rooms
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
      host: try GroupHost(reactor: try Reactor(), security: try state.security()),
      settings: .init(
        senderName: HostName.current, endsWithPlaylist: false, claim: .init(givesBack: true)),
      playlist: Playlist(), reads: sources.reads, makeSerializer: sources.makeSerializer)
    for record in try ReceiverSearch(state: state).records(named: wish.names) {
      driver.addRoom(record)
    }
    for (host, port) in wish.addresses { driver.addRoom(host: host, port: port) }
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
        printError("tutti: waiting for " + absent.map(\.name).joined(separator: ", "))
        speaksAt = nil
      }
      try turn(driver, until: speaksAt ?? began + Self.timeout)
    }
  }

  private func turn(_ driver: GroupDriver, until deadline: LocalTime?) throws {
    try EventLoop(driver.host.reactor, [driver.host]).turn(until: deadline)
  }
}
