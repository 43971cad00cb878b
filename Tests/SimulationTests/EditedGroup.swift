import Clock
import Simulation
import TestSupport
import Testing
import WireProtocol

@testable import Sender

/// A simulated group whose list is edited at random times, with a model of what must be heard. The model is told
/// people's orders, and the time at which the session has carried them out. It works out the consequences itself.
final class EditedGroup {
  /// A choice that waits for the session.
  private enum Choice {
    case item(Int, frame: Int)
    case nothing(after: Int)
  }

  let group: SimulatedGroup
  private(set) var model = PlaylistModel()
  /// Stream frames at which rooms may have faded out and in: places where they stood still, and where playing started
  /// again.
  private(set) var edges: Set<Int> = [0]
  /// The stream frame at which the second of the last two items begins, which nobody edits. The first of them may reach
  /// a radio that loses packets after it has begun.
  private(set) var finale = 0
  private let seed: UInt64
  private var random: SplitMix64
  private var choice: Choice?
  /// The frame from which the last change of the list has changed the stream.
  private var change: Int?
  private var reconcileTime: LocalTime?
  private var generation: UInt32 = 0
  private var stepsLeft: Int
  private static let frame = MediaDuration(frames: 1, at: 8_000).flicks

  init(_ house: SimulatedGroup.Configuration, seed: UInt64, steps: Int) {
    self.seed = seed
    var random = SplitMix64(seed: seed, part: 60)
    stepsLeft = steps
    var house = house
    house.tellsItems = true
    house.endsWithPlaylist = false
    let lengths = (0..<4).map { _ in Self.length(&random) }
    house.items = lengths.map { Int64($0) }
    for index in house.rooms.indices {
      house.rooms[index].capacity = Capacity(bytes: 8 << 20, duration: .seconds(2))
    }
    self.random = random
    group = SimulatedGroup(house)
    model.insert(lengths, before: .max)
    _ = model.carryOn(playhead: 0, commit: 0)
    group.onSenderTurn = { [unowned self] in follow($0, at: $1) }
  }

  /// Edits, then plays two items to their end that nobody edits.
  func play(from start: Double) {
    group.at(start) { [unowned self] _ in step() }
    while stepsLeft > 0, group.now.seconds < 100 { run(for: 0.1) }
    run(for: 0.4)
    group.command(.resume)
    model.repetition = .off
    group.command(.edit(.setRepetition(.off)))
    model.removeAll()
    group.command(.edit(.clear))
    run(for: 0.6)
    finale = playhead + 8_000
    model.insert([8_000, 4_000], before: .max)
    group.command(.edit(.insert(["8000", "4000"], .end)))
    run(for: 0.1)
    for _ in 0..<100 where playhead < model.soundingCount { run(for: 0.1) }
    run(for: 0.5)
  }

  private func run(for seconds: Double) { group.run(until: group.now.seconds + seconds) }

  // MARK: - What the session does

  private static func index(_ time: MediaTime) -> Int { Int((time.flicks + frame - 1) / frame) }

  private static func playhead(of session: GroupSession, at now: LocalTime) -> Int {
    Int(session.timeline.playhead(at: GroupTime(ofSender: now)).flicks / frame)
  }

  private static func commit(of session: GroupSession, at now: LocalTime) -> Int {
    index(session.timeline.cutTime(by: session.commitTime(at: now)))
  }

  private var playhead: Int {
    group.sending.map { Self.playhead(of: $0.session, at: $0.now) } ?? 0
  }

