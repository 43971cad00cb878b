/// Decides for one client's lines when commands are done: at once, as a list, or not at all. Commands themselves are
/// done by others.
package struct ClientSession: Sendable {
  /// Bytes of a list of commands.
  package static let listLimit = 2 << 20
  /// Commands in a list; as many short ones would take more memory than their bytes.
  package static let listCountLimit = 65_536
  /// Commands in a list, and bytes of one, of a client that may ask for nothing yet: it has a password to say.
  package static let strangerCountLimit = 16
  package static let strangerListLimit = 4_096
  /// Memory of a command besides its bytes.
  private static let commandOverhead = 64

  /// Told after each line.
  package enum Action: Hashable, Sendable {
    /// Nothing is to be done: a list is not complete, or there was nothing to end.
    case none
    /// The lines are to be done in order, up to the first that fails. `saysEach` asks for `list_OK` after each.
    case run([[UInt8]], saysEach: Bool)
    /// The client waits for changes from now on.
    case idle(Subsystems)
    /// The client waits no more. It is told what has changed so far, even if that is nothing.
    case endIdle(Subsystems)
    /// The client speaks another protocol, or asks for too much.
    case close
    case refuse(String)
  }

  private enum State: Sendable {
    case ready
    case collecting(byteCount: Int, saysEach: Bool)
    case idling(Subsystems)
  }

  private var state = State.ready
  /// Those of the list that is being collected. Not a part of the state, as taking them out would copy them each time.
  private var lines: [[UInt8]] = []

  package init() {}

  /// Memory of the list that is being collected.
  package var heldBytes: Int {
    guard case .collecting(let count, _) = state else { return 0 }
    return count + lines.count * Self.commandOverhead
  }

  /// The changes that the client waits for; nil while it does not wait.
  package var awaited: Subsystems? {
    if case .idling(let subsystems) = state { subsystems } else { nil }
  }

  /// The client was told of a change.
  package mutating func wasTold() { state = .ready }

  /// - Parameters:
  ///   - bytes: a line without its end.
  ///   - isStranger: true if the client may ask for nothing yet.
  package mutating func receive(_ bytes: [UInt8], isStranger: Bool = false) -> Action {
    // Web pages can make browsers send lines to any port. Those begin otherwise.
    guard let first = bytes.first, (0x61...0x7a).contains(first) else { return .close }
    var line = bytes
    while let last = line.last, CommandWords.isSpace(last) { line.removeLast() }
    let text = line.count <= Self.longestKeyword ? String(decoding: line, as: UTF8.self) : ""
    switch state {
    case .idling(let subsystems):
      guard text == "noidle" else { return .close }
      state = .ready
      return .endIdle(subsystems)
    case .collecting(let count, let saysEach):
      return collect(line, text, after: count, saysEach, isStranger)
    case .ready: return start(line, text)
    }
  }

  private static let longestKeyword = "command_list_ok_begin".utf8.count

  private mutating func start(_ line: [UInt8], _ text: String) -> Action {
    switch text {
    case "noidle": return .none
    case "command_list_begin": state = .collecting(byteCount: 0, saysEach: false)
    case "command_list_ok_begin": state = .collecting(byteCount: 0, saysEach: true)
    default:
      guard line.starts(with: "idle".utf8), let words = try? CommandWords(line: line),
        words.name == "idle"
      else { return .run([line], saysEach: false) }
      do throws(Ack) {
        let subsystems = try Subsystems(names: words.arguments)
        state = .idling(subsystems)
        return .idle(subsystems)
      } catch {
        return .refuse(error.line(place: 0, command: "idle"))
      }
    }
    return .none
  }

  private mutating func collect(
    _ line: [UInt8], _ text: String, after count: Int, _ saysEach: Bool, _ isStranger: Bool
  ) -> Action {
    if text == "noidle" { return .none }
    if text == "command_list_end" {
      defer { (state, lines) = (.ready, []) }
      return .run(lines, saysEach: saysEach)
    }
    guard count + line.count <= (isStranger ? Self.strangerListLimit : Self.listLimit),
      lines.count < (isStranger ? Self.strangerCountLimit : Self.listCountLimit)
    else { return .close }
    lines.append(line)
    state = .collecting(byteCount: count + line.count, saysEach: saysEach)
    return .none
  }
}
