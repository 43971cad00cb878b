import Clock
import Driver
import House
import LinuxIO
import Sender
import WireProtocol

import enum House.Refusal

/// By which people find a room: three short tones where it is silent; where it plays, its music is away twice for a moment.
final class RoomSign {
  private enum Kind {
    /// Whether it is muted, from each time on, and to be again in the end.
    case blink(GroupDriver, RoomID, steps: [(time: LocalTime, isMuted: Bool)])
    case tones(GroupDriver, isStopped: Bool)
  }

  /// Nobody waits for it longer.
  private static let longest = Nanoseconds.seconds(10)
  /// The room may take so long to hear of the end.
  private static let farewell = Nanoseconds.seconds(2)
  private static let blink = Nanoseconds.milliseconds(350)

  private var kind: Kind
  private var giveUpTime: LocalTime

  init(blinking room: RoomID, of driver: GroupDriver, wasMuted: Bool, at now: LocalTime) {
    let steps = (0..<4).map { step in
      (
        time: now + Nanoseconds(Self.blink.count * Int64(step)),
        isMuted: (step % 2 == 0) != wasMuted
      )
    }
    kind = .blink(driver, room, steps: steps)
    giveUpTime = now + Self.longest
  }

  /// The player plays its list in the room, and ends with it.
  init(_ player: GroupDriver, at now: LocalTime) {
    kind = .tones(player, isStopped: false)
    giveUpTime = now + Self.longest
  }

  var nextDeadline: LocalTime {
    if case .blink(_, _, let steps) = kind, let next = steps.first { return next.time }
    return giveUpTime
  }

  /// True once the tones have sounded, which no deadline tells.
  var isOver: Bool {
    if case .tones(let player, _) = kind { player.session.isFinished } else { false }
  }

  /// Does what is due; true once it is over.
  func look(at now: LocalTime) -> Bool {
    switch kind {
    case .blink(let driver, let room, var steps):
      while let step = steps.first, step.time <= now {
        driver.carryOut(.mute(.room(room), step.isMuted))
        steps.removeFirst()
      }
      kind = .blink(driver, room, steps: steps)
      return steps.isEmpty
    case .tones(let player, let isStopped):
      guard !player.session.isFinished, giveUpTime <= now else { return player.session.isFinished }
      if !isStopped { player.carryOut(.stop) }
      kind = .tones(player, isStopped: true)
      giveUpTime = now + Self.farewell
      return isStopped
    }
  }

  func end() throws(IOError) {
    switch kind {
    case .blink(let driver, let room, let steps):
      if let last = steps.last { driver.carryOut(.mute(.room(room), last.isMuted)) }
    case .tones(let player, _): try player.end()
    }
  }

  // MARK: - Tones

  private static let rate = 48_000

  /// A WAV file of one channel: a fifth, up and down.
  static var tones: [UInt8] {
    let samples = [659.26, 987.77, 659.26].flatMap(tone)
    let bytes = samples.flatMap { little(UInt32(UInt16(bitPattern: $0)), 2) }
    let format = little(1, 2) + little(1, 2) + little(UInt32(rate), 4) + little(UInt32(2 * rate), 4)
    return Array("RIFF".utf8) + little(UInt32(36 + bytes.count), 4) + Array("WAVEfmt ".utf8)
      + little(16, 4) + format + little(2, 2) + little(16, 2) + Array("data".utf8)
      + little(UInt32(bytes.count), 4) + bytes
  }

  /// 0.3 s that die away, of a pitch in Hz far below the rate.
  private static func tone(_ pitch: Double) -> [Int16] {
    // Turned a little further for each sample; the first terms of the series are exact enough for so small an angle.
    let angle = 2 * .pi * pitch / Double(rate)
    let square = angle * angle
    let cosine = 1 - square / 2 * (1 - square / 12 * (1 - square / 30))
    let sine = angle * (1 - square / 6 * (1 - square / 20 * (1 - square / 42)))
    var (x, y) = (1.0, 0.0)
    return (0..<rate * 3 / 10).map { index in
      (x, y) = ((x * cosine - y * sine) * 0.9998, (x * sine + y * cosine) * 0.9998)
      return Int16(9_000 * min(1, Double(index) / 480) * y)
    }
  }

  private static func little(_ number: UInt32, _ count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
  }
}

extension House {
  /// Where the tones are kept, for they are played as any file is.
  private var tonesPath: String { settings.path + ".tones.wav" }

  /// At the start, when waiting for the disk does no harm.
  func keepTones() {
    let file = StateFile(path: tonesPath)
    let tones = RoomSign.tones
    guard (try? file.read(limit: 1 << 20)) != tones else { return }
    do throws(IOError) {
      try file.write(tones)
    } catch {
      onWarning("silent rooms cannot play the sound that identifies them: \(error)")
    }
  }

  func identify(_ room: String) throws(Refusal) {
    try check(room: room)
    let name = name(ofRoom: room)
    guard !needsPairing(room) else {
      throw .unavailable("\(name) is not paired yet; pair it first")
    }
    guard !isTaken(room) else {
      throw .unavailable("\(name) is playing something of another sender")
    }
    guard signs[room] == nil else { return }
    let now = HostClock.now
    let group = plan.group(ofRoom: room).flatMap { groups[$0.id] }
    if let group, let id = group.rooms[room]?.number, let driver = drivers[group.id],
      let isMuted = group.isMuted(room), group.sounds
    {
      signs[room] = RoomSign(blinking: id, of: driver, wasMuted: isMuted, at: now)
      return
    }
    guard let record = record(room), record.state != .away else {
      throw .unavailable("\(name) is switched off or out of reach; switch it on first")
    }
    let player = try player(
      of: Playlist([PlaylistEntry(tonesPath)]), endsWithPlaylist: true)
    group?.remove(room)
    player.addRoom(record, takesOver: true)
    signs[room] = RoomSign(player, at: now)
  }

  /// Rooms go back to their groups when all was heard.
  func lookAtSigns(at now: LocalTime) {
    for (room, sign) in signs where sign.nextDeadline <= now || sign.isOver {
      // Each step shows at once; it would be over before the next look.
      hasNews = true
      guard sign.look(at: now) else { continue }
      signs[room] = nil
      do throws(IOError) {
        try sign.end()
      } catch {
        onWarning("\(error)")
      }
      guard let group = plan.group(ofRoom: room)?.id, groups[group]?.rooms[room] == nil else {
        continue
      }
      connect(room, in: group, takes: true)
    }
  }
}

extension HouseGroup {
  /// Whether its rooms make a sound now.
  fileprivate var sounds: Bool { !isResting && player.status.state == .playing }

  /// Nil where the room is not connected.
  fileprivate func isMuted(_ room: String) -> Bool? {
    playerRoom(room, player.status)?.settings?.isMuted
  }
}
