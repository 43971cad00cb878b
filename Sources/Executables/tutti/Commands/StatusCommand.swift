import ArgumentParser
import Driver
import Glibc
import House
import Sender
import Service
import WireProtocol

struct StatusCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "status", abstract: "Shows the current item and the sync error of each room.",
    discussion: """
      If a daemon has several groups, they are listed first.
      The arrow marks the group that commands use without --group.
      At the end it says what is wrong with the household as a whole, such as a full
      disk, and where its second machine is.

      Columns that do not fit into the window are left out.
      The columns delay and channels appear if a room has a delay, or does not play
      stereo.

      Examples:
        tutti status
        tutti status --details
        tutti status --watch
        tutti status --json
      """)
  @Flag(help: "Repeat once a second, until Ctrl-C.")
  var watch = false
  @Flag(help: "Also show clocks, packets and buffers of each room.")
  var details = false
  @OptionGroup var common: CommonOptions

  func run() throws {
    try reporting {
      let client = common.client(try common.state())
      let isTerminal = TerminalText.canMove(on: STDOUT_FILENO)
      repeat {
        let answer = try client.ask(.status)
        guard let status = answer.status else { return try common.show(answer) }
        if common.json {
          try printJSON(HouseholdStatus(status: status, household: answer.household))
        } else {
          if watch, isTerminal { try output(Array("\u{1B}[2J\u{1B}[H".utf8)) }
          let width = TerminalText.columns(of: STDOUT_FILENO)
          for line in GroupsText.linesIfSeveral(answer.groups ?? [], width: width) {
            try printLine(line)
          }
          for line in StatusText.lines(status, width: width, hasDetails: details) {
            try printLine(line)
          }
          for line in HouseholdText.lines(answer.household) { try printLine(line) }
        }
        if watch { sleep(1) }
      } while watch
    }
  }
}

/// The status of a group, with what concerns the household as a whole beside it.
private struct HouseholdStatus: Encodable {
  let status: StatusReport
  let household: ControlAnswer.Household?

  func encode(to encoder: any Encoder) throws {
    try status.encode(to: encoder)
    try household?.encode(to: encoder)
  }
}

struct GroupsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "groups", abstract: "Lists a daemon's groups, and what they play.",
    discussion: """
      The arrow marks the group that commands use without --group: the one that was
      used last.

      Examples:
        tutti groups
        tutti pause --group Kitchen
      """)
  @OptionGroup var common: CommonOptions

  func run() throws {
    try reporting {
      let answer = try common.client(try common.state()).ask(.groups)
      guard let groups = answer.groups else {
        throw Failure(.unavailable, "a player in a terminal has no groups; see: tutti status")
      }
      if common.json {
        for group in groups { try printJSON(group) }
        return
      }
      let width = TerminalText.columns(of: STDOUT_FILENO)
      if groups.isEmpty {
        try printLine("there are no groups; make one with: tutti play FILE --on ROOM")
      }
      for line in GroupsText.lines(groups, width: width) { try printLine(line) }
      for line in HouseholdText.lines(answer.household) { try printLine(line) }
    }
  }
}

/// A daemon's household as a whole, for people; nothing where it has one machine and a disk that works.
enum HouseholdText {
  static func lines(_ household: ControlAnswer.Household?) -> [StyledText] {
    guard let household else { return [] }
    let problems = [household.diskProblem, household.secondProblem].compactMap { $0 }
    var lines = problems.map { StyledText($0, .warning) }
    if household.secondProblem == nil, let second = household.second {
      lines.append(StyledText("\(second) goes on with the music if this machine fails", .faint))
    }
    return lines.isEmpty ? [] : [StyledText()] + lines
  }
}

/// A daemon's groups as a table for people.
enum GroupsText {
  static func lines(_ groups: [ControlAnswer.GroupLine], width: Int?) -> [StyledText] {
    var table = TextTable(columns: [
      .init(title: ""), .init(title: "", isCuttable: true), .init(title: ""),
      .init(title: "", dispensability: 1, isCuttable: true),
    ])
    table.rows = groups.map { group in
      var title = group.title.map { title in group.artist.map { "\($0) – \(title)" } ?? title }
      if let behind = group.behindLiveS {
        title = "\(TimeText.format(behind)) behind live" + (title.map { ": " + $0 } ?? "")
      }
      if let sleep = group.sleepInS {
        title = "sleeps in \(TimeText.format(sleep))" + (title.map { ": " + $0 } ?? "")
      }
      return [
        StyledText(group.isMeant ? "▶" : " ", .good), StyledText(group.name, .strong),
        StyledText(group.state.rawValue, group.state == .playing ? .good : .plain),
        StyledText(title ?? "", .faint),
      ]
    }
    return table.lines(width: width, hasHeader: false)
  }

