import Driver
import House
import Sender

/// Inputs that have names, such as a turntable: whoever asks for one plays it, and one that sounds may begin by itself.
extension House {
  func watchInputs(_ mailbox: Mailbox<House>) {
    let warn: @Sendable (String) -> Void = { line in
      mailbox.post { house in house.onWarning(line) }
    }
    for input in settings.inputs where input.onSound != nil {
      let name = input.name
      inputs.watch(name, tell: warn) { change in
        mailbox.post { house in house.heard(name, change) }
      }
    }
  }

  /// An input has begun to sound, or was quiet for a while.
  func heard(_ name: String, _ change: LevelGate.Change) {
    guard let wanted = settings.inputs.first(where: { $0.name == name })?.onSound else { return }
    switch change {
    case .opened: heardInputs.insert(name)
    case .closed: heardInputs.remove(name)
    }
    do throws(Refusal) {
      switch change {
      case .opened:
        guard let group = find(wanted) else {
          throw .noSuch("there is no group or room called \(wanted), see on-sound")
        }
        try group.begin(.init(input: name))
        noteUse(of: group)
      case .closed: for group in groups.values { try group.end(name) }
      }
      noteMove()
      // A power cut after it brings it back.
      afterSaving { _ in }
    } catch {
      onWarning("\(name): \(error)")
    }
  }

  var shownInputs: [HouseState.Input] {
    settings.inputs.map { input in
      var shown = HouseState.Input(name: input.name, kind: input.kind)
      shown.onSound = input.onSound
      shown.isHeard = input.onSound.map { _ in heardInputs.contains(input.name) }
      return shown
    }
  }

  /// With how loud they are.
  var measuredInputs: [HouseState.Input] {
    shownInputs.map { input in
      var input = input
      input.levelDb = inputs.level(input.name)?.rounded(to: 1)
      return input
    }
  }

  /// As the list keeps it: what the terminal took for an input has the name of one, however it is written.
  func input(_ entry: Order.NewEntry) throws(Refusal) -> Order.NewEntry {
    guard case .input(let name) = LiveLocation(entry.location) else { return titled(entry.listed) }
    let known = settings.inputs.map(\.name)
    guard let found = known.first(where: { $0.lowercased() == name.lowercased() }) else {
      let others = known.isEmpty ? "" : "; there are: " + known.joined(separator: ", ")
      throw .invalid("there is no file and no input called \(name)\(others)")
    }
    return Order.NewEntry(input: found)
  }
}

extension HouseConfiguration.Input {
  fileprivate var kind: String {
    if case .card = source { "card" } else { "pipe" }
  }
}

/// What an input has interrupted that began by itself.
struct InputVisit {
  /// Of the input in the queue.
  var entry: Int
  /// Whether it was not there before.
  var isNew: Bool
  var place: QueuePlace?
  var wasPlaying: Bool
}

extension HouseGroup {
  /// Plays the input at once. The queue goes on behind it, and where it was is remembered.
  func begin(_ input: Entry) throws(Refusal) {
    guard !rooms.isEmpty, let name = input.title else {
      throw .unavailable("its group has no rooms")
    }
    let status = player.status
    let wasPlaying = isPlaying(status)
    let before = place(status)
    let known = items.first { $0.location == input.location }?.id
    if let known, before?.entry == known, wasPlaying { return }
    var entry = known
    if entry == nil { entry = try insert([input], before.map { .after($0.entry) } ?? .next).first }
    guard let entry else { return }
    visits[name] = InputVisit(
      entry: entry, isNew: known == nil, place: before, wasPlaying: wasPlaying)
    try play(QueuePlace(entry: entry, seconds: 0))
  }

  /// Gives back what was interrupted, unless somebody has chosen something else meanwhile.
  func end(_ input: String) throws(Refusal) {
    guard let visit = visits.removeValue(forKey: input) else { return }
    let status = player.status
    if place(status)?.entry == visit.entry {
      if visit.wasPlaying, isPlaying(status), let place = visit.place,
        items.contains(where: { $0.id == place.entry })
      {
        try play(place)
      } else {
        carryOut(.halt)
        restingPlace = visit.place
      }
    }
    if visit.isNew, items.contains(where: { $0.id == visit.entry }) {
      carryOut(.edit(.remove([visit.entry])))
    }
  }
}
