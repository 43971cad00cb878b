import Audio
import Clock
import FFmpegSource
import Glibc
import House
import LinuxIO
import Sender
import Service

/// The list as text for people: titles and lengths. Reads the tags of files that the player has not opened yet, for
/// at most 700 ms.
enum QueueText {
  /// Time for all files: people wait for the list.
  private static let timeout = Nanoseconds.milliseconds(700)

  static func lines(_ queue: [QueueEntry]) -> [StyledText] {
    if queue.isEmpty { return [StyledText("the list is empty")] }
    var queue = queue
    describe(&queue)
    var table = TextTable(columns: [
      .init(title: ""), .init(title: "", isRight: true), .init(title: "", isCuttable: true),
      .init(title: "", isRight: true, dispensability: 1),
    ])
    table.rows = queue.map(row)
    let width = TerminalText.columns(of: STDOUT_FILENO)
    return table.lines(width: width, hasHeader: false) + [sum(queue)]
  }

  private static func row(_ entry: QueueEntry) -> [StyledText] {
    let name = ItemName.text(title: entry.title, artist: entry.artist, location: entry.item)
    let failure = entry.problem.map { StyledText("  " + $0, .warning) }
    return [
      entry.current || entry.problem == nil
        ? StyledText(entry.current ? "▶" : " ", .good) : StyledText("!", .warning),
      StyledText("\(entry.number)"),
      StyledText(name, entry.current ? .strong : .plain) + (failure ?? StyledText()),
      StyledText(entry.durationS.map(TimeText.format) ?? ""),
    ]
  }

  private static func sum(_ queue: [QueueEntry]) -> StyledText {
    let lengths = queue.compactMap(\.durationS)
    let count = "\(queue.count) item\(queue.count == 1 ? "" : "s")"
    let isAll = lengths.count == queue.count
    let total = TimeText.format(lengths.reduce(0, +))
    return StyledText(isAll ? "\(count), \(total)" : count, .faint)
  }

  private static func describe(_ queue: inout [QueueEntry]) {
    let until = HostClock.now + timeout
    for index in queue.indices where queue[index].durationS == nil && queue[index].problem == nil {
      guard HostClock.now < until else { return }
      guard queue[index].item.hasPrefix("/"), let file = try? FileSource(path: queue[index].item)
      else { continue }
      queue[index].title = file.metadata.title ?? queue[index].title
      queue[index].artist = file.metadata.artist
      queue[index].durationS = file.frameCount.map { Double($0) / Double(file.format.sampleRate) }
    }
  }
}