  /// The same table followed by an empty line, or nothing if there are fewer than two groups.
  static func linesIfSeveral(
    _ groups: [ControlAnswer.GroupLine], width: Int?
  ) -> [StyledText] {
    groups.count < 2 ? [] : lines(groups, width: width) + [StyledText()]
  }
}

/// The status as text for people.
enum StatusText {
  /// - Parameter width: of the window, in columns; nil for unlimited.
  static func lines(_ status: StatusReport, width: Int?, hasDetails: Bool) -> [StyledText] {
    var lines = headlines(status).map { line in width.map { line.cut(to: $0) } ?? line }
    lines.append(StyledText())
    lines += table(status).lines(width: width)
    for room in status.rooms {
      if let detail = room.detail { lines.append(StyledText("\(room.name): \(detail)", .warning)) }
    }
    return hasDetails ? lines + status.rooms.flatMap(details) : lines
  }

  private static func headlines(_ status: StatusReport) -> [StyledText] {
    var lines = [StyledText(status.state.rawValue, status.state == .playing ? .good : .warning)]
    if let item = status.item {
      let name = ItemName.text(title: status.title, artist: status.artist, location: item)
      lines[0] = lines[0] + StyledText("  ") + StyledText(name, .strong)
      let place = "\(status.itemNumber) of \(status.itemCount)  "
      lines.append(labelled("item", (status.itemNumber > 0 ? place : "") + progress(status)))
    }
    let track = status.track.map { "track \($0)" }
    let album = [status.album, track].compactMap { $0 }.joined(separator: ", ")
    if !album.isEmpty { lines.append(labelled("album", album)) }
    if let type = status.artworkType, let bytes = status.artworkBytes {
      let size = NumberText.fixed(Double(bytes) / 1000, 1) + " kB"
      lines.append(labelled("cover", status.artworkPath ?? "\(type), \(size)"))
    }
    if let next = status.nextItem {
      let length = status.nextDurationS.map { " (\(TimeText.format($0)))" } ?? ""
      let name = ItemName.text(title: status.nextTitle, artist: status.nextArtist, location: next)
      lines.append(labelled("next", name + length))
    }
    if let failed = status.failed {
      lines.append(labelled("failed", "\(failed.title): \(failed.problem)"))
    }
    if let sleep = status.sleepInS {
      lines.append(labelled("sleeps", "in " + TimeText.format(sleep)))
    }
    if let latency = status.liveLatencyMs {
      let decider = status.latencyRoom.map { ", because of \($0)" } ?? ""
      lines.append(labelled("latency", "\(NumberText.fixed(latency, 0)) ms\(decider)"))
    }
    for room in status.rooms {
      guard let codec = room.smallEncoding else { continue }
      lines.append(
        labelled("weak", "\(room.name), whose network is too slow for more, gets \(codec)"))
    }
    if status.repeat != .off { lines.append(labelled("repeats", status.repeat.rawValue)) }
    return lines
  }

  private static func labelled(_ label: String, _ text: String) -> StyledText {
    StyledText(label + String(repeating: " ", count: max(1, 9 - label.count)), .faint)
      + StyledText(text)
  }

  /// Position, length and effects of the current item. If the length is not known, as with a radio station, shows
  /// how much has arrived.
  static func progress(_ status: StatusReport) -> String {
    var line = TimeText.format(status.targetS ?? status.positionS)
    if let duration = status.durationS {
      line += " / " + TimeText.format(duration)
    } else if let behind = status.behindLiveS {
      line += "  \(TimeText.format(behind)) behind live"
    } else if let arrived = status.arrivedS, arrived > 0 {
      line += " / \(TimeText.format(arrived)) so far"
    }
    if let buffering = status.buffering {
      line += "  waiting for the source: \(buffering.sentence)"
    }
    let effects = status.effects.sentence
    return effects.isEmpty ? line : line + "  " + effects
  }

  // MARK: - Rooms

