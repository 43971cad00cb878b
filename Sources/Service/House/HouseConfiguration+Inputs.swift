package import Driver
import House
package import Sender

/// Sections such as
///
///     [input Turntable]
///     source = alsa:hw:1
///     on-sound = Living room
extension HouseConfiguration {
  /// A live source that has a name, so that everybody can play it.
  package struct Input: Hashable, Sendable {
    package var name: String
    /// A card or a pipe.
    package var source: LiveLocation
    /// The shape of a pipe's samples; nil is 48000:16:2.
    package var raw: RawFormat?
    /// The group, or a room of it, that begins to play it when it sounds.
    package var onSound: String?
    /// How long after it has come it is heard; nil where rooms buffer it as music.
    package var live: LiveLatency?
  }

  /// The most inputs of one household.
  package static let inputLimit = 16

  /// One that is being read.
  struct InputSection {
    private enum Key: String, CaseIterable {
      case source, raw, live
      case onSound = "on-sound"
    }

    private let name: String
    private let place: String
    private var source: LiveLocation?
    private var raw: RawFormat?
    private var onSound: String?
    private var live: LiveLatency?
    private var seen: Set<Key> = []

    /// - Parameter line: such as `[input Turntable]`.
    init(_ line: String, at place: String, _ others: [Input]) throws(Refusal) {
      let text = line.hasSuffix("]") ? trimmed(line.dropFirst().dropLast()) : ""
      let words = text.split(maxSplits: 1, whereSeparator: \.isWhitespace)
      guard words.first == "input" else {
        throw .invalid("\(place): there is no section \(line); there is: [input NAME]")
      }
      let name = words.count > 1 ? trimmed(words[1]) : ""
      guard (1...64).contains(name.utf8.count) else {
        throw .invalid("\(place): an input has a name of at most 64 bytes: [input NAME]")
      }
      guard !others.contains(where: { $0.name.lowercased() == name.lowercased() }) else {
        throw .invalid("\(place): there is an input \(name) already")
      }
      guard others.count < inputLimit else {
        throw .invalid("\(place): there are \(inputLimit) inputs at most")
      }
      (self.name, self.place) = (name, place)
    }

    mutating func set(
      _ name: String, to value: String, at place: String
    ) throws(Refusal) {
      guard let key = Key(rawValue: name) else {
        let names = Key.allCases.map(\.rawValue).joined(separator: ", ")
        throw .invalid(
          "\(place): there is no key \(name) in [input \(self.name)]; there are: \(names)")
      }
      guard seen.insert(key).inserted else { throw .invalid("\(place): \(name) is set already") }
      switch key {
      case .source:
        switch LiveLocation(value) {
        case .card, .pipe: source = LiveLocation(value)
        case .input, .standardInput, nil:
          throw .invalid("\(place): source is alsa:CARD or pipe:/PATH, such as alsa:hw:1")
        }
      case .raw:
        guard let format = RawFormat(value) else {
          throw .invalid("\(place): raw is rate:bits:channels, such as 48000:16:2")
        }
        raw = format
      case .live:
        guard let latency = LiveLatency(value) else {
          let range = LiveLatency.range
          throw .invalid(
            "\(place): live is \(range.lowerBound) to \(range.upperBound) ms, such as 40, or auto")
        }
        live = latency
      case .onSound:
        guard !value.isEmpty else { throw .invalid("\(place): on-sound has no value") }
        onSound = value
      }
    }

    /// The input, once all its lines were read.
    fileprivate func input() throws(Refusal) -> Input {
      guard let source else {
        throw .invalid("\(place): [input \(name)] needs a line such as: source = alsa:hw:1")
      }
      if raw != nil, case .card = source {
        throw .invalid("\(place): raw is for pipes; a card says itself what it records")
      }
      return Input(name: name, source: source, raw: raw, onSound: onSound, live: live)
    }
  }

  mutating func add(_ section: InputSection) throws(Refusal) {
    inputs.append(try section.input())
  }
}
