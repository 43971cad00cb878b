import Clock
import Foundation
import Sender
import TestSupport
import Testing

@testable import House
@testable import Service

/// Random orders, each given by the page or at a terminal, compared with a small model of their effect on a group.
@Suite struct HouseModelTests {
  @Test(arguments: 1...6) func `a group does what the model says, whoever asks`(
    seed: UInt64
  ) throws {
    try HouseModelRun(seed: seed).run(steps: 40)
  }
}

/// A model of a group: its list, the list that undo would restore, and the state of the music.
private struct GroupModel: Equatable {
  enum Music: Equatable {
    case resting, playing, paused
  }

  struct Undo: Equatable {
    var ids: [Int]
    /// The music after the undo; nil if it continues as it is.
    var music: Music?
  }

  var ids: [Int] = []
  var next = 0
  var undo: Undo?
  var music = Music.resting
  var repetition = Playlist.Repetition.off

  /// Edits the model. Returns false if the order must be refused. `current` is the entry that plays, or would be next.
  mutating func edit(_ edit: Order.QueueEdit, current: Int?) -> Bool {
    switch edit {
    case .add(let entries, at: .now):
      undo = ids.isEmpty ? nil : Undo(ids: ids, music: music == .playing ? .playing : .resting)
      ids = add(entries.count)
      music = .playing
    case .add(let entries, let place):
      guard let index = index(of: place, last: ids.count + 1, current: current) else {
        return false
      }
      if ids.isEmpty, music == .resting { music = .playing }
      ids.insert(contentsOf: add(entries.count), at: index)
      undo = nil
    case .clear:
      if !ids.isEmpty {
        undo = Undo(ids: ids, music: music == .playing ? .playing : .resting)
      }
      (ids, music) = ([], .resting)
    case .undo:
      guard let undo else { return false }
      (ids, music, self.undo) = (undo.ids, undo.music ?? music, nil)
    case .shuffle: if !ids.isEmpty { undo = Undo(ids: ids, music: nil) }
    case .remove(let gone):
      guard Set(gone).isSubset(of: ids) else { return false }
      let endsMusic = current.map(gone.contains) ?? false
      undo = Undo(
        ids: ids, music: endsMusic ? (music == .playing ? .playing : .resting) : nil)
      ids.removeAll(where: gone.contains)
    case .move(let id, let place):
      guard ids.contains(id) else { return false }
      // The entry is there already.
      if place == .before(id) || place == .next && current == id {
        undo = nil
        return true
      }
      let before = self
      ids.removeAll { $0 == id }
      guard let index = index(of: place, last: ids.count + 1, current: current) else {
        self = before
        return false
      }
      ids.insert(id, at: index)
      undo = nil
    case .play(let id):
      guard ids.contains(id) else { return false }
      music = .playing
    }
    return true
  }

  mutating func transport(_ transport: Order.Transport) -> Bool {
    switch (transport, music) {
    case (.play, .resting) where ids.isEmpty: return false
    case (.play, _): music = .playing
    case (.pause, .playing): music = .paused
    case (.stop, _): music = .resting
    case (.pause, _), (.next, _), (.previous, _): break
    }
    return true
  }

  private mutating func add(_ count: Int) -> [Int] {
    defer { next += count }
    return Array(next..<next + count)
  }

  /// Returns the index in the list without the moved entry; nil if there is no such place.
  private func index(of place: Order.Place, last: Int, current: Int?) -> Int? {
    switch place {
    case .now, .end: ids.count
    case .next: current.flatMap(ids.firstIndex).map { $0 + 1 } ?? 0
    case .before(let id): ids.firstIndex(of: id)
    case .number(let number): (1...last).contains(number) ? number - 1 : nil
    }
  }
}

/// A run with a group whose room cannot be reached, so that music waits at its first item and time has no effect.
private final class HouseModelRun {
  private let folder: TemporaryFolder
  private let home: Home
  private let group: String
  private let seed: UInt64
  private var random: SplitMix64
  private var model = GroupModel()

  init(seed: UInt64) throws {
    (self.seed, random) = (seed, SplitMix64(seed: seed))
    folder = try TemporaryFolder()
    try Home.silence.write(to: URL(filePath: folder.file("a.wav")))
    home = try Home(in: folder)
    group = try home.newGroup(rooms: ["127.0.0.1:9"]).id
  }

