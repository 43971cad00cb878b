package import Driver
import House
package import Sender

/// Sections such as
///
///     [input Turntable]
///     source = alsa:hw:1
///     on-sound = Living room
///
///     [input AirPlay]
///     command = shairport-sync --output stdout
///     raw = 44100:16:2
extension HouseConfiguration {
  /// A live source that has a name, so that everybody can play it.
  package struct Input: Hashable, Sendable {
    package var name: String
    /// A card, a pipe or a program.
    package var source: InputSource
    /// The shape of the samples of a pipe or a program; nil is 48000:16:2.
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
      case source, command, events, memory, raw, live
      case onSound = "on-sound"
    }

    private let name: String
    private let place: String
    private var source: InputSource?
    private var command: [String]?
    private var events: InputProgram.Events?
    private var memory: Int?
    private var raw: RawFormat?
    private var onSound: String?
    private var live: LiveLatency?
    private var keys = SectionKeys<Key>()

    init(_ name: String, at place: String, _ others: [Input]) throws(Refusal) {
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
      switch try keys.take(name, in: "[input \(self.name)]", at: place) {
      case .source:
        switch LiveLocation(value) {
        case .card(let name): source = .card(name)
        case .pipe(let path): source = .pipe(path)
        case .input, .standardInput, nil:
          throw .invalid("\(place): source is alsa:CARD or pipe:/PATH, such as alsa:hw:1")
        }
      case .command:
        guard let words = ArgumentList(value)?.words else {
          throw .invalid(
            "\(place): command is a program and its arguments, with spaces between them; "
              + "an argument with spaces stands in quotes")
        }
        command = words
      case .events:
        guard let found = InputProgram.Events(rawValue: value) else {
          let all = InputProgram.Events.allCases.map(\.rawValue).joined(separator: ", ")
          throw .invalid("\(place): events is one of: \(all)")
        }
        events = found
      case .memory:
        let range = InputProgram.Settings.memories
        guard let found = Int(value), range.contains(found) else {
          throw .invalid(
            "\(place): memory is \(range.lowerBound) to \(range.upperBound) MiB, such as 1024")
        }
        memory = found
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

    private func foundSource() throws(Refusal) -> InputSource? {
      guard let command else {
        guard events == nil, memory == nil else {
          throw .invalid("\(place): events and memory go with a command in [input \(name)]")
        }
        return source
      }
      guard source == nil else {
        throw .invalid("\(place): [input \(name)] has either a source or a command")
      }
      return .program(
        .init(
          command: command, raw: raw ?? InputProgram.Settings.usualRaw,
          events: events ?? InputProgram.Events.none,
          memoryMiB: memory ?? InputProgram.Settings.usualMemory))
    }

    /// The input, once all its lines were read.
    fileprivate func input() throws(Refusal) -> Input {
      guard let source = try foundSource() else {
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

/// A command as people write it: words with spaces between them. Quotes, single or double, keep spaces within a word. Nothing else
/// has a meaning, for no shell reads it.
struct ArgumentList {
  /// The most words, and the longest command in bytes.
  static let wordLimit = 64
  static let byteLimit = 4_096

  let words: [String]

  /// Returns nil if there is no word or there are too many, or if a quote has no end.
  init?(_ text: String) {
    guard text.utf8.count <= Self.byteLimit else { return nil }
    var words: [String] = []
    var word: String?
    var quote: Character?
    for letter in text {
      if letter == quote {
        quote = nil
      } else if quote != nil {
        word = (word ?? "") + String(letter)
      } else if letter == "\"" || letter == "'" {
        (quote, word) = (letter, word ?? "")
      } else if letter.isWhitespace {
        if let found = word { words.append(found) }
        word = nil
      } else {
        word = (word ?? "") + String(letter)
      }
    }
    if let found = word { words.append(found) }
    guard quote == nil, (1...Self.wordLimit).contains(words.count), words[0] != "" else {
      return nil
    }
    self.words = words
  }
}
