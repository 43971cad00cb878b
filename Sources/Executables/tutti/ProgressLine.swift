import Driver
import House
import Sender
import Service

/// The line of `tutti play` that is written over and over. In a narrow window it leaves out the least important
/// parts.
struct ProgressLine {
  /// Microseconds. Larger sync errors begin to be audible.
  private static let noticeable = 1000.0

  let status: StatusReport
  /// The result of a key, shown instead of the rooms.
  var answer: StyledText?
  /// The reason why the music does not start yet.
  var waiting: String?

  init(_ status: StatusReport) { self.status = status }

  /// - Parameter columns: the width to fit; nil for unlimited.
  func text(columns: Int?) -> StyledText {
    if let waiting { return StyledText("… " + waiting) }
    let keys = StyledText("? for keys", .faint)
    let volume = StyledText(Self.volumeSpan(status).map { "vol " + $0 } ?? "")
    let candidates: [[StyledText]] =
      if let answer {
        [[answer]]
      } else {
        [
          [rooms(isShort: false), buffer, volume] + (columns == nil ? [] : [keys]),
          [rooms(isShort: false), buffer, volume], [rooms(isShort: false), volume],
          [rooms(isShort: true), volume], [rooms(isShort: true)],
        ]
      }
    let lines = candidates.map { parts in
      parts.filter { !$0.isEmpty }.reduce(head) { $0 + StyledText("  ") + $1 }
    }
    return lines.first { line in columns.map { line.width <= $0 } ?? true } ?? lines.last ?? head
  }

  private var head: StyledText {
    let symbol =
      switch status.state {
      case .playing: StyledText("▶", .good)
      case .paused: StyledText("‖", .warning)
      case .starting, .buffering: StyledText("…", .warning)
      case .stopped, .finished: StyledText("■")
      }
    return symbol + StyledText(" " + StatusText.progress(status))
  }

  private func rooms(isShort: Bool) -> StyledText {
    let playing = status.rooms.filter { $0.state == .playing }
    var parts: [StyledText] = []
    if !playing.isEmpty { parts.append(sync(playing, isShort: isShort)) }
    let isStill = status.state == .paused
    for room in status.rooms where room.state != .playing {
      let isExpected = isStill && room.state == .paused
      parts.append(
        StyledText(
          isExpected ? room.name : "\(room.name) \(room.state)", isExpected ? .plain : .warning))
    }
    guard let first = parts.first else { return StyledText() }
    return parts.dropFirst().reduce(first) { $0 + StyledText(", ") + $1 }
  }

  private func sync(_ rooms: [StatusReport.Room], isShort: Bool) -> StyledText {
    let names = rooms.map(\.name).joined(separator: ", ")
    let isLong = TerminalText.width(of: names) > (isShort ? 12 : 30)
    let who = isLong && rooms.count > 1 ? "\(rooms.count) rooms" : names
    let worst = rooms.compactMap(\.sync?.errorUs).map(\.magnitude).max() ?? 0
    if worst >= Self.noticeable {
      return StyledText("\(who) \(NumberText.fixed(worst / 1000, 1)) ms off", .warning)
    }
    return StyledText(who + " in sync")
      + StyledText(isShort ? "" : " (\(NumberText.fixed(worst, worst < 10 ? 1 : 0)) µs)", .faint)
  }

  private var buffer: StyledText {
    guard let least = status.rooms.compactMap(\.sync?.bufferedS).min() else { return StyledText() }
    return StyledText(TimeText.format(least) + " buffered")
  }

  // MARK: - Volume

  /// The volume of all rooms, such as `60`, or `40–60` if rooms differ.
  private static func volumeSpan(_ status: StatusReport) -> String? {
    let volumes = status.rooms.compactMap { $0.muted == true ? 0 : $0.volume }
    guard let least = volumes.min(), let most = volumes.max() else { return nil }
    let low = NumberText.short(least)
    return least == most ? low : "\(low)–\(NumberText.short(most))"
  }

  /// The common volume, or each room's if they differ.
  static func volumes(_ status: StatusReport) -> StyledText {
    guard let span = volumeSpan(status) else { return StyledText() }
    guard span.contains("–") else { return StyledText("volume \(span)") }
    let each = status.rooms.map { room in
      "\(room.name) \(room.muted == true ? "muted" : NumberText.short(room.volume ?? 0))"
    }
    return StyledText("volume " + each.joined(separator: ", "))
  }
}
