import Tutti

/// Plays three chords, edits the list and changes the rate while they sound.
///
///     swift run --package-path Examples chords                    # in all rooms that are found
///     swift run --package-path Examples chords 127.0.0.1:7770     # in these
@main
struct Chords {
  static func main() async {
    do {
      try await play(in: try await rooms(CommandLine.arguments.dropFirst()))
    } catch {
      print("chords: \(error)")
    }
  }

  static func rooms(_ arguments: ArraySlice<String>) async throws(TuttiError) -> [Room] {
    if arguments.isEmpty { return try await Receivers.search() }
    return arguments.map { argument in
      let parts = argument.split(separator: ":")
      return .at(String(parts[0]), port: parts.count > 1 ? UInt16(parts[1]) ?? 7770 : 7770)
    }
  }

  static func play(in rooms: [Room]) async throws {
    guard !rooms.isEmpty else { return print("no room was found; start tutti-receiver") }
    let player = try await Player(rooms: rooms)
    let items = try await player.append([
      .custom("C major") { Chord("C major", seconds: 2, [261.6, 329.6, 392]) },
      .custom("noise") { Chord("noise", seconds: 60, [97, 101, 103]) },
      .custom("G major") { Chord("G major", seconds: 4, [196, 246.9, 293.7]) },
    ])
    try await withThrowingTaskGroup(of: Void.self) { tasks in
      tasks.addTask { await show(player.events) }
      tasks.addTask { await follow(player) }
      try await player.play()
      try await edit(player, items)
      try await tasks.next()
      await player.close()
      try await tasks.waitForAll()
    }
  }

  /// While the first chord sounds, the long one goes, and another comes: nobody hears a seam.
  static func edit(_ player: Player, _ items: [Player.Item.ID]) async throws(TuttiError) {
    for await _ in player.boundaries(at: [.seconds(0.5)]) { break }
    try await player.replace(
      items[1],
      with: [.custom("A minor") { Chord("A minor", seconds: 2, [220, 261.6, 329.6]) }])
    for await place in player.positions(every: .milliseconds(100)) where place >= .seconds(1) {
      break
    }
    try await player.setRate(1.25)
  }

  /// Returns at the end of the list.
  static func show(_ events: AsyncStream<PlayerEvent>) async {
    for await event in events {
      switch event {
      case .itemStarted(let current): print("now: \(current.title ?? current.item.name)")
      case .itemFailed(_, let reason): print("skipped: \(reason)")
      case .room(let event): print(event)
      case .stopped: return
      default: break
      }
    }
  }

  /// What a video player would do with each picture.
  static func follow(_ player: Player) async {
    for await position in player.positions(every: .seconds(1)) {
      guard let shown = try? await player.presentationTime(of: position + .milliseconds(500)),
        let rooms = try? await player.rooms.status().rooms
      else { continue }
      let errors = rooms.map { "\($0.name) \($0.report?.syncError.now ?? .zero)" }
      print(position.seconds, "- in 0.5 s of it:", shown - .now, errors.joined(separator: ", "))
    }
  }
}
