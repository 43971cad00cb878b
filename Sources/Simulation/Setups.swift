package import Clock
import WireProtocol

/// Groups as they are found in houses, with small differences by seed.
extension SimulatedGroup.Configuration {
  /// Makes a house with crystals within ±40 ppm, clocks that were started at different times, and cards of the given
  /// kinds.
  package static func house(
    _ paths: [PathQuality], seed: UInt64, cards: [CardQuality.Granularity] = [.fine]
  ) -> Self {
    var random = SplitMix64(seed: seed, part: 1)
    let senderHost = SimulatedHost.Quality.typical(&random)
    let rooms = paths.enumerated().map { index, path in
      var card = CardQuality(crystal: .typical(&random))
      card.granularity = cards[index % cards.count]
      return SimulatedGroup.Room(path: path, host: .typical(&random), card: card)
    }
    return Self(seed: seed, senderHost: senderHost, rooms: rooms)
  }
}

extension SimulatedGroup.Configuration {
  /// Adapts the group to long runs. Checking samples takes too long beyond ten minutes, and dense measurements fill the
  /// memory beyond an hour.
  package mutating func suitHours() {
    planPositions()
    interval = .milliseconds(500)
  }

  /// Makes no samples. Cards with 40 ms periods need a quarter of the turns.
  mutating func planPositions() {
    isExact = false
    for room in rooms.indices { rooms[room].card.periodFrames = TestSignal.sampleRate / 25 }
  }

  /// Gives all rooms one access point, and buffers that take most of a minute to fill through it.
  mutating func fillLong() {
    sharesDownlink = true
    for room in rooms.indices {
      rooms[room].capacity = Capacity(bytes: 32 << 20, duration: .seconds(200))
    }
  }

  /// Makes crystals wander by some ppm within a minute or two, as when they warm up; each differently.
  mutating func letCrystalsWander() {
    for room in rooms.indices {
      let (host, card) = Self.wanders[room % Self.wanders.count]
      rooms[room].host.crystal.wander(host)
      rooms[room].card.crystal.wander(card)
    }
  }

  private typealias Wander = Oscillator.Quality.Wander
  private static let wanders: [(host: Wander, card: Wander)] = [
    (.sine(swing: 3e-6, period: 90), .walk(0.3e-6)),
    (.walk(0.3e-6), .sine(swing: 4e-6, period: 70)),
    (.sine(swing: 2e-6, period: 45), .sine(swing: 2e-6, period: 120)),
  ]
}

extension Oscillator.Quality {
  enum Wander {
    case sine(swing: Double, period: Double)
    /// Per square root of a second.
    case walk(Double)
  }

  fileprivate mutating func wander(_ wander: Wander) {
    switch wander {
    case .sine(let swing, let period):
      self.swing = swing
      swingPeriod = period
    case .walk(let walk):
      self.walk = walk
    }
  }
}

extension SimulatedHost.Quality {
  package static func typical(_ random: inout SplitMix64) -> Self {
    let uptime = Nanoseconds(seconds: random.uniform(10...1e5))
    return Self(crystal: .typical(&random), offset: uptime)
  }
}

extension Oscillator.Quality {
  package static func typical(_ random: inout SplitMix64) -> Self {
    Self(drift: random.uniform(-40e-6...40e-6))
  }
}
