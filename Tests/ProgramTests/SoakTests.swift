import Clock
import Foundation
import TestSupport
import Testing

/// Plays for any given time, with random commands, outages, and programs that are killed, in real time. `make soak`.
@Suite struct SoakTests {
  /// Two rooms behind connections that can break, and the player.
  private final class House {
    /// Size of the rooms' deep buffers, in MiB: small, so that they fill up.
    static let buffer = 8
    /// KiB. A receiver may take twice its buffer and 12 MiB of pictures, and a player stores as much as the largest
    /// buffer; for a room with a weak link it also has ten minutes of Opus, and its encoder. Their other memory is known
    /// when music has begun.
    static let growth = (2 * buffer + 12 + 16 + 8) << 10

    let folder: TemporaryFolder
    let files: [String]
    private(set) var receivers: [ReceiverProgram]
    let paths: [Interceptor]
    private(set) var player: Program
    private var record = SoakRecord()

    init() throws {
      let folder = try TemporaryFolder()
      self.folder = folder
      files = try [3, 20, 90, 600].enumerated().map { index, seconds in
        let wave = Tone.wave(rate: [44_100, 48_000][index % 2], seconds: seconds)
        return try folder.write(wave, to: "\(index).wav")
      }
      receivers = try ["a", "b"].map { try Self.receiver($0, in: folder) }
      paths = try zip(receivers, ["a", "b"]).map { receiver, room in
        try Interceptor(to: receiver.port, of: room, in: folder)
      }
      player = try startedPlayer(files, paths, in: folder)
    }

    private static func receiver(
      _ name: String, in folder: TemporaryFolder
    ) throws -> ReceiverProgram {
      try ReceiverProgram(name, in: folder, "--output", "null", "--buffer", "\(buffer)")
    }

    func killReceiver(_ index: Int) throws {
      kill(receivers[index].program.process.processIdentifier, SIGKILL)
      _ = try receivers[index].program.exitCode()
      receivers[index] = try Self.receiver(["a", "b"][index], in: folder)
      paths[index].move(to: receivers[index].port)
    }

    func killPlayer() throws {
      kill(player.process.processIdentifier, SIGKILL)
      _ = try player.exitCode()
      player = try startedPlayer(files, paths, in: folder)
    }

    @discardableResult
    func command(_ words: String...) throws -> (code: Int32, lines: [String]) {
      let program = try Program("tutti", words + ["--state-dir", folder.file("player")])
      return (try program.exitCode(), program.lines)
    }

    struct Status: Decodable {
      var state: String
      var item: String?
      var itemNumber: Int
      var positionS: Double
      var targetS: Double?
      var presentationTimeNs: Int64?
      var rate: Double
      var rooms: [Room]
    }
    struct Room: Decodable {
      var name: String
      var sync: Sync?
    }
    struct Sync: Decodable { var errorUs: Double? }

    func status() throws -> Status {
      var (code, lines) = try command("status", "--json")
      if code == 69 {
        // The list has ended, where only one item was to be repeated.
        #expect(try player.exitCode() == 0, "\(player.lines.suffix(20))")
        player = try startedPlayer(files, paths, in: folder)
        (code, lines) = try command("status", "--json")
      }
      try #require(code == 0, "\(lines)")
      return try JSONDecoder().decode(Status.self, from: Data(lines[0].utf8))
    }

    /// Expects that each program takes no more of its machine than when its music had begun, but for its buffers.
    func expectBounded(_ step: String) throws {
      let programs = zip(["room a", "room b", "player"], receivers.map(\.program) + [player])
      for (name, program) in programs {
        guard let (begin, now) = try? record.take(program, name) else {
          // `status` starts the player anew if the list has ended.
          #expect(name == "player", "\(name) has ended: \(program.lines.suffix(20))")
          continue
        }
        let growth = now.memory - begin.memory
        #expect(growth < Self.growth, "\(name) grew by \(growth) KiB by \(step)")
        // Connections that begin while old ones end, and decoders of the items to come.
        #expect(now.descriptors - begin.descriptors <= 16, "\(name): \(now) by \(step)")
        #expect(now.threads - begin.threads <= 8, "\(name): \(now) by \(step)")
      }
    }

    /// Writes how far each room is off, in microseconds.
    func recordSync(_ status: Status) {
      for room in status.rooms {
        guard let error = room.sync?.errorUs else { continue }
        record.write(room.name, "sync", "\(error)")
      }
    }
  }