  func run(steps: Int) throws {
    for step in 0..<steps {
      let order = try draw()
      let isTerminal = Bool.random(using: &random)
      let current = try current
      let isDone = try give(order, isTerminal: isTerminal)
      let place = "seed \(seed), step \(step), \(isTerminal ? "terminal" : "page"): \(order)"
      let mustBeDone = follow(order, current: current)
      try #require(isDone == mustBeDone, "\(place)")
      let ids = try home.ids(group)
      if case .edit(_, .shuffle, _) = order {
        #expect(ids.sorted() == model.ids.sorted(), "\(place)")
        model.ids = ids
      }
      try #require(ids == model.ids, "\(place)")
      try #require(try music() == model.music, "\(place)")
      let shown = try #require(home.house.publish().groups.first)
      try #require((shown.queue.canUndo != nil) == (model.undo != nil), "\(place)")
      try #require(shown.repeat == model.repetition, "\(place)")
    }
  }

  private var houseGroup: HouseGroup {
    get throws { try #require(home.house.session.groups[group]) }
  }

  private func music() throws -> GroupModel.Music {
    let group = try houseGroup
    if group.isResting { return .resting }
    return group.player.status.state == .paused ? .paused : .playing
  }

  private var current: Int? {
    get throws {
      let group = try houseGroup
      return group.place(group.player.status)?.entry
    }
  }

  // MARK: - Orders

  private func draw() throws -> Order {
    switch Int.random(in: 0..<10, using: &random) {
    case 0, 1:
      let transports: [Order.Transport] =
        model.music == .resting ? Order.Transport.allCases : [.play, .pause, .stop]
      return .transport(group: group, try #require(transports.randomElement(using: &random)))
    case 2:
      let modes = Playlist.Repetition.allCases
      return .change(group: group, .init(repeat: modes.randomElement(using: &random)))
    default: return .edit(group: group, try drawEdit(), expected: nil)
    }
  }

  private func drawEdit() throws -> Order.QueueEdit {
    let current = try current
    // After the removal of a playing entry, the session decides what follows.
    let others = model.ids.filter { $0 != current || model.music == .resting }
    switch Int.random(in: 0..<12, using: &random) {
    case 0..<4:
      let entry = Order.NewEntry(location: folder.file("a.wav"))
      return .add(
        Array(repeating: entry, count: Int.random(in: 1...3, using: &random)), at: try place())
    case 4: return .clear
    case 5, 6: return .undo
    case 7: return .shuffle
    case 8, 9:
      guard let id = others.randomElement(using: &random) else { return .undo }
      return .remove([id])
    case 10:
      guard let id = others.randomElement(using: &random) else { return .clear }
      let place = try place()
      return .move(id, to: place == .now ? .end : place)
    default: return model.ids.randomElement(using: &random).map { .play($0) } ?? .undo
    }
  }

  private func place() throws -> Order.Place {
    switch Int.random(in: 0..<6, using: &random) {
    case 0: return .now
    case 1: return try model.music == .resting && current != nil ? .next : .end
    case 2: return .end
    case 3: return model.ids.randomElement(using: &random).map { .before($0) } ?? .end
    default: return .number(Int.random(in: 1...model.ids.count + 2, using: &random))
    }
  }

  /// Returns false if the order was refused.
  private func give(_ order: Order, isTerminal: Bool) throws -> Bool {
    do {
      if isTerminal {
        _ = try home.command(.order(spoken(order)))
      } else {
        try home.ask(order)
      }
      return true
    } catch is Refusal {
      return false
    }
  }

  private func follow(_ order: Order, current: Int?) -> Bool {
    switch order {
    case .transport(_, let transport): return model.transport(transport)
    case .change(_, let change):
      model.repetition = change.repeat ?? model.repetition
      return true
    case .edit(_, let edit, _): return model.edit(edit, current: current)
    case .createGroup, .deleteGroup, .seek, .join, .leave, .merge, .set, .identify: return false
    }
  }

  // MARK: - As a terminal says it

  private func spoken(_ order: Order) -> Order {
    switch order {
    case .transport(_, let transport): .transport(group: Order.meantGroup, transport)
    case .change(_, let change): .change(group: "party", change)
    case .edit(_, let edit, _): .edit(group: group, spoken(edit), expected: nil)
    case .createGroup, .deleteGroup, .seek, .join, .leave, .merge, .set, .identify: order
    }
  }

  private func spoken(_ edit: Order.QueueEdit) -> Order.QueueEdit {
    switch edit {
    case .add(let entries, let place): .add(entries, at: spoken(place))
    case .clear, .undo, .shuffle: edit
    case .remove(let ids): .remove(ids.map(number))
    case .move(let id, let place): .move(number(id), to: spoken(place))
    case .play(let id): .play(number(id))
    }
  }

  private func spoken(_ place: Order.Place) -> Order.Place {
    if case .before(let id) = place { .before(number(id)) } else { place }
  }

  private func number(_ id: Int) -> Int { (model.ids.firstIndex(of: id) ?? -2) + 1 }
}
