import Clock
import FFmpegSource
import Sender
import WireProtocol

/// What happens to a player, in lines for people; nil where nobody needs to know.
struct EventSentences {
  let roomName: (RoomID) -> String

  func line(_ event: SenderEvent) -> StyledText? {
    switch event {
    case .roomConnected(let id): StyledText("\(roomName(id)): connected", .good)
    case .roomGone(let id, let reason):
      warning("\(roomName(id)): gone (\(reason)); trying again")
    case .roomUnreachable(let id, let reason):
      warning("\(roomName(id)): cannot be reached (\(reason)); trying again")
    case .roomRefused(let id, let reason): warning("\(roomName(id)): \(reason); trying again")
    case .roomReplaced(let id, let reason): warning("\(roomName(id)): \(reason)")
    case .roomIsTwin(_, let id): warning("\(roomName(id)) was named twice, and plays once")
    case .roomState(let id, .noDevice, let detail):
      warning("\(roomName(id)): no sound device: \(detail)")
    case .roomState(let id, .starved, _):
      warning("\(roomName(id)): nothing to play; its network is too slow")
    case .roomState, .roomFlushed, .started, .paused, .resumed, .itemEnded, .playlistChanged,
      .position:
      nil
    case .itemStarted(let opened), .itemDescribed(let opened): name(opened)
    case .itemFailed(_, let error): warning(error.hasSounded ? "\(error)" : "skipped: \(error)")
    case .recoded(let id, let codec):
      StyledText("\(roomName(id)) does not decode \(codec.title): encoded anew for all rooms")
    case .buffering(let buffering): warning("\(buffering)")
    case .buffered(let silence):
      StyledText("goes on after \(Int(silence.seconds.rounded(.up))) s of silence")
    case .stopped: StyledText("the list is at its end; go on with: tutti add FILE")
    case .finished: StyledText("finished")
    }
  }

  private func warning(_ line: String) -> StyledText { StyledText(line, .warning) }

  private func name(_ opened: OpenedItem) -> StyledText {
    let metadata = opened.metadata
    let name = ItemName.text(
      title: metadata.title, artist: metadata.artist, location: opened.item.location)
    let duration = opened.duration.map { " (\(TimeText.format($0.seconds)))" } ?? ""
    let wire = opened.wire.map { ", \($0.sentence)" } ?? ""
    return StyledText(name, .strong) + StyledText(duration) + StyledText(wire, .faint)
  }
}
