import Clock
import Driver
import Glibc
import House
import LinuxIO
import ProgramJSON
import Sender
import Service

/// Sends one request to a running player and waits for the answer.
struct ControlClient {
  /// Time for an answer: a busy player or daemon takes less than one.
  static let timeout = Nanoseconds.seconds(5)
  /// A visit to a room ends within 15 s of the connection, by itself; an announcement begins as soon, or is refused; a
  /// feed is read in 20 s, or not at all, and so is a page of a server; the network is searched for 2 s, and what is found is asked for 6 s.
  private static let visitTimeout = Nanoseconds.seconds(30)
  /// If the answer takes longer than this, the client prints what it waits for.
  static let silence = Nanoseconds.seconds(1)

  /// The address to which commands are sent.
  struct Place {
    let path: String
    /// Advice for the user if a daemon runs that this user may not command.
    var advice: String?
  }

  let place: Place
  /// The daemon's group that commands are for; nil if none was named.
  var group: String?
  /// True to print nothing while waiting.
  var isQuiet = false
  private var timeout = Self.timeout

  init(_ place: Place, group: String? = nil, isQuiet: Bool = false) {
    (self.place, self.group, self.isQuiet) = (place, group, isQuiet)
  }

  /// True if a player or a daemon runs, even if it refuses the request.
  var isAnswered: Bool {
    get throws {
      do {
        return try askIfRunning(.status) != nil
      } catch is Refusal {
        return true
      }
    }
  }

  /// Returns nil if no player runs.
  func askIfRunning(
    _ request: ControlRequest, rooms: [RoomRecord]? = nil
  ) throws -> ControlAnswer? {
    var client = self
    switch request {
    case .announce, .order(.setUp(.addServer)): client.timeout = Self.visitTimeout
    default: break
    }
    switch try client.outcome(of: request, rooms) {
    case .done(let answer)?: return answer
    case .access?, .pairing?, .library?, .refused?: throw Self.misunderstood
    case nil: return nil
    }
  }

  /// Asks a daemon about access to its page. Returns nil if no daemon runs.
  func ask(_ request: AccessRequest) throws -> AccessAnswer? {
    switch try outcome(of: .access(request: request)) {
    case .access(let answer)?: return answer
    case .done?, .pairing?, .library?, .refused?: throw Self.misunderstood
    case nil: return nil
    }
  }

  /// Asks a daemon about the rooms that it is paired with; it may visit one meanwhile. Returns nil if no daemon runs.
  func ask(_ request: PairingRequest) throws -> PairingAnswer? {
    var visitor = self
    visitor.timeout = Self.visitTimeout
    switch try visitor.outcome(of: .pairing(request: request)) {
    case .pairing(let answer)?: return answer
    case .done?, .access?, .library?, .refused?: throw Self.misunderstood
    case nil: return nil
    }
  }

  /// Asks a daemon about its library. Returns nil if no daemon runs.
  func askLibrary(_ request: LibraryRequest) throws -> LibraryAnswer? {
    var client = self
    switch request {
    case .subscribe, .check, .foundServers: client.timeout = Self.visitTimeout
    default: break
    }
    switch try client.outcome(of: .library(request: request)) {
    case .library(let answer)?: return answer
    case .done?, .access?, .pairing?, .refused?: throw Self.misunderstood
    case nil: return nil
    }
  }

  private static let misunderstood = Failure(
    .unavailable, "the player's answer was not understood; is it of another version?")

  private func outcome(
    of request: ControlRequest, _ rooms: [RoomRecord]? = nil
  ) throws -> ControlReply.Outcome? {
    let call = ControlCall(id: 1, group: group, request, rooms: rooms)
    let reactor = try Reactor()
    let connection = reactor.connect(toPath: place.path)
    var line: [UInt8] = []
    let began = HostClock.now
    var speaksAt: LocalTime? = isQuiet ? nil : began + Self.silence
    while HostClock.now < began + timeout {
      if let time = speaksAt, time <= HostClock.now {
        printError("tutti: waiting for the player's answer")
        speaksAt = nil
      }
      for event in try reactor.wait(until: speaksAt ?? began + timeout) {
        switch event {
        case .connected:
          reactor.send(JSON.line(call), on: connection)
        case .connectFailed(_, let error):
          try failed(error)
          return nil
        case .received(_, let bytes):
          line += bytes
          if line.last == UInt8(ascii: "\n") { return try answer(to: call, in: line) }
        case .closed:
          // A daemon that ends closes the connection without an answer.
          if case .end = request { return .done(answer: .ended) }
          throw Failure(.unavailable, "the player ended before it answered")
        default: break
        }
      }
    }
    throw Failure(
      .unavailable, "the player did not answer within \(timeout.count / 1_000_000_000) s")
  }

  /// Throws if there is a player that this user may not command.
  private func failed(_ error: IOError) throws {
    if let advice = place.advice { throw Failure(.unavailable, advice) }
    guard error.code == EACCES else { return }
    throw Failure(
      .unavailable, "\(place.path) belongs to another user: run this as that user, or with sudo")
  }

  func ask(
    _ request: ControlRequest, rooms: [RoomRecord]? = nil
  ) throws -> ControlAnswer {
    guard let answer = try askIfRunning(request, rooms: rooms) else {
      throw Failure(.unavailable, "nothing is playing; begin with: tutti play FILE")
    }
    if answer.household?.follows == true { throw Refusal.unavailable(answer.done ?? "") }
    return answer
  }

  private func answer(to call: ControlCall, in line: [UInt8]) throws -> ControlReply.Outcome {
    guard let reply = try? JSON.decode(ControlReply.self, from: line) else {
      throw Self.misunderstood
    }
    if case .refused(let error) = reply.outcome { throw error }
    guard reply.id == call.id else {
      throw Failure(.internalError, "the player answered another command")
    }
    return reply.outcome
  }
}