  /// Called after each turn of the session, which first jumps, and then compares its list with the enqueued audio.
  private func follow(_ session: GroupSession, at now: LocalTime) {
    var cuts: [Int] = []
    let commit = Self.commit(of: session, at: now)
    if isMade(in: session) { make(at: commit, &cuts) }
    if reconcileTime != nil, session.restart.reconcileTime == nil {
      reconcile(session, at: now, commit: commit, &cuts)
    }
    reconcileTime = session.restart.reconcileTime
    for anchor in session.timeline.anchors { edges.insert(Self.index(anchor.mediaTime)) }
    for cut in session.timeline.cuts where cut.generation > generation {
      let place = Self.index(cut.from)
      #expect(
        cuts.contains(place) || place == change,
        "seed \(seed): flushed from \(place) instead of \(cuts) or \(change ?? -1)")
      if place == change { change = nil }
    }
    generation = session.timeline.generation
  }

  /// True if the session has begun with the chosen item.
  private func isMade(in session: GroupSession) -> Bool {
    switch choice {
    case nil: return false
    case .nothing: return true
    case .item(let id, let frame):
      guard let pending = session.restart.target else { return true }
      guard case .beginning(let begun) = session.production.stage, begun.isChosen,
        begun.item.id == id, begun.position == Self.span(frame)
      else { return false }
      return pending.item.id != id || pending.position != begun.position
    }
  }

  private func make(at commit: Int, _ cuts: inout [Int]) {
    switch choice {
    case nil: return
    case .item(let id, let frame): model.jump(to: id, at: frame, commit: commit)
    case .nothing(let id): model.halt(after: id, commit: commit)
    }
    choice = nil
    cuts.append(commit)
  }

  private func reconcile(
    _ session: GroupSession, at now: LocalTime, commit: Int, _ cuts: inout [Int]
  ) {
    if case .item(let id, _) = choice {
      guard model.entry(id)?.isRemoved ?? false else { return }
      choose(neighbourOf: id)
    } else if let current = model.current(at: Self.playhead(of: session, at: now)),
      current.isRemoved
    {
      choose(neighbourOf: current.id)
    } else {
      change = model.carryOn(playhead: Self.playhead(of: session, at: now), commit: commit)
      return
    }
    if isMade(in: session) { make(at: commit, &cuts) }
  }

  private func choose(neighbourOf id: Int) {
    choice = model.neighbour(after: id).map { .item($0.id, frame: 0) } ?? .nothing(after: id)
  }

  // MARK: - What people do

  private func step() {
    guard let sending = group.sending else { return }
    act(on: sending.session, at: sending.now)
    stepsLeft -= 1
    guard stepsLeft > 0 else { return }
    let wait =
      switch random.next() % 4 {
      case 0: random.uniform(0...0.004)
      case 1: random.uniform(0.004...0.06)
      default: random.uniform(0.06...0.4)
      }
    group.at(group.now.seconds + wait) { [unowned self] _ in step() }
  }

  private func act(on session: GroupSession, at now: LocalTime) {
    let aim = session.aim(at: now)?.item.id
    switch random.next() % 16 {
    case 0: pause()
    case 1: jump()
    case 2, 3: seek(aim)
    case 4: next(aim)
    case 5: previous(aim)
    default: edit(session, at: now)
    }
  }

  private func pause() {
    group.command(.pause)
    let wait = random.uniform(0...0.3)
    group.at(group.now.seconds + wait) { $0.command(.resume) }
  }

  private func jump() {
    guard let target = element(model.present) else { return }
    let frame = random.chance(0.5) ? 0 : random(below: target.length)
    choice = .item(target.id, frame: frame)
    group.command(.jump(to: target.id, at: Self.span(frame)))
  }

  private func seek(_ aim: Int?) {
    guard let aim, let entry = model.entry(aim) else { return }
    let frame = random(below: entry.length)
    choice = .item(aim, frame: frame)
    group.command(.seek(to: Self.span(frame)))
  }

  private func next(_ aim: Int?) {
    guard let aim else { return }
    choose(neighbourOf: aim)
    group.command(.next)
  }

  /// No item is long enough for "previous" to mean its own beginning. The first item has none before it.
  private func previous(_ aim: Int?) {
    let target = aim.map { model.neighbour(before: $0)?.id ?? $0 } ?? model.present.last?.id
    guard let target else { return }
    choice = .item(target, frame: 0)
    group.command(.previous)
  }

  private static func span(_ frame: Int) -> MediaDuration {
    MediaDuration(frames: Int64(frame), at: 8_000)
  }
}

// MARK: - Edits

extension EditedGroup {
  private func edit(_ session: GroupSession, at now: LocalTime) {
    let ids = model.present.map(\.id)
    switch random.next() % 8 {
    case 0, 1: insert()
    case 2, 3:
      guard let id = element(ids) else { return insert() }
      model.remove(id)
      group.command(.edit(.remove([id])))
    case 4:
      guard let id = element(ids) else { return }
      let place = random(below: ids.count + 1)
      model.move(id, before: place)
      group.command(.edit(.move(id, .index(place))))
    case 5: repeatOrClear()
    case 6:
      guard let id = element(ids), ids.count < 8 else { return }
      let length = Self.length(&random)
      model.insert([length], after: id)
      model.remove(id)
      group.command(.edit(.replace(id, with: ["\(length)"])))
    default: shuffle(session, at: now)
    }
  }

  private func insert() {
    guard model.present.count < 8 else { return }
    let length = Self.length(&random)
    let isLast = random.chance(0.5)
    let place = random(below: model.present.count + 1)
    model.insert([length], before: isLast ? .max : place)
    group.command(.edit(.insert(["\(length)"], isLast ? .end : .index(place))))
  }

  private func repeatOrClear() {
    if random.chance(0.15) {
      model.removeAll()
      return group.command(.edit(.clear))
    }
    let name = element(["off", "one", "all"]) ?? ""
    guard let repetition = Playlist.Repetition(rawValue: name) else { return }
    model.repetition = PlaylistModel.Repetition(rawValue: name) ?? .off
    group.command(.edit(.setRepetition(repetition)))
  }

  private func shuffle(_ session: GroupSession, at now: LocalTime) {
    // If nothing plays, the next item is a matter of chance.
    guard !session.isStopped(at: now) else { return }
    let edit = PlaylistEdit.shuffle(seed: random.next())
    var playlist = session.playlist
    let current = session.aim(at: now)?.item ?? session.production.predecessor
    if playlist.apply(edit, current: current) { model.reorder(playlist.items.map(\.id)) }
    group.command(.edit(edit))
  }

  private func element<Value>(_ values: [Value]) -> Value? {
    values.isEmpty ? nil : values[random(below: values.count)]
  }

  private func random(below count: Int) -> Int { Int(random.next() % UInt64(max(1, count))) }

  /// Returns a random length of an item, in frames.
  private static func length(_ random: inout SplitMix64) -> Int {
    400 + Int(random.next() % 4_000)
  }
}
