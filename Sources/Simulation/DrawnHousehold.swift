import Audio
import Clock
import Pairing
import Receiver
import WireProtocol

/// A household that the swarm draws. Everything that only some households have is off in most of them, so that rare
/// combinations come up, and those of few things, too.
struct DrawnHousehold {
  /// How its sound comes.
  enum Sound {
    /// Minutes ahead.
    case deep
    /// With the profile of a live stream, which keeps little ahead.
    case near
    /// From a live source.
    case live
  }

  let sound: Sound
  let hasSecondDaemon: Bool
  /// True if samples are made and checked one by one, as in an eighth of the households and in all that are near; of the
  /// others, only the positions are computed.
  let isExact: Bool
  /// Items that the list repeats; nil is one without end.
  let items: [Int64?]
  /// Seconds that the disk takes for what a successor must know.
  let keepingTime: Double
  /// Seconds that the producer takes for an order.
  let productionTime: Double
  private var random: SplitMix64

  static func roomCount(_ seed: UInt64) -> Int {
    var random = SplitMix64(seed: seed, part: 81)
    return 1 + Int(min(random.next() % 4, random.next() % 8) + random.next() % 3)
  }

  init(_ seed: UInt64) {
    var daemons = SplitMix64(seed: seed, part: 79)
    var random = SplitMix64(seed: seed, part: 80)
    let drawsSecond = daemons.chance(0.25)
    sound = drawsSecond || random.chance(0.9) ? .deep : random.chance(0.5) ? .near : .live
    hasSecondDaemon = drawsSecond
    // Packets of positions are longer than what such a profile keeps ahead.
    isExact = random.chance(0.125) || sound == .near
    let count = random.chance(0.5) || sound == .live ? 0 : 2 + Int(random.next() % 4)
    let lengths = (0..<count).map { _ in random.uniform(1.5...25) * Double(TestSignal.sampleRate) }
    items = count == 0 ? [nil] : lengths.map { Int64($0) }
    keepingTime = random.chance(0.7) ? 0.002 : min(2, random.exponential(mean: 0.3))
    let isQuick = sound != .deep
    productionTime =
      isQuick ? 2e-4 : random.chance(0.7) ? 3e-3 : min(0.2, random.exponential(mean: 0.03))
    self.random = random
  }

  /// The first room has a good network, as a reference.
  mutating func paths(_ count: Int) -> [PathQuality] {
    let kinds: [PathQuality] =
      sound == .deep
      ? [.wired, .switches, .wifi, .wifiBad, .wifiPowerSave, .wiredLoad] : [.wired, .switches]
    return (0..<count).map { $0 == 0 ? .wired : kinds[Int(random.next() % UInt64(kinds.count))] }
  }

  mutating func furnish(_ configuration: inout SimulatedGroup.Configuration) {
    configuration.items = items
    (configuration.repeatsPlaylist, configuration.endsWithPlaylist) = (items != [nil], false)
    configuration.keepingTime = Nanoseconds(seconds: keepingTime)
    configuration.productionTime = Nanoseconds(seconds: productionTime)
    if sound == .near { configuration.profile = .live }
    // The thread of a card has real-time priority: what is written ahead is shorter than the delays of others.
    if sound != .deep {
      for room in configuration.rooms.indices { configuration.rooms[room].host.hiccups = 0 }
    }
    if sound == .live {
      let latency = Nanoseconds(seconds: random.uniform(0.1...0.2))
      configuration.live = SimulatedLive(latency: latency, adapts: random.chance(0.5))
    }
    if isExact {
      configuration.passesPackets = random.chance(0.3)
      configuration.makesSmall = sound == .deep && random.chance(0.3)
    } else {
      configuration.planPositions()
      configuration.plannedPacketBytes = Int(byteRate) / SilenceEncoder.packetsPerSecond
    }
    if hasSecondDaemon { configuration.addSecondDaemon() }
    for room in configuration.rooms.indices {
      let passes = configuration.passesPackets && random.chance(0.5)
      configuration.rooms[room].codecs = passes ? [.pcm, SignalPackets.codec] : [.pcm]
      configuration.rooms[room].card.canRewind = random.chance(0.7)
      configuration.rooms[room].whenBusy = .priority
      configuration.rooms[room].trust.pairings.add(.init(id: .simulated(visitor: 1), name: "other"))
      let held = random.uniform(25...80)
      configuration.rooms[room].capacity = .init(bytes: 8 << 20, duration: .seconds(Int64(held)))
    }
  }

  /// Bytes a second that a room's link carries of music.
  var byteRate: Double { isExact ? 160_000 : 40_000 }
}

extension DrawnHousehold: CustomStringConvertible {
  var description: String {
    func tenths(_ value: Double) -> String { "\((value * 10).rounded() / 10)" }
    let lengths = items.compactMap { $0 }.map { tenths(Double($0) / Double(TestSignal.sampleRate)) }
    return [
      hasSecondDaemon ? "two daemons" : "one daemon", "\(sound)",
      isExact ? "with samples" : "positions only",
      lengths.isEmpty ? "one item" : "items of \(lengths.joined(separator: ", ")) s",
      "disk \(tenths(keepingTime * 1000)) ms", "producer \(tenths(productionTime * 1000)) ms",
    ].joined(separator: ", ")
  }
}
