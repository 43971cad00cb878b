import ArgumentParser
import Foundation

struct StatusCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "status", abstract: "Shows what plays where, and how well in sync.",
    discussion: "Examples:\n  tutti status\n  tutti status --watch\n  tutti status --json")
  @Flag(help: "Go on, once a second, until Ctrl-C.")
  var watch = false
  @OptionGroup var common: CommonOptions

  func run() throws {
    try reporting {
      let client = ControlClient(path: try StateDirectory(common.stateDir).controlSocket)
      repeat {
        guard let status = try client.ask(ControlRequest(verb: .status)).status else { return }
        if common.json {
          printJSON(status)
        } else {
          if watch { printLine("\u{1B}[2J\u{1B}[H") }
          printLine(StatusText.table(status))
        }
        if watch { Thread.sleep(forTimeInterval: 1) }
      } while watch
    }
  }
}

/// The status for people.
enum StatusText {
  static func table(_ status: StatusReport) -> String {
    var lines = [headline(status)] + details(status) + [""]
    let header = [
      "room", "state", "vol", "sync µs", "p50", "p99", "max", "clock ±µs", "rtt µs", "machine ppm",
      "card ppm", "ahead", "underruns", "late", "lost", "corrupt",
    ]
    let rows = [header] + status.rooms.map(row)
    let widths = header.indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
    for row in rows {
      let cells = row.indices.map { column in
        let padding = String(repeating: " ", count: widths[column] - row[column].count)
        return column < 2 ? row[column] + padding : padding + row[column]
      }
      lines.append(cells.joined(separator: "  "))
    }
    for room in status.rooms {
      if let detail = room.detail { lines.append("\(room.name): \(detail)") }
    }
    return lines.joined(separator: "\n")
  }

  static func headline(_ status: StatusReport) -> String {
    let title = status.title ?? status.item.map { ($0 as NSString).lastPathComponent } ?? "–"
    let name = status.artist.map { "\($0) – \(title)" } ?? title
    return "\(status.state): \(name) (\(status.itemNumber) of \(status.itemCount))  "
      + progress(status)
  }

  /// Where it is, of how much, and with which effects. Of what has no length yet, as a radio station, what has come.
  static func progress(_ status: StatusReport) -> String {
    var line = TimeText.format(status.targetS ?? status.positionS)
    if let duration = status.durationS {
      line += " / " + TimeText.format(duration)
    } else if let arrived = status.arrivedS, arrived > 0 {
      line += " / \(TimeText.format(arrived)) so far"
    }
    if let buffering = status.buffering {
      line += "  waiting for the source: \(buffering.sentence)"
    }
    let effects = status.effects.sentence
    return effects.isEmpty ? line : line + "  " + effects
  }

  /// What else is known of the item.
  static func details(_ status: StatusReport) -> [String] {
    let track = status.track.map { "track \($0)" }
    let album = [status.album, track].compactMap { $0 }.joined(separator: ", ")
    var lines = album.isEmpty ? [] : ["album: \(album)"]
    if let type = status.artworkType, let bytes = status.artworkBytes {
      let size = String(format: "%.1f kB", Double(bytes) / 1000)
      let path = status.artworkPath.map { ", \($0)" } ?? ""
      lines.append("cover: \(type), \(size)\(path)")
    }
    return lines
  }

  private static func row(_ room: StatusReport.Room) -> [String] {
    func number(_ value: Double?, _ digits: Int) -> String {
      value.map { String(format: "%.\(digits)f", $0) } ?? "–"
    }
    func count(_ value: UInt32?) -> String { value.map(String.init) ?? "–" }
    return [
      room.name, room.state, room.muted == true ? "mute" : number(room.volume, 0),
      number(room.syncErrorUs, 1), number(room.syncErrorP50Us, 1),
      number(room.syncErrorP99Us, 1), number(room.syncErrorMaxUs, 1),
      number(room.clockErrorBoundUs, 0), number(room.roundTripUs, 0),
      number(room.clockDriftPpm, 2), number(room.deviceDriftPpm, 2),
      room.bufferedS.map(TimeText.format) ?? "–", count(room.underruns),
      count(room.latePackets), count(room.lostPackets), count(room.corruptPackets),
    ]
  }
}
