import Clock
import Disturbances
import TestSupport

/// Disturbances of every kind, with drawn numbers.
enum DrawnDisturbances {
  static func all(_ seed: UInt64) -> [Disturbance] {
    var random = SplitMix64(seed: seed)
    func whole(_ limit: UInt64) -> Int { Int(random.next() % limit) }
    func seconds() -> Double { Double(whole(random.next() % 2 == 0 ? 20_000 : 30_000_000)) / 1000 }
    func step() -> Double { random.next() % 2 == 0 ? -seconds() : seconds() }
    func rooms() -> Set<Int> { Set((0..<whole(4)).map { _ in whole(64) }) }
    let position = MediaDuration.milliseconds(Int64(whole(600_000)))
    let back = MediaDuration.milliseconds(Int64(whole(600_000)) - 300_000)
    let commands: [Disturbance.Command] = [
      .pause, .resume, .seek(to: position), .seekBy(back), .next, .previous, .another, .halt,
    ]
    let faults: [Disturbance.DaemonFault] = [
      .killed, .unplugged, .cutOff, .split(from: rooms(), alone: true),
      .split(from: rooms(), alone: false), .split(from: [], alone: true),
    ]
    let kinds: [Disturbance.Kind] =
      commands.map { .command($0) }
      + [
        .join(whole(64)), .leave(whole(64)), .partition(whole(64), seconds: seconds()),
        .stall(whole(64), seconds: seconds()), .suspend(whole(64), seconds: seconds()),
        .clockStep(whole(64), seconds: step()), .unplug(whole(64), seconds: seconds()),
        .restart(whole(64), seconds: seconds()), .killSender, .restartSender(seconds: seconds()),
        .slowLink(whole(64), rate: Double(whole(60_000)), seconds: seconds()),
        .suspendSender(seconds: seconds()), .visit(whole(64), seconds: seconds()),
        .distrust(whole(64), seconds: seconds()),
      ] + faults.map { .daemon(whole(2), $0, seconds: seconds()) }
    return kinds.map { kind in
      Disturbance(at: seconds(), kind: kind, group: kind.concernsGroup ? whole(3) : 0)
    }
  }
}
