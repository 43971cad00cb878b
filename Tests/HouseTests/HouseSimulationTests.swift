import Clock
import Foundation
import Sender
import TestSupport
import Testing

@testable import House

/// Random evenings of a household: several groups, rooms that come, go, move and are taken, a disk that is slow or fails,
/// a daemon that is killed. Orders come through every door, and are compared with a model after each.
@Suite struct HouseSimulationTests {
  /// Ten seeds for each argument. `TUTTI_SEEDS=10..<30` chooses other arguments.
  @Test(arguments: tens(0..<10)) func `a household does what the model says`(ten: UInt64) throws {
    for seed in 10 * ten..<10 * ten + 10 { try HouseRun(seed: seed).run() }
  }

  static func tens(_ usual: Range<UInt64>) -> Range<UInt64> {
    let bounds = (ProcessInfo.processInfo.environment["TUTTI_SEEDS"] ?? "")
      .split(separator: "..<").compactMap { UInt64($0) }
    return bounds.count == 2 && bounds[0] < bounds[1] ? bounds[0]..<bounds[1] : usual
  }
}

@Suite struct HouseSimulationLongTests {
  @Test(arguments: 10..<1_000)
  func `a household does what the model says in ten thousand evenings`(ten: UInt64) throws {
    for seed in 10 * ten..<10 * ten + 10 { try HouseRun(seed: seed).run() }
  }
}

/// One evening.
final class HouseRun {
  enum Door: CaseIterable {
    case page, terminal, library
  }

  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  /// A request that the household has not answered yet.
  private struct Pending {
    let text: String
    let isEdit: Bool
    /// False if it must be refused; nil if both are possible.
    let isDone: Bool?
    /// True if the disk has refused it.
    var isLost = false
  }

  private struct TrialOutcome {
    /// As `Pending.isDone`.
    let isDone: Bool?
  }

  private static let steps = 40
  /// Begins by itself in whatever group the first room is in.
  private static var input: HouseState.Input {
    var input = HouseState.Input(name: "Turntable", kind: "card")
    input.onSound = "Kitchen"
    return input
  }

  private let seed: UInt64
  var random: SplitMix64
  let world: SimulatedWorld
  var model = HouseModel()
  var kept = HouseModel()
  private var snapshots: [UInt64: HouseModel] = [:]
  private var newest: UInt64 = 0
  private var pending: [RequestID: Pending] = [:]
  /// The request that waits until it is known whether the disk works again.
  private var trial: (number: UInt64, follow: () -> Bool?)?
  /// What came of it; nil if it was not carried out.
  private var trialOutcome: TrialOutcome?
  private var hasDiskProblem = false
  private var shuffled: Set<String> = []
  private var adoptsMusic = false
  /// When each group that rests was first seen to.
  private var restingSince: [String: LocalTime] = [:]
  private var isInputHeard = false
  private var deaths = 0
  private var provenAt: LocalTime?
  private var step = 0
  private var trail: [String] = []
  private let grace: Nanoseconds
  var loudness: Loudness
  /// The group whose slider somebody is moving to and fro.
  var draggedGroup: String?
  var speakers = Speakers()

  init(seed: UInt64) throws {
    self.seed = seed
    random = SplitMix64(seed: seed)
    let held = Bool.random(using: &random) ? 0 : 30
    grace = .seconds(max(10, Int64(held)))
    world = try SimulatedWorld(
      rooms: Int.random(in: 2...5, using: &random), holding: .seconds(Int64(held)),
      inputs: [Self.input])
    for index in world.receivers.indices {
      world.set(volume: UInt16.random(in: 100...900, using: &random), of: index)
    }
    loudness = Loudness(world.receivers)
    world.passes = { [unowned self] in pass() }
    world.saves = { [unowned self] number in
      adoptOrders()
      if adoptsMusic { adoptMusic() }
      (snapshots[number], newest) = (model, number)
    }
    world.written = { [unowned self] number in
      (kept, hasDiskProblem) = (snapshots[number] ?? kept, false)
      guard let trial, number >= trial.number else { return }
      trialOutcome = TrialOutcome(isDone: trial.follow())
      self.trial = nil
    }
    world.refused = { [unowned self] number in refused(number) }
  }

  func run() throws {
    for step in 0..<Self.steps {
      self.step = step
      try act()
      try compare()
      let spans: [Double] = [0, 0.05, 0.5, 1, 2.5, 12, 40]
      let span = spans[min(Int.random(in: 0..<9, using: &random), 6)]
      world.advance(by: Nanoseconds(Int64(span * 1e9)))
      try compare()
    }
    world.disk.isBroken = false
    world.advance(by: .seconds(60))
    try compare()
    if let (_, request) = pending.first { try fail("no answer: \(request.text)") }
  }

  func fail(_ text: String) throws {
    throw Failure(
      description:
        "seed \(seed), step \(step): \(text); \(trail.suffix(12).joined(separator: " | "))")
  }

