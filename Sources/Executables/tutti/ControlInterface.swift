import Driver
import FoundationEssentials
import LinuxIO

/// What commands ask of a running player, one JSON object a line over its Unix-domain socket. Each request gets one
/// answer, in its order. Both ends are this program: the socket is no interface for others, who have `--json`.
enum ControlRequest: Codable {
  case status
  case pause
  case resume
  case stop
  case next
  case previous
  /// Seconds from the item's beginning, or from here.
  case seek(seconds: Double, isRelative: Bool)
  case set(change: RoomChange)
  case effects(change: EffectsChange)
  case queue
  /// So that the first of them gets this number; 0 is after the current item, nothing the end.
  case add(files: [String], number: Int?)
  /// By their numbers in the list, from 1.
  case remove(numbers: [Int])
  case move(number: Int, to: Int)
  case jump(number: Int)
  case clear
  case shuffle
  /// `off`, `one` or `all`.
  case `repeat`(mode: String)
  case join(room: NewRoom)
  case leave(rooms: [String])
}

/// What the player answers.
struct ControlReply: Codable {
  /// Why it could not be done, with the exit code for it.
  var error: String?
  var code: Int32?
  /// What was done, in a few words.
  var done: String?
  /// The list after the command; only where it was about the list.
  var queue: [QueueEntry]?
  var status: StatusReport?
}

struct QueueEntry: Codable {
  /// From 1; changes with every edit.
  var number: Int
  /// Stays, and is never used again.
  var id: Int
  var item: String
  var current: Bool
  /// As far as the player knows: of what it has opened.
  var title: String?
  var artist: String?
  var durationS: Double?
}

/// JSON as programs meet it: one object a line, names in snake case with their unit at the end.
enum JSONLine {
  static func encode(_ value: some Encodable) -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    encoder.keyEncodingStrategy = .convertToSnakeCase
    return ((try? encoder.encode(value)).map { [UInt8]($0) } ?? []) + [UInt8(ascii: "\n")]
  }

  static func decode<Value: Decodable>(_ type: Value.Type, from line: [UInt8]) throws -> Value {
    let decoder = JSONDecoder()
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    return try decoder.decode(type, from: Data(line))
  }
}
