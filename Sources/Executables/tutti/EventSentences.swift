import Clock
import Driver
import House
import Sender
import Service
import WireProtocol

/// Lines for people about events of a player; nil for events that nobody needs to know of.
enum EventSentences {
  static func line(_ change: GroupEvent.Change) -> StyledText? {
    switch change {
    case .group(let event): line(event)
    case .source(let notice): warning("\(notice)")
    case .waiting(let reason): StyledText(reason)
    case .status, .leftOut: nil
    }
  }

  private static func line(_ event: SenderEvent) -> StyledText? {
    switch event {
    case .room(let room, let change): line(room.name, change)
    case .started, .paused, .resumed, .itemEnded, .playlistChanged, .position: nil
    case .itemStarted(let item), .itemDescribed(let item): name(item)
    case .itemFailed(_, let error):
      warning(error.hasSounded ? error.description : "skipped: \(error)")
    case .buffering(let buffering): warning("\(buffering)")
    case .buffered(let silence):
      StyledText("plays again after \(Int(silence.seconds.rounded(.up))) s of silence")
    case .stopped: StyledText("the list is at its end; go on with: tutti add FILE")
    case .finished: StyledText("finished")
    }
  }

  private static func line(_ room: String, _ change: SenderEvent.RoomChange) -> StyledText? {
    switch change {
    case .connected: StyledText("\(room): connected", .good)
    case .gone(let reason): warning("\(room): gone (\(reason)); trying again")
    case .unreachable(let reason):
      warning("\(room): cannot be reached (\(reason)); trying again")
    case .refused(let reason): warning("\(room): \(reason); trying again")
    case .notPaired(let advice): warning("\(room): \(advice)")
    case .replaced(let reason): warning("\(room): \(reason)")
    case .namedTwice: warning("\(room) was named twice, and plays once")
    case .state(.noDevice, let detail): warning("\(room): no sound device: \(detail)")
    case .state(.starved, _): warning("\(room): nothing to play; its network is too slow")
    case .state, .flushed: nil
    case .recoded(let codec):
      StyledText(
        "\(room) does not decode \(codec.title), so the audio is encoded again for all rooms")
    case .weak(let codec):
      warning("\(room): its network is too slow for the music, which it gets as \(codec.title)")
    case .recovered: StyledText("\(room): gets what the other rooms get again")
    case .choseLatency(let latency):
      StyledText("the delay is now \(latency.count / 1_000_000) ms, which \(room) needs")
    }
  }

  private static func warning(_ line: String) -> StyledText { StyledText(line, .warning) }

  private static func name(_ item: OpenedItem) -> StyledText {
    let name = ItemName.text(
      title: item.metadata.title, artist: item.metadata.artist, location: item.item.location)
    let duration = item.duration.map { " (\(TimeText.format($0.seconds)))" } ?? ""
    let codec = item.wire.map { ", \($0)" } ?? ""
    return StyledText(name, .strong) + StyledText(duration) + StyledText(codec, .faint)
  }
}
