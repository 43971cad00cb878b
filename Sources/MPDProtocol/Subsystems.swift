/// Parts of the server of which `idle` tells that they have changed.
package struct Subsystems: OptionSet, Hashable, Sendable {
  package let rawValue: UInt32

  package init(rawValue: UInt32) { self.rawValue = rawValue }

  package static let database = Subsystems(rawValue: 1 << 0)
  package static let storedPlaylist = Subsystems(rawValue: 1 << 1)
  package static let playlist = Subsystems(rawValue: 1 << 2)
  package static let player = Subsystems(rawValue: 1 << 3)
  package static let mixer = Subsystems(rawValue: 1 << 4)
  package static let output = Subsystems(rawValue: 1 << 5)
  package static let options = Subsystems(rawValue: 1 << 6)
  package static let sticker = Subsystems(rawValue: 1 << 7)
  package static let update = Subsystems(rawValue: 1 << 8)
  package static let subscription = Subsystems(rawValue: 1 << 9)
  package static let message = Subsystems(rawValue: 1 << 10)
  package static let neighbor = Subsystems(rawValue: 1 << 11)
  package static let mount = Subsystems(rawValue: 1 << 12)
  package static let partition = Subsystems(rawValue: 1 << 13)

  /// In the order in which an answer has them.
  private static let names = [
    "database", "stored_playlist", "playlist", "player", "mixer", "output", "options", "sticker",
    "update", "subscription", "message", "neighbor", "mount", "partition",
  ]
  package static let all = Subsystems(rawValue: 1 << UInt32(names.count) - 1)

  /// Those of these names; of no names, all.
  package init(names: [String]) throws(Ack) {
    guard !names.isEmpty else {
      self = .all
      return
    }
    var found: Subsystems = []
    for name in names {
      guard let place = Self.names.firstIndex(of: name) else {
        throw .argument("Unrecognized idle event: \(name)")
      }
      found.insert(Subsystems(rawValue: 1 << UInt32(place)))
    }
    self = found
  }

  /// The answer to `idle`, without its end.
  package var lines: String {
    Self.names.enumerated().filter { contains(Subsystems(rawValue: 1 << UInt32($0.offset))) }
      .map { "changed: \($0.element)\n" }.joined()
  }
}
