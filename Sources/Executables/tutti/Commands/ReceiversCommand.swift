import ArgumentParser
import Clock
import Driver
import Glibc
import LinuxIO
import Pairing
import Sender
import Service
import WireProtocol

struct ReceiversCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "receivers", abstract: "Lists the receivers on this network.",
    discussion: """
      A room is "away" if it was seen before and does not answer now.

      Examples:
        tutti receivers
        tutti receivers --wait 5
        tutti receivers --json
      """
  )
  @Option(help: .init("How long to search.", valueName: "seconds"))
  var wait = 1.5
  @OptionGroup var common: PlaceOptions

  func run() throws {
    try reporting {
      guard (0...600).contains(wait) else { throw Failure(.usage, "--wait is 0 to 600 seconds") }
      let state = try StateDirectory(common.stateDir)
      let pairings = try state.trust.paired()
      let search = try ReceiverSearch(state: state, paired: pairings)
      let paired = Set(pairings.all.map(\.id.hex))
      let isWatched = isatty(STDERR_FILENO) == 1 && wait > 2
      let found = try search.search(
        for: Nanoseconds(Int64(wait * 1e9)), says: isWatched ? "looking for receivers" : nil)
      if common.json {
        for record in found.directory.records {
          try printJSON(ShownRoom(record: record, paired: paired.contains(record.id)))
        }
      } else {
        try show(found, paired)
      }
    }
  }

  private func show(_ found: ReceiverSearch.Result, _ paired: Set<String>) throws {
    if !found.daemonIsThere {
      printError(
        "tutti: Avahi is not running, so only rooms seen before are known; run: sudo apt install avahi-daemon; sudo systemctl enable --now avahi-daemon"
      )
    }
    let records = found.directory.records
    if records.isEmpty {
      return try printLine("no receiver was found; start tutti-receiver in a room")
    }
    var table = TextTable(columns: [
      .init(title: "room", isCuttable: true), .init(title: "state"), .init(title: "paired"),
      .init(title: "address", dispensability: 1, isCuttable: true),
      .init(title: "model", dispensability: 2, isCuttable: true),
    ])
    table.rows = records.map { record in
      let hasTwin = records.filter { $0.name == record.name }.count > 1
      let host = record.addresses.first ?? "?"
      let address = host.contains(":") ? "[\(host)]:\(record.port)" : "\(host):\(record.port)"
      return [
        StyledText(hasTwin ? "\(record.name)#\(record.id.prefix(4))" : record.name, .strong),
        StyledText(record.state.rawValue, record.style),
        StyledText(
          paired.contains(record.id) ? "yes" : record.access == .open ? "not needed" : "no"),
        StyledText(address),
        StyledText(record.model),
      ]
    }
    for line in table.lines(width: TerminalText.columns(of: STDOUT_FILENO)) { try printLine(line) }
  }
}

/// A room in the output of `tutti receivers --json`.
private struct ShownRoom: Encodable {
  let record: RoomRecord
  let paired: Bool

  private enum Key: CodingKey { case paired }

  func encode(to encoder: any Encoder) throws {
    try record.encode(to: encoder)
    var container = encoder.container(keyedBy: Key.self)
    try container.encode(paired, forKey: .paired)
  }
}

extension RoomRecord {
  fileprivate var style: Style {
    switch state {
    case .free: .good
    case .away: .faint
    case .busy: .warning
    }
  }
}
