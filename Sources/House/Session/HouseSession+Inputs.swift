import Sender

/// Inputs that have names, such as a turntable: one that sounds may begin by itself.
extension HouseSession {
  /// An input has begun to sound, or was quiet for a while.
  func heard(_ name: String, _ change: LevelGate.Change) {
    guard let wanted = configuration.inputs.first(where: { $0.name == name })?.onSound else {
      return
    }
    desk.hasNews = true
    if change == .opened {
      releaseWaiting(find(wanted).flatMap { plan.group($0.id) }?.rooms ?? [])
    }
    inputStates[name, default: InputState()].isHeard = change == .opened
    do throws(Refusal) {
      switch change {
      case .opened:
        guard let group = find(wanted) else {
          throw .noSuch("there is no group or room called \(wanted), see on-sound")
        }
        try group.begin(.init(input: name))
        noteUse(of: group)
      case .closed: for group in groupsInOrder { try group.end(name) }
      }
      noteMove()
      // A power cut after it brings it back.
      saveEdits()
    } catch {
      warn("\(name): \(error)")
    }
  }

  package var shownInputs: [HouseState.Input] {
    configuration.inputs.map { input in
      var shown = input
      shown.isHeard = input.onSound.map { _ in inputStates[input.name]?.isHeard ?? false }
      return shown
    }
  }

  /// Takes what is known of files, for entries that were added by their places alone.
  func describe(_ files: [String: Order.NewEntry]) {
    guard !files.isEmpty else { return }
    for group in groupsInOrder { group.describe(files) }
    desk.hasNews = true
  }
}
