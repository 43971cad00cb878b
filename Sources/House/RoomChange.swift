import Clock
package import Sender
package import WireProtocol

/// A change of rooms' settings, in a running player or without one. Fields that are nil leave the
/// setting as it is.
package struct RoomChange: Codable, Hashable, Sendable {
  package typealias ChannelMap = RoomSettings.ChannelMap

  package static let volumes = 0.0...100
  package static let volumeLimits =
    Double(ProtocolLimits.volumeLimit.lowerBound) / 10...Double(
      ProtocolLimits.volumeLimit.upperBound) / 10
  package static let steps = -100.0...100
  package static let delaysMs =
    Double(ProtocolLimits.roomDelay.lowerBound) / 1e6...Double(ProtocolLimits.roomDelay.upperBound)
    / 1e6

  /// Within `volumes`, or a step within `steps`.
  package var volume: Double?
  package var isStep = false
  package var muted: Bool?
  /// Milliseconds, within `delaysMs`. Positive is later.
  package var delayMs: Double?
  package var channels: RoomSettings.ChannelMap?
  /// The highest volume that the rooms take from anybody, within `volumeLimits`; 100 limits nothing.
  package var volumeLimit: Double?
  /// The sound that the rooms keep.
  package var sound: SoundChange?

  package init(
    volume: Double? = nil, muted: Bool? = nil, delayMs: Double? = nil,
    channels: RoomSettings.ChannelMap? = nil, volumeLimit: Double? = nil,
    sound: SoundChange? = nil
  ) {
    self.sound = sound
    (self.volume, self.muted, self.delayMs, self.channels) = (volume, muted, delayMs, channels)
    self.volumeLimit = volumeLimit
  }

  package var isEmpty: Bool { self == RoomChange() }

  /// Only how loud the rooms are to be.
  var level: RoomChange {
    var level = RoomChange(volume: volume, muted: muted, volumeLimit: volumeLimit)
    level.isStep = isStep
    return level
  }

  /// Throws if a value is out of range.
  package func commands(for rooms: RoomSelection) throws(Refusal) -> [PlayerCommand] {
    var commands: [PlayerCommand] = []
    if let volumeLimit {
      guard Self.volumeLimits.contains(volumeLimit) else {
        throw .invalid("a volume limit is \(Self.volumeLimits.text)")
      }
      commands.append(.volumeLimit(rooms, UInt16((volumeLimit * 10).rounded())))
    }
    if let volume {
      guard (isStep ? Self.steps : Self.volumes).contains(volume) else {
        throw .invalid("volume is \(Self.volumes.text), or a step with + or -")
      }
      let tenths = Int((volume * 10).rounded())
      commands.append(isStep ? .volumeBy(rooms, tenths) : .volume(rooms, UInt16(tenths)))
    }
    if let muted { commands.append(.mute(rooms, muted)) }
    if let delayMs {
      guard Self.delaysMs.contains(delayMs) else {
        throw .invalid("delay is \(Self.delaysMs.text) milliseconds")
      }
      commands.append(.delay(rooms, Nanoseconds(Int64((delayMs * 1e6).rounded()))))
    }
    if let channels { commands.append(.channelMap(rooms, channels)) }
    if let sound {
      try sound.check()
      commands.append(.sound(rooms, sound))
    }
    return commands
  }

  /// Adds a later change, whose values win.
  package mutating func merge(_ later: RoomChange) {
    (volume, isStep) = later.volume.map { ($0, later.isStep) } ?? (volume, isStep)
    muted = later.muted ?? muted
    delayMs = later.delayMs ?? delayMs
    channels = later.channels ?? channels
    volumeLimit = later.volumeLimit ?? volumeLimit
    if let change = later.sound {
      var merged = sound ?? SoundChange()
      merged.merge(change)
      sound = merged
    }
  }
}

extension RoomSettings.ChannelMap: Codable {
  package static var names: [String] { allCases.map(\.name) }
  package var name: String { "\(self)" }

  package init?(name: String) {
    guard let map = Self.allCases.first(where: { $0.name == name }) else { return nil }
    self = map
  }
}

extension [String] {
  /// The texts as a list for people, such as `off, one or all`.
  package var orList: String {
    count < 2 ? joined() : dropLast().joined(separator: ", ") + " or " + self[count - 1]
  }
}

extension ClosedRange<Double> {
  /// The range as text for people, such as `-40 to -5`.
  package var text: String {
    "\(NumberText.short(lowerBound)) to \(NumberText.short(upperBound))"
  }
}
