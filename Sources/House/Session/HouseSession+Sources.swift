package import Clock
import Sender

/// An input as the household knows it.
struct InputState {
  /// True if it sounds, for inputs that somebody waits for.
  var isHeard = false
  /// When groups pause with it; nil unless its source has paused.
  var pauseTime: LocalTime?
  /// The volume that its source told last.
  var volume: Double?
  /// Hash of the picture of what it plays.
  var cover: String?
}

/// Inputs whose sound comes from a program, such as a phone's: play, pause and volume go both ways.
extension HouseSession {
  /// A source that pauses for less plays on: a phone does so between two titles, and while its user looks for a place.
  package static let sourcePause = Nanoseconds.seconds(1)
  /// Volumes that differ by less are the same: a source may count in coarser steps.
  private static let sameVolume = 1.0

  /// The program of an input has told something of its music.
  func told(_ name: String, _ event: InputEvent) {
    guard configuration.inputs.contains(where: { $0.name == name }) else { return }
    desk.hasNews = true
    switch event {
    case .playing:
      inputStates[name]?.pauseTime = nil
      for group in groups(playing: name) where group.player.status.state == .paused {
        _ = try? group.transport(.play)
      }
    case .paused: pauseSoon(name)
    case .stopped:
      pauseSoon(name)
      inputStates[name]?.volume = nil
    case .volume(let volume):
      let before = inputStates[name]?.volume
      inputStates[name, default: InputState()].volume = volume
      // The first is what its sender happens to have, often full: nobody has asked for it here.
      guard let before, before != volume else { return }
      for group in groups(playing: name) {
        guard abs(level(of: group) - volume) >= Self.sameVolume else { continue }
        _ = try? group.set(.init(rooms: .init(volume: volume)), at: now)
      }
    case .title, .cover: break
    }
  }

  private func pauseSoon(_ name: String) {
    let time = inputStates[name]?.pauseTime ?? now + Self.sourcePause
    inputStates[name, default: InputState()].pauseTime = time
  }

  /// Groups pause where their source has done so for a while.
  func lookAtSources() {
    for name in inputStates.keys.sorted() {
      guard let time = inputStates[name]?.pauseTime, time <= now else { continue }
      inputStates[name]?.pauseTime = nil
      for group in groups(playing: name) where group.player.status.state != .paused {
        _ = try? group.transport(.pause)
      }
    }
  }

  /// Tells the program of the input that the group plays, if that takes orders. Returns what was done where nothing else is to be
  /// done: its titles are its own.
  func steer(_ group: HouseGroup, _ transport: Order.Transport) -> String? {
    guard let name = steeredInput(of: group) else { return nil }
    let isShared = groups(playing: name).count > 1
    switch transport {
    case .play: emit(.steer(name, .play))
    // Others who hear it go on.
    case .pause, .stop: if !isShared { emit(.steer(name, .pause)) }
    case .next:
      emit(.steer(name, .next))
      return "\(name) was asked for its next title"
    case .previous:
      emit(.steer(name, .previous))
      return "\(name) was asked for its previous title"
    case .live: break
    }
    return nil
  }

  /// The group's volume has been set.
  func steerVolume(of group: HouseGroup) {
    guard let name = steeredInput(of: group) else { return }
    emit(.steer(name, .volume(level(of: group))))
  }

  private func level(of group: HouseGroup) -> Double {
    group.player.level(of: group.player.volumes(group.player.status))
  }

  private func steeredInput(of group: HouseGroup) -> String? {
    guard let name = playedInput(of: group) else { return nil }
    let input = configuration.inputs.first { $0.name == name }
    return input?.takesOrders ?? false ? name : nil
  }

  private func groups(playing input: String) -> [HouseGroup] {
    groupsInOrder.filter { playedInput(of: $0) == input }
  }

  private func playedInput(of group: HouseGroup) -> String? {
    let status = group.player.status
    guard !group.isResting(status), let entry = group.place(status)?.entry,
      let item = group.player.playlist.item(entry),
      case .input(let name) = LiveLocation(item.location)
    else { return nil }
    return name
  }
}
