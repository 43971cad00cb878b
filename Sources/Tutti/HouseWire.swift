internal import Clock
internal import House
internal import LinuxIO
internal import ProgramJSON
internal import Sender

/// A request to `tutti serve` over its control socket, as the terminal's commands make it: one JSON object a line.
struct HouseCall: Encodable {
  enum Request: Encodable {
    case groups
    case status
    case queue
    case order(Order)
    case play(request: Play)
    case announce(request: Announcement)
    case alarms
  }

  struct Announcement: Encodable {
    var text: String?
    var location: String?
    var rooms: [String]
    var addresses: [String] = []
    var volume: Double?
    var hasChime: Bool
  }

  struct Play: Encodable {
    var entries: [PlaylistEntry]
    var rooms: [String]
    var addresses: [String] = []
    var shuffles = false
    var effects = EffectsChange()
    var takes = false
    var foregroundOptions: [String] = []
  }

  var id = 1
  /// Named by its name, its identity, or a room of it; nil for the one that was used last.
  var group: String?
  var request: Request
}

struct HouseReply: Decodable {
  enum Outcome: Decodable {
    case done(answer: HouseAnswer)
    case refused(error: Refusal)
  }

  var outcome: Outcome
}

struct HouseAnswer: Decodable {
  struct Group: Decodable {
    var name: String
    var state: HouseState.Group.State
    var title: String?
    var artist: String?
    var rooms: [String]
    var volume: Double
    var isMeant: Bool
  }

  struct AlarmLine: Decodable {
    var alarm: HouseState.Alarm
    var rooms: [String]
  }

  struct Entry: Decodable {
    var number: Int
    var id: Int
    var item: String
    var current: Bool
    var title: String?
    var artist: String?
    var durationS: Double?
  }

  var done: String?
  var queue: [Entry]?
  var status: StatusReport?
  var group: String?
  var groups: [Group]?
  var alarms: [AlarmLine]?
}

/// One visit to the daemon's socket. Blocks its thread.
struct HouseVisit {
  /// Longest wait for an answer: the daemon answers within milliseconds, unless its disk is slow.
  static let timeout = Nanoseconds.seconds(10)
  /// Longest answer, in bytes: that of a full list is half as long.
  static let answerLimit = 32 << 20
  /// Longest request that the daemon reads, in bytes.
  static let requestLimit = 1 << 20

  let path: String
  var timeout = Self.timeout

  func answer(to call: HouseCall) throws(TuttiError) -> HouseAnswer {
    let request = JSON.line(call)
    guard request.count <= Self.requestLimit else {
      throw .invalid("these are too many items for one request; add them in parts")
    }
    let line: [UInt8]
    do throws(IOError) {
      line = try exchange(request)
    } catch {
      throw .unavailable("the household at \(path) cannot be asked: \(error)")
    }
    guard let reply = try? JSON.decode(HouseReply.self, from: line) else {
      throw .unavailable("the household at \(path) was not understood; is it of another version?")
    }
    switch reply.outcome {
    case .done(let answer): return answer
    case .refused(let refusal): throw .refused(refusal.description)
    }
  }

  private func exchange(_ request: [UInt8]) throws(IOError) -> [UInt8] {
    let reactor = try Reactor()
    let connection = reactor.connect(toPath: path)
    let end = HostClock.now + timeout
    var line: [UInt8] = []
    while HostClock.now < end, line.count <= Self.answerLimit {
      for event in try reactor.wait(until: end) {
        switch event {
        case .connected: reactor.send(request, on: connection)
        case .connectFailed(_, let error): throw error
        case .received(_, let bytes):
          line += bytes
          if line.last == UInt8(ascii: "\n") { return line }
        case .closed:
          throw IOError(call: "read", code: 0, text: "it ended before it answered")
        default: break
        }
      }
    }
    throw IOError(call: "read", code: 0, text: "it does not answer")
  }
}
