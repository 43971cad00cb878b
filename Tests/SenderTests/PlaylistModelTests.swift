import Audio
import Clock
import TestSupport
import Testing
import WireProtocol

@testable import Sender

/// Random edits while music plays, against a model that knows nothing of segments, packets and generations.
@Suite struct PlaylistModelTests {
  @Test(arguments: seeds(10, of: 40))
  func `what a room is sent is what the list says, and nothing is flushed in vain`(seed: UInt64) {
    var run = EditedRun(seed: seed)
    for _ in 0..<40 { run.step() }
    run.playOut()
  }

  @Test(arguments: seeds(3, of: 10))
  func `a slow producer changes nothing in what is heard`(seed: UInt64) {
    var run = EditedRun(seed: seed, producesAtOnce: false)
    for _ in 0..<40 { run.step() }
    run.playOut()
  }
}

/// A group with one room, its list, and the model beside it.
struct EditedRun {
  private var group: TestGroup
  private var model = PlaylistModel()
  private var ear = RoomEar()
  private var random: SplitMix64
  private let isSlow: Bool
  private let seed: UInt64
  private static let edit = Nanoseconds.milliseconds(5)

  init(seed: UInt64, producesAtOnce: Bool = true) {
    self.seed = seed
    var random = SplitMix64(seed: seed)
    isSlow = !producesAtOnce
    let lengths = (0..<4).map { _ in Int.random(in: 200...4_000, using: &random) }
    self.random = random
    group = TestGroup(
      lengths.map { "\($0)" }, endsWithPlaylist: false, openSource: ItemSample.open)
    model.insert(lengths, before: .max)
    _ = model.carryOn(playhead: 0, commit: 0)
    group.joinReady(with: .test(span: .seconds(1)))
    advance(by: .milliseconds(100))
  }

  mutating func step() {
    advance(by: .milliseconds(Int64.random(in: 45...600, using: &random)))
    while model.isSilent(at: playhead) { advance(by: .milliseconds(20)) }
    if random.next() % 6 == 0, !model.present.isEmpty { return jump() }
    let flushes = ear.flushes.count
    let before = playhead
    for _ in 0...Int.random(in: 0...2, using: &random) { edit() }
    if isSlow { group.producesAtOnce = random.next() % 2 == 0 }
    advance(by: Self.edit)
    let (now, commit) = (playhead, commit)
    let change = model.carryOn(playhead: now, commit: commit)
    group.producesAtOnce = true
    group.produce()
    advance(by: .zero)
    let new = ear.flushes[flushes...].map { RoomEar.index($0.from) }
    #expect(new.count <= 1, "seed \(seed): one edit, one flush")
    for place in new {
      #expect(place == change, "seed \(seed): flushed from \(place), playing \(before)")
    }
  }

  /// A listener's choice takes effect at once.
  private mutating func jump() {
    guard let target = model.present.randomElement(using: &random) else { return }
    model.jump(to: target.id, commit: commit)
    group.command(.jump(to: target.id))
    advance(by: .milliseconds(60))
  }

  mutating func playOut() {
    if model.repetition != .off {
      model.repetition = .off
      group.command(.edit(.setRepetition(.off)))
      advance(by: Self.edit)
      _ = model.carryOn(playhead: playhead, commit: commit)
    }
    for _ in 0..<200 where playhead < model.plan.count { advance(by: .milliseconds(200)) }
    advance(by: .seconds(1))
    #expect(ear.faults.isEmpty, "seed \(seed)")
    #expect(group.session.isStopped(at: group.now), "seed \(seed)")
    #expect(!group.session.isFinished)
    let plan = model.plan.map { $0.map { ItemSample.value(item: $0.item, frame: $0.frame) } }
    let wrong = zip(ear.heard, plan).enumerated().first { $0.element.0 != $0.element.1 }
    #expect(wrong == nil, "seed \(seed)")
    #expect(ear.heard.count == model.soundingCount, "seed \(seed)")
  }

  // MARK: - Edits

  private mutating func edit() {
    let ids = model.present.map(\.id)
    switch random.next() % 8 {
    case 0, 1: insert()
    case 2, 3:
      guard let id = ids.randomElement(using: &random) else { return insert() }
      model.remove(id)
      group.command(.edit(.remove([id])))
    case 4:
      guard let id = ids.randomElement(using: &random) else { return }
      let place = Int.random(in: 0...ids.count, using: &random)
      model.move(id, before: place)
      group.command(.edit(.move(id, .index(place))))
    case 5: repeatOrClear()
    case 6:
      guard let id = ids.randomElement(using: &random), ids.count < 8 else { return }
      let length = length()
      model.insert([length], after: id)
      model.remove(id)
      group.command(.edit(.replace(id, with: ["\(length)"])))
    default:
      // If nothing plays, the next item is a matter of chance.
      guard !group.session.isStopped(at: group.now) else { return }
      group.command(.edit(.shuffle(seed: random.next())))
      model.reorder(group.session.playlist.items.map(\.id))
    }
  }

  private mutating func insert() {
    guard model.present.count < 8 else { return }
    let lengths = [length()]
    let place = Int.random(in: 0...model.present.count, using: &random)
    model.insert(lengths, before: place)
    group.command(.edit(.insert(lengths.map { "\($0)" }, .index(place))))
  }

  private mutating func repeatOrClear() {
    if random.next() % 8 == 0 {
      model.removeAll()
      group.command(.edit(.clear))
      return
    }
    let repetition = random.element(Playlist.Repetition.allCases)
    model.repetition = PlaylistModel.Repetition(rawValue: repetition.rawValue) ?? .off
    group.command(.edit(.setRepetition(repetition)))
  }

  private mutating func length() -> Int { Int.random(in: 200...4_000, using: &random) }

  // MARK: - Time

  private var playhead: Int {
    let time = group.session.timeline.playhead(at: GroupTime(ofSender: group.now))
    return Int(time.flicks / RoomEar.frame)
  }

  private var commit: Int {
    let session = group.session
    return RoomEar.index(session.timeline.cutTime(by: session.commitTime(at: group.now)))
  }

  private mutating func advance(by span: Nanoseconds) {
    group.advance(by: span)
    // The room keeps the connection alive.
    group.handle(.received(TestGroup.room, .control, []))
    ear.hear(group.told(), group.streamed())
    group.take()
  }
}