  private static func table(_ status: StatusReport) -> TextTable {
    let hasDelay = status.rooms.contains { ($0.delayMs ?? 0) != 0 }
    let hasChannels = status.rooms.contains {
      $0.channels.map { $0 != RoomChange.ChannelMap.stereo.name } ?? false
    }
    let hasTrouble = status.rooms.contains { $0.troubles > 0 }
    var columns: [(column: TextTable.Column, cell: (StatusReport.Room) -> StyledText)] = [
      (.init(title: "room", isCuttable: true), { StyledText($0.name) }),
      (
        .init(title: "state"),
        { StyledText($0.state.rawValue, $0.state == .playing ? .good : .warning) }
      ),
      (.init(title: "volume", isRight: true, dispensability: 1), { StyledText($0.volumeText) }),
    ]
    if hasDelay {
      columns.append(
        (
          .init(title: "delay ms", isRight: true, dispensability: 3),
          { number($0.delayMs) { NumberText.signed($0) } }
        ))
    }
    if hasChannels {
      columns.append(
        (.init(title: "channels", dispensability: 4), { StyledText($0.channels ?? "–") }))
    }
    columns += [
      (
        .init(title: "off µs", isRight: true, dispensability: 2),
        { number($0.sync?.errorUs) { NumberText.fixed($0, 1) } }
      ),
      (
        .init(title: "max µs", isRight: true, dispensability: 6),
        { number($0.sync?.maxUs) { NumberText.fixed($0, 1) } }
      ),
      (
        .init(title: "buffered", isRight: true, dispensability: 5),
        { number($0.sync?.bufferedS) { TimeText.format($0) } }
      ),
    ]
    if hasTrouble {
      columns.append(
        (
          .init(title: "lost", isRight: true, dispensability: 7),
          { StyledText("\($0.troubles)", $0.troubles > 0 ? .warning : .plain) }
        ))
    }
    var table = TextTable(columns: columns.map(\.column))
    table.rows = status.rooms.map { room in columns.map { $0.cell(room) } }
    return table
  }

  private static func number(_ value: Double?, _ text: (Double) -> String) -> StyledText {
    StyledText(value.map(text) ?? "–")
  }

  /// Short lines, so that they fit narrow windows.
  private static func details(_ room: StatusReport.Room) -> [StyledText] {
    func us(_ value: Double?) -> String { value.map { NumberText.fixed($0, 1) + " µs" } ?? "–" }
    func ppm(_ value: Double?) -> String { value.map { NumberText.fixed($0, 2) + " ppm" } ?? "–" }
    func count(_ value: UInt32?) -> String { value.map(String.init) ?? "–" }
    let sync = room.sync
    let buffer = (sync?.bufferedS).map(TimeText.format) ?? "–"
    let megabytes =
      (sync?.bufferedBytes).map { NumberText.fixed(Double($0) / 1e6, 1) + " MB" } ?? "–"
    let rows: [(String, String)] = [
      ("sync error now", us(sync?.errorUs)), ("  median", us(sync?.p50Us)),
      ("  99 % below", us(sync?.p99Us)), ("  at most", us(sync?.maxUs)),
      ("clock known to ±", us(sync?.boundUs)), ("round trip", us(sync?.roundTripUs)),
      ("machine's drift", ppm(sync?.clockDriftPpm)), ("card's drift", ppm(sync?.deviceDriftPpm)),
      ("buffered", "\(buffer), \(megabytes)"), ("card ran dry", count(sync?.underruns)),
      ("packets late", count(sync?.late)), ("packets lost", count(sync?.lost)),
      ("packets corrupt", count(sync?.corrupt)),
    ]
    var lines = [StyledText(), StyledText(room.name, .strong)]
    if let settings = room.settingsSentence {
      lines[1] = StyledText(settings, .strong)
    }
    for (label, value) in rows {
      let space = String(repeating: " ", count: max(1, 20 - label.count))
      lines.append(StyledText("  " + label + space, .faint) + StyledText(value))
    }
    return lines
  }
}

extension StatusReport.Room {
  fileprivate var volumeText: String {
    guard let volume, muted != true else { return muted == true ? "muted" : "–" }
    let limit = volumeLimit.flatMap { $0 < 100 ? " of \(NumberText.fixed($0, 0))" : nil } ?? ""
    return NumberText.fixed(volume, 0) + limit
  }

  /// Counts everything in this room that was not heard as it should have been.
  fileprivate var troubles: UInt64 {
    guard let sync else { return 0 }
    return [sync.underruns, sync.late, sync.lost, sync.corrupt].reduce(0) { $0 + UInt64($1) }
  }
}