  private static let seconds = ProcessInfo.processInfo.environment["TUTTI_SOAK_SECONDS"]
    .flatMap(Double.init)

  @Test(.enabled(if: seconds != nil))
  func `whatever is asked and whatever fails, it plays on where it should, within its bounds`()
    throws
  {
    let seed = UInt64.random(in: 1...999_999)
    print("soak: seed \(seed)")
    var random = SplitMix64(seed: seed)
    let house = try House()
    let end = Date.now + (Self.seconds ?? 0)
    var steps = 0
    while Date.now < end {
      let step = try Self.disturb(house, &random)
      steps += 1
      try Self.expectEvenTime(house, step)
      try house.expectBounded("step \(steps), \(step)")
      // Pauses of random length, as with people and networks. Nothing depends on them.
      usleep(UInt32.random(in: 0...400_000, using: &random))
    }
    print("soak: \(steps) steps")
    for path in house.paths.indices { house.paths[path].move(to: house.receivers[path].port) }
    #expect(try house.command("stop").code == 0)
    #expect(try house.player.exitCode() == 0, "\(house.player.lines.suffix(20))")
    for receiver in house.receivers { #expect(try receiver.program.stop() == 0) }
  }

  /// Does something random, and returns its description.
  private static func disturb(_ house: House, _ random: inout SplitMix64) throws -> String {
    let room = Int(random.next() % 2)
    switch random.next() % 20 {
    // Most programs live for some minutes: else nothing could be seen to grow.
    case 0 where random.next() % 12 == 0:
      try house.killReceiver(room)
      return "kill of receiver \(room)"
    case 1 where random.next() % 24 == 0:
      try house.killPlayer()
      return "kill of the player"
    case 1, 2, 3:
      house.paths[room].move(to: nil)
      usleep(UInt32.random(in: 0...2_000_000, using: &random))
      house.paths[room].move(to: house.receivers[room].port)
      return "outage of room \(room)"
    default: return try command(house, &random)
    }
  }

  private static func command(_ house: House, _ random: inout SplitMix64) throws -> String {
    let words: [String]
    switch random.next() % 12 {
    case 0: words = ["pause"]
    case 1, 2: words = ["resume"]
    case 3: words = ["next"]
    case 4: words = ["previous"]
    case 5: words = ["volume", "\(random.next() % 101)"]
    case 6: words = ["jump", "\(1 + random.next() % UInt64(house.files.count))"]
    case 7: words = ["effects", "--rate", ["0.5", "1", "1.5"][Int(random.next() % 3)]]
    case 8: words = ["repeat", ["all", "one"][Int(random.next() % 2)]]
    case 9: words = ["shuffle"]
    default: words = ["seek", "\(random.next() % 80)"]
    }
    let program = try Program("tutti", words + ["--state-dir", house.folder.file("player")])
    let code = try program.exitCode()
    // At the end of the list there is nothing to seek in.
    #expect(code == 0 || !program.lines.isEmpty, "\(words) said nothing and returned \(code)")
    #expect(code >= 0, "\(words): \(program.lines)")
    return words.joined(separator: " ")
  }

  /// Expects that two readings agree on the position, unless the item or rate changes in between.
  private static func expectEvenTime(_ house: House, _ step: String) throws {
    let (first, second) = (try house.status(), try house.status())
    house.recordSync(second)
    guard first.itemNumber == second.itemNumber, first.rate == second.rate, first.targetS == nil,
      second.targetS == nil, let begin = first.presentationTimeNs,
      let end = second.presentationTimeNs
    else { return }
    let passed = Double(end - begin) / 1e9 * first.rate
    let moved = second.positionS - first.positionS
    // A change that was requested before takes effect some tens of milliseconds later.
    let isEven = abs(moved - passed) < 0.002
    if !isEven {
      let third = try house.status()
      guard third.itemNumber == second.itemNumber, let later = third.presentationTimeNs else {
        return
      }
      let next = Double(later - end) / 1e9 * second.rate
      #expect(abs(third.positionS - second.positionS - next) < 0.002, "after \(step)")
    }
  }
}

/// It begins again behind the last item: else it would end there.
private func startedPlayer(
  _ files: [String], _ paths: [Interceptor], in folder: TemporaryFolder
) throws -> Program {
  let program = try player(files, at: paths.map(\.address), in: folder, "--json", "--repeat", "all")
  try program.line(with: "started")
  return program
}
