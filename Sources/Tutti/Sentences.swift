extension PlayerEvent: CustomStringConvertible {
  /// One line for people.
  public var description: String {
    switch self {
    case .started: "the first frame is about to sound"
    case .paused: "paused"
    case .resumed: "goes on"
    case .buffering(_, let arrived, let needed):
      "waits for its source: \(Sentence.seconds(arrived)) of \(Sentence.seconds(needed)) have come"
    case .buffered(let silence): "plays again after \(Sentence.seconds(silence)) of silence"
    case .itemStarted(let item): "now: \(item.description)"
    case .itemDescribed(let item): "still: \(item.description)"
    case .itemEnded: "the item has ended"
    case .itemFailed(_, let reason): "not played: \(reason)"
    case .playlistChanged: "the list has changed"
    case .stopped: "everything has sounded"
    case .room(let event): event.description
    case .sourceNotice(let line): line
    }
  }
}

extension Player.CurrentItem: CustomStringConvertible {
  /// One line for people: artist and title, or the name.
  public var description: String {
    let said = [artist, title].compactMap { $0 }
    return said.isEmpty ? item.name : said.joined(separator: ": ")
  }
}

extension AudioRendererEvent: CustomStringConvertible {
  /// One line for people.
  public var description: String {
    switch self {
    case .started: "the first frame is about to sound"
    case .ended: "everything that was enqueued has sounded"
    case .failed(let reason): "it plays no further: \(reason)"
    case .late(let time, let late):
      "the audio of \(time) came \(Sentence.seconds(late)) too late, and is not heard"
    case .room(let event): event.description
    }
  }
}

extension PlaybackTime: CustomStringConvertible {
  /// Minutes and seconds, to the millisecond: `1:02.500`.
  public var description: String {
    let milliseconds = Int((abs(seconds) * 1000).rounded())
    let (minutes, rest) = (milliseconds / 60_000, milliseconds % 60_000)
    let fraction = String(1_000 + rest % 1_000).dropFirst()
    let whole = String(100 + rest / 1_000).dropFirst()
    return "\(flicks < 0 ? "-" : "")\(minutes):\(whole).\(fraction)"
  }
}

enum Sentence {
  /// Such as `2.5 s`.
  static func seconds(_ duration: Duration) -> String {
    let tenths = Int((duration / .milliseconds(100)).rounded())
    return "\(tenths < 0 ? "-" : "")\(abs(tenths) / 10).\(abs(tenths) % 10) s"
  }
}