  private func act() throws {
    switch Int.random(in: 0..<100, using: &random) {
    case 0..<70: try order()
    case 70..<87: disturb()
    case 87..<90: try loseRooms()
    case 90..<96: changeDisk()
    default:
      try restart()
      // Music that ends its process does so again and again.
      guard Int.random(in: 0..<3, using: &random) == 0 else { return }
      for _ in 0..<Int.random(in: 1...3, using: &random) {
        world.advance(by: .milliseconds(Int64.random(in: 100...20_000, using: &random)))
        try compare()
        try restart()
      }
    }
  }

  // MARK: - Orders

  private func order() throws {
    guard let (request, text, follow) = try drawRequest() else { return }
    trail.append(text)
    if hasDiskProblem, request.isEdit { return try attempt(request, text, follow) }
    let isDone = follow()
    let id = world.request(request)
    adoptOrders()
    pending[id] = Pending(text: text, isEdit: request.isEdit, isDone: isDone)
    world.settle()
    world.mayTake = false
  }

  /// The disk has failed: it is tried first whether it works again.
  private func attempt(
    _ request: HouseSession.Request, _ text: String, _ follow: @escaping () -> Bool?
  ) throws {
    let id = world.request(request)
    world.settle()
    (trial, trialOutcome) = ((newest, follow), nil)
    for _ in 0..<200 where world.answer(id) == nil { world.advance(by: .milliseconds(100)) }
    world.mayTake = false
    adoptOrders()
    trial = nil
    guard let result = world.take(id) else { return try fail("no answer of a trial: \(text)") }
    switch (trialOutcome, result) {
    case (nil, .failure(.notKept)): break
    case (let outcome?, .success) where outcome.isDone != false: break
    case (let outcome?, .failure) where outcome.isDone != true: break
    // It was carried out, and then the disk has failed again.
    case (_?, .failure(.notKept)) where hasDiskProblem: break
    default: try fail("a trial ended so: \(result), \(text)")
    }
  }

  /// Only the household knows the order of a shuffled list.
  private func adoptOrders() {
    for id in shuffled {
      let ids = world.session.groups[id]?.items.map(\.id) ?? []
      model.with(id) { $0.adopt(ids) }
    }
    shuffled = []
  }

  func willShuffle(_ id: String) { shuffled.insert(id) }

  // MARK: - Time, disk and death

  private func pass() {
    if let time = provenAt, time <= world.now { (deaths, provenAt) = (0, nil) }
    for group in model.groups {
      model.pass(group.id, to: world.now, isHeard: world.isHeard(group.id), grace: grace)
    }
    lookAtSpeakers()
  }

  private func refused(_ number: UInt64) {
    hasDiskProblem = true
    guard number == newest else { return }
    model.revert(to: kept)
    adoptsMusic = true
    for id in pending.keys where pending[id]?.isEdit == true { pending[id]?.isLost = true }
  }

  private func changeDisk() {
    world.disk.isBroken = Int.random(in: 0..<3, using: &random) == 0
    world.disk.delay = .milliseconds([2, 2, 300, 4_000].randomElement(using: &random) ?? 2)
    trail.append("disk \(world.disk.isBroken ? "broken" : "works"), \(world.disk.delay)")
  }

  private func restart() throws {
    trail.append("killed")
    (model, pending, hasDiskProblem) = (kept, [:], false)
    (snapshots, newest, provenAt, restingSince) = ([:], 0, nil, [:])
    (loudness.sliders, loudness.levels, speakers) = ([:], [:], Speakers())
    let playsOn = model.playsOn(at: world.now)
    let isAllowed = deaths < 2
    model.restart(playing: isAllowed, at: world.now)
    if playsOn {
      deaths = isAllowed ? deaths + 1 : 0
      provenAt = isAllowed ? world.now + .seconds(10) : nil
    }
    try world.restart()
  }

  /// The entry to which the group was sent, though that may not sound yet: an input interrupts that one.
  private func goal(_ group: String) -> Int? {
    world.session.groups[group].flatMap { $0.goal($0.player.status)?.entry }
  }

  private func hearInput() {
    isInputHeard.toggle()
    trail.append("input \(isInputHeard ? "begins" : "ends")")
    if !isInputHeard {
      for group in model.groups { model.end(group.id, current: goal(group.id)) }
    } else if let group = model.group(ofRoom: world.receivers[0].id) {
      // Without a current entry, the player decides where it stands.
      if goal(group.id) == nil { willShuffle(group.id) }
      model.begin(group.id, current: goal(group.id))
    }
    world.hear("Turntable", isInputHeard ? .opened : .closed)
    world.settle()
  }

  private func disturb() {
    if Int.random(in: 0..<4, using: &random) == 0 { return hearInput() }
    let index = Int.random(in: world.receivers.indices, using: &random)
    let receiver = world.receivers[index]
    switch Int.random(in: 0..<5, using: &random) {
    case 0, 1:
      trail.append("\(receiver.name) \(receiver.isOn ? "off" : "on")")
      world.power(index, isOn: !receiver.isOn)
    case 2, 3:
      if receiver.holder == .stranger {
        trail.append("stranger leaves \(receiver.name)")
        world.strangerLeaves(index)
      } else {
        trail.append("stranger takes \(receiver.name)")
        world.strangerTakes(index)
      }
    default:
      trail.append("\(receiver.name) \(receiver.needsPIN ? "paired" : "asks for its PIN")")
      if receiver.needsPIN { world.pair(index) } else { world.unpair(index) }
    }
    world.wake()
  }

