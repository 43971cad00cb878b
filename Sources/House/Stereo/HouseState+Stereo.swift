import Sender
import WireProtocol

extension HouseState {
  /// The two rooms of a stereo pair.
  package struct Stereo: Codable, Hashable, Sendable {
    package enum Side: String, Codable, CaseIterable, Sendable {
      case left, right
    }

    package var leftId: String
    /// As the room is called by itself.
    package var leftName: String
    package var rightId: String
    package var rightName: String
    /// The one that cannot play now; the other one plays both channels. Absent where both can, or neither.
    package var missing: Side?

    package init(leftId: String, leftName: String, rightId: String, rightName: String) {
      (self.leftId, self.leftName) = (leftId, leftName)
      (self.rightId, self.rightName) = (rightId, rightName)
    }
  }
}

extension HouseState.Room {
  /// A pair, from what is known of its rooms.
  init(_ pair: StereoPair, called name: String, left: Self, right: Self) {
    var stereo = HouseState.Stereo(
      leftId: left.id, leftName: left.name, rightId: right.id, rightName: right.name)
    if left.isMissing != right.isMissing { stereo.missing = left.isMissing ? .left : .right }
    let (first, other) = left.isMissing && !right.isMissing ? (right, left) : (left, right)
    self.init(
      id: pair.id, name: name, state: first.state, isPaired: left.isPaired && right.isPaired,
      isPresent: left.isPresent || right.isPresent)
    if !other.isMissing, !first.isMissing { state = Self.worse(left.state, right.state) }
    self.stereo = stereo
    model = left.model == right.model ? left.model : nil
    groupId = left.groupId ?? right.groupId
    (detail, reason) = (first.detail ?? other.detail, first.reason)
    if let side = stereo.missing { detail = Self.sentence(other.state, side) }
    awaySinceMs =
      state == .away ? [left.awaySinceMs, right.awaySinceMs].compactMap(\.self).max() : nil
    (volume, muted) = (first.volume ?? other.volume, first.muted ?? other.muted)
    (delayMs, channels) = (first.delayMs ?? other.delayMs, RoomChange.ChannelMap.stereo.name)
    volumeLimit = [left.volumeLimit, right.volumeLimit].compactMap(\.self).min()
    isVolumeLimitFixed = volumeLimit.map { _ in
      left.isVolumeLimitFixed == true || right.isVolumeLimitFixed == true
    }
    sound = first.sound ?? other.sound
    smallEncoding = left.smallEncoding ?? right.smallEncoding
    sync = RoomSync(left.sync, right.sync)
  }

  /// True if it cannot play, whatever is asked of it.
  private var isMissing: Bool {
    switch state {
    case .away, .taken, .notPaired, .noDevice: true
    case .free, .starting, .playing, .paused, .buffering: false
    }
  }

  private static func worse(_ left: State, _ right: State) -> State {
    let worst: [State] = [.buffering, .starting, .playing, .paused]
    return worst.first { $0 == left || $0 == right } ?? left
  }

  private static func sentence(_ state: State, _ side: HouseState.Stereo.Side) -> String {
    let trouble =
      switch state {
      case .taken: "plays for another sender"
      case .notPaired: "is not paired yet"
      case .noDevice: "has no sound card"
      case .away, .free, .starting, .playing, .paused, .buffering: "is away"
      }
    let other = side == .left ? "right" : "left"
    return "the \(side.rawValue) speaker \(trouble): the \(other) one plays both channels"
  }
}

extension RoomSync {
  /// The worse error of two rooms, and what has happened to both.
  init?(_ left: RoomSync?, _ right: RoomSync?) {
    guard let left, let right else {
      guard let only = left ?? right else { return nil }
      self = only
      return
    }
    self = abs(left.errorUs) < abs(right.errorUs) ? right : left
    bufferedS = min(left.bufferedS, right.bufferedS)
    underruns = left.underruns &+ right.underruns
    (late, lost) = (left.late &+ right.late, left.lost &+ right.lost)
    corrupt = left.corrupt &+ right.corrupt
  }
}
