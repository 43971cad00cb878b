import TestSupport
import WireProtocol

@testable import House

/// How loud rooms are in an evening.
extension HouseRun {
  /// Volumes in tenths of a percent, and the sliders that set several of them.
  struct Loudness {
    /// The first and the last volumes of moves in a row.
    struct Slider {
      var start: [String: Double]
      var last: [String: Double]
    }

    var volumes: [String: UInt16]
    /// The slider's memory of each group.
    var sliders: [String: Slider] = [:]
    /// Free rooms are told by a visit, which may fail.
    var visited: Set<String> = []
    /// Volumes that speakers of pairs are told as soon as they are back.
    var owed: [String: UInt16] = [:]
    /// How loud both rooms of a pair are, where that is known, by its identity.
    var levels: [String: UInt16] = [:]

    init(_ receivers: [SimulatedWorld.Receiver]) {
      volumes = Dictionary(
        receivers.map { ($0.id, $0.settings.volume) }, uniquingKeysWith: { $1 })
    }

    /// Each room goes its own way to 0 or 100, from where it was when the slider was moved first.
    mutating func move(_ group: String, to level: Double, _ rooms: [String: Double]) {
      guard !rooms.isEmpty else { return }
      let known = sliders[group].flatMap { $0.last == rooms ? $0.start : nil }
      let start = known ?? rooms
      let mean = tenths(
        start.keys.sorted().map { start[$0] ?? 0 }.reduce(0, +) / Double(start.count))
      let last = start.mapValues { volume in
        if level == mean { return volume }
        if level < mean { return tenths(volume * level / mean) }
        return tenths(volume + (100 - volume) * ((level - mean) / (100 - mean)))
      }
      sliders[group] = Slider(start: start, last: last)
      for (room, volume) in last { volumes[room] = UInt16((volume * 10).rounded()) }
    }

    private func tenths(_ value: Double) -> Double { (value * 10).rounded() / 10 }
  }

  private static let visitVolume = 40.0

  func drawSlider(_ group: HouseModel.Group) throws -> Drawn? {
    let level = Double([0, 20, 50, 80, 100].randomElement(using: &random) ?? 50)
    var change = Order.GroupChange()
    change.rooms.volume = level
    draggedGroup = group.id
    return try said(.change(group: group.id, change)) { [self] in
      model.use(group.id)
      let rooms = world.receivers.filter { world.holds($0, group.id) }
      loudness.move(
        group.id, to: level,
        Dictionary(
          rooms.map { ($0.id, Double($0.settings.volume) / 10) }, uniquingKeysWith: { $1 }))
      for pair in model.pairs {
        let moved = Set(rooms.map(\.id).filter(pair.rooms.contains).map { loudness.volumes[$0] })
        if let volume = moved.first { loudness.levels[pair.id] = moved.count == 1 ? volume : nil }
      }
      return true
    }
  }

  func drawVolume(of room: String) throws -> Drawn? {
    let group = model.group(ofRoom: room)
    let meant = model.whole([room])
    let level = group == nil ? Self.visitVolume : Double(Int.random(in: 0...100, using: &random))
    return try said(.set(rooms: [room], RoomChange(volume: level))) { [self] in
      guard let group else {
        loudness.visited.formUnion(meant)
        if let pair = model.pair(of: room) { loudness.levels[pair.id] = nil }
        return nil
      }
      let there = world.receivers.filter { meant.contains($0.id) && world.holds($0, group.id) }
      for room in meant {
        loudness.owed[room] = there.isEmpty ? loudness.owed[room] : UInt16(level * 10)
      }
      for receiver in there {
        (loudness.volumes[receiver.id], loudness.owed[receiver.id]) = (UInt16(level * 10), nil)
      }
      if let pair = model.pair(of: room), !there.isEmpty {
        loudness.levels[pair.id] = UInt16(level * 10)
      }
      return !there.isEmpty
    }
  }

  func compareLoudness() throws {
    for receiver in world.receivers {
      let volume = receiver.settings.volume
      let isAdopted =
        // They are kept alike: `compareSpeakers` looks at that.
        model.pair(of: receiver.id) != nil
        || loudness.visited.contains(receiver.id) && volume == UInt16(Self.visitVolume * 10)
        || loudness.owed[receiver.id] == volume
      if isAdopted { loudness.volumes[receiver.id] = volume }
      let wanted = loudness.volumes[receiver.id]
      if volume != wanted {
        try fail("volume of \(receiver.name) is \(volume), not \(wanted ?? 0)")
      }
    }
  }
}
