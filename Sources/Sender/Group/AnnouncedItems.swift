import Clock
import WireProtocol

/// The announcements sent to one room, in order of media time.
struct AnnouncedItems {
  private var announced: [NowPlaying] = []

  /// Drops announcements for `time` and later, as the room does at a flush.
  mutating func flush(from time: MediaTime) { announced.removeAll { $0.from >= time } }

  /// Records `wanted` as announced, and returns the messages that bring the room to it.
  mutating func replace(with wanted: [NowPlaying]) -> [NowPlaying] {
    if let first = wanted.first { announced.removeAll { $0.from < first.from } }
    var common = 0
    while common < min(announced.count, wanted.count),
      announced[common].says(wanted[common])
    {
      common += 1
    }
    var messages = Array(wanted[common...])
    // An announcement is withdrawn, and nothing replaces it yet.
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
  /// Ignores generations: an announcement of an older one holds until a flush takes it back.
  fileprivate func says(_ other: NowPlaying) -> Bool { from == other.from && item == other.item }
}
