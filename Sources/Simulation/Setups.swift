import Clock

/// Groups as they are found in houses, each a little different by its seed.
extension SimulatedGroup.Configuration {
  /// Crystals within ±40 ppm, clocks that were started at different times, and cards of the given kind.
  package static func house(
    _ paths: [PathQuality], seed: UInt64, cards: [CardQuality.Granularity] = [.fine]
  ) -> Self {
    var random = RandomSource(seed: seed, part: 1)
    let senderHost = SimulatedHost.Quality.typical(&random)
    let rooms = paths.enumerated().map { index, path in
      var card = CardQuality(crystal: .typical(&random))
      card.granularity = cards[index % cards.count]
      return SimulatedGroup.Room(path: path, host: .typical(&random), card: card)
    }
    return Self(seed: seed, senderHost: senderHost, rooms: rooms)
  }
}

extension SimulatedHost.Quality {
  package static func typical(_ random: inout RandomSource) -> Self {
    let uptime = Nanoseconds(seconds: random.uniform(10...1e5))
    return Self(crystal: .typical(&random), offset: uptime)
  }
}

extension Oscillator.Quality {
  package static func typical(_ random: inout RandomSource) -> Self {
    Self(drift: random.uniform(-40e-6...40e-6))
  }
}
