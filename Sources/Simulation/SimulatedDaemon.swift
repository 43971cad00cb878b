import Clock
import Sender
package import WireProtocol

/// A machine that can lead a group: its program while that runs, and its disk.
final class SimulatedDaemon {
  let number: Int
  let host: Pointer<SimulatedHost>
  var sender: SimulatedSender?
  /// The record for a successor, and the list that belongs to it.
  var kept: StreamRecord?
  var list = Playlist()
  /// For how long its machine had slept by then.
  var sleptWhenKept = Nanoseconds.zero
  /// The record as the leader has sent it, by the leader's clock; nil where this process has heard none.
  var followed: StreamRecord?
  /// Nil while the machine is off, and where it is the only one.
  var leadership: Leadership?
  var memory: Leadership.Memory
  var clock = LeaderClock()
  /// The newest word of the other one, by this machine's clock.
  var heard: (sentAt: LocalTime, at: LocalTime)?
  /// The last time at which it has heard a room.
  var heardRoom = TrueTime.zero
  var nextWake: TrueTime?
  /// True if its network is down.
  var isPartitioned = false
  /// Rooms that it cannot reach.
  var lostRooms: Set<Int> = []
  /// The last time at which `watch` found no fault with it.
  var fineAt = TrueTime.zero

  private init(_ configuration: SimulatedGroup.Configuration, number: Int) {
    self.number = number
    let quality = number == 0 ? configuration.senderHost : configuration.secondHost
    host = Pointer(
      SimulatedHost(
        quality ?? configuration.senderHost, seed: configuration.seed,
        part: 1000 + UInt64(number) * 100))
    memory = .init(term: 1, leads: number == 0, isFirst: number == 0)
  }

  static func all(_ configuration: SimulatedGroup.Configuration) -> [SimulatedDaemon] {
    (0..<(configuration.secondHost == nil ? 1 : 2)).map {
      SimulatedDaemon(configuration, number: $0)
    }
  }

  var isOn: Bool { leadership != nil }

  func forgetLeader() { (clock, heard, followed) = (LeaderClock(), nil, nil) }

  func isCutOff(from room: Int) -> Bool { isPartitioned || lostRooms.contains(room) }
}

extension SimulatedGroup {
  var senderHost: Pointer<SimulatedHost> { daemons[0].host }

  var sender: SimulatedSender? {
    get { daemons[0].sender }
    set { daemons[0].sender = newValue }
  }

  /// The record on the sender's disk, for a successor.
  package internal(set) var kept: StreamRecord? {
    get { daemons[0].kept }
    set { daemons[0].kept = newValue }
  }

  /// The list of the sender that was killed last.
  var killedList: Playlist {
    get { daemons[0].list }
    set { daemons[0].list = newValue }
  }

  func running(_ process: Int) -> SimulatedSender? {
    daemons.lazy.compactMap(\.sender).first { $0.process == process }
  }

  func daemon(of process: Int) -> SimulatedDaemon { running(process)?.daemon ?? daemons[0] }
}
