import Clock
import WireProtocol

/// What one room was told, in order of media time.
struct AnnouncedItems {
  private var announced: [NowPlaying] = []

  /// The room forgets what it was told of `time` and later.
  mutating func flush(from time: MediaTime) { announced.removeAll { $0.from >= time } }

  /// The messages that make it so.
  mutating func replace(with wanted: [NowPlaying]) -> [NowPlaying] {
    if let first = wanted.first { announced.removeAll { $0.from < first.from } }
    var common = 0
    while common < min(announced.count, wanted.count),
      announced[common].says(wanted[common])
    {
      common += 1
    }
    var messages = Array(wanted[common...])
    // What is taken back and replaced by nothing yet.
    if messages.isEmpty, common < announced.count, announced[common].item != nil {
      messages = [announced[common]]
      messages[0].item = nil
    }
    guard !messages.isEmpty else { return [] }
    announced = announced[..<common] + messages
    return messages
  }
}

extension NowPlaying {
  /// Generations aside: what an older one says holds until a flush takes it back.
  fileprivate func says(_ other: NowPlaying) -> Bool { from == other.from && item == other.item }
}
