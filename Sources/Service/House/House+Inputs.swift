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