  /// All rooms of a group go at once, and come back before its music waits for them, or afterwards.
  private func loseRooms() throws {
    let playing = model.groups.filter { $0.music == .playing }
    guard let group = playing.randomElement(using: &random) else { return }
    let lost = world.receivers.indices.filter {
      world.receivers[$0].isOn && group.rooms.contains(world.receivers[$0].id)
    }
    let span = [1, 8, 20, 45].randomElement(using: &random) ?? 1
    trail.append("\(group.id) is without its rooms for \(span) s")
    for isOn in [false, true] {
      for index in lost { world.power(index, isOn: isOn) }
      world.wake()
      try compare()
      world.advance(by: .seconds(Int64(span)))
      try compare()
    }
  }

  // MARK: - Comparison

  func compare() throws {
    adoptOrders()
    if let problem = world.problems.first { try fail(problem) }
    for (id, request) in pending {
      guard let result = world.take(id) else { continue }
      pending[id] = nil
      switch (result, request.isDone) {
      case (.success, .some(false)): try fail("was not refused: \(request.text)")
      case (.failure(.notKept), .some(true)) where request.isLost: break
      case (.failure(let refusal), .some(true)): try fail("\(refusal): \(request.text)")
      case (.success, .some(true)) where request.isLost: try fail("lost: \(request.text)")
      default: break
      }
    }
    let session = try #require(world.session)
    if adoptsMusic { adoptMusic() }
    adoptsMusic = false
    let plan = session.plan.groups.map { "\($0.id) \($0.name ?? "-") \($0.rooms)" }
    let wanted = model.groups.map { "\($0.id) \($0.name ?? "-") \($0.rooms)" }
    if plan != wanted { try fail("groups \(plan), not \(wanted)") }
    for group in model.groups { try compare(group, session) }
    try compareSpeakers(session)
    try compareLoudness()
    if deaths != world.deaths { try fail("\(world.deaths) deaths, not \(deaths)") }
    if let meant = model.meant, session.meantGroup?.id != meant {
      try fail("\(meant) is not meant")
    }
  }

  private func compare(_ group: HouseModel.Group, _ session: HouseSession) throws {
    guard let actual = session.groups[group.id] else { return try fail("no \(group.id)") }
    let ids = actual.items.map(\.id)
    if ids != group.ids { try fail("\(group.id) lists \(ids), not \(group.ids)") }
    if actual.undo?.queue.ids != group.undo?.ids {
      try fail("undo of \(group.id): \(String(describing: actual.undo?.sentence))")
    }
    if session.standingMerge(of: group.id)?.rooms != model.standingMerge(of: group.id)?.rooms {
      try fail("merge into \(group.id): \(String(describing: actual.merge))")
    }
    let order = actual.unshuffled?.filter(ids.contains)
    if order != group.order?.filter(ids.contains) {
      try fail("order of \(group.id): \(order ?? []), not \(group.order ?? [])")
    }
    let music = music(of: actual)
    if music != group.music {
      let status = actual.player.status
      try fail(
        "\(group.id) is \(music), not \(group.music): \(status.state), \(actual.absence)")
    }
    if actual.player.status.repetition != group.repetition { try fail("repetition of \(group.id)") }
    if (actual.sleep.end != nil) != (group.sleep != nil) { try fail("sleep timer of \(group.id)") }
    guard music == .resting else {
      restingSince[group.id] = nil
      return
    }
    let restsSince = restingSince[group.id] ?? world.now
    restingSince[group.id] = restsSince
    for room in group.rooms {
      guard let receiver = world.receivers.first(where: { $0.id == room }) else { continue }
      if receiver.answers, receiver.holder == .nobody,
        max(receiver.freeSince, restsSince) + .milliseconds(2_500) < world.now
      {
        try fail("\(receiver.name) is free, and \(group.id) does not take it back")
      }
    }
  }

  private func music(of group: HouseGroup) -> HouseModel.Music {
    if group.isResting { return .resting }
    guard group.player.status.state == .paused else { return .playing }
    return group.absence.hasPaused ? .waiting : .paused
  }

  /// After edits were taken back it is not foretold what plays.
  private func adoptMusic() {
    for (id, group) in world.session.groups {
      let music = music(of: group)
      let unheardSince = group.absence.deadline.map {
        LocalTime(nanoseconds: $0.nanoseconds - grace.count)
      }
      model.with(id) {
        ($0.music, $0.unheardSince) = (music, unheardSince)
        $0.hasSounded = (group.player.port as? SimulatedPlayer)?.hasSounded ?? false
      }
    }
  }
}
