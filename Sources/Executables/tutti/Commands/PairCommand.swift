import ArgumentParser
import Clock
import Driver
import Glibc
import House
import LinuxIO
import Pairing
import Sender
import Service
import WireProtocol

import enum House.Refusal

struct PairCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "pair",
    abstract: "Pairs this machine with a room, once, so that it may play there.",
    discussion: """
      To see the PIN, run this on the room's machine: tutti-receiver pin
      While nobody is paired with the room, it can also say its PIN: --say-pin

      Examples:
        tutti pair Kitchen                        asks for the PIN
        tutti pair Kitchen --say-pin              the room says its PIN; asks for it
        tutti pair Kitchen --pin '1234 5671'
        tutti pair --at 192.168.1.20:7770         without discovery
      """)
  @Argument(help: "Name of the room.", completion: RoomCompletion.kind)
  var room: String?
  @Option(help: .init("The address of a receiver, instead of its name.", valueName: "host:port"))
  var at: String?
  @Option(help: .init("The PIN, for scripts.", valueName: "PIN"))
  var pin: String?
  @Flag(help: "Let the room say its PIN aloud.")
  var sayPin = false
  @OptionGroup var common: PlaceOptions

  func run() throws {
    try reporting {
      let state = try StateDirectory(common.stateDir)
      let room = try PairedRoom(room, at: at, state)
      if sayPin { try room.sayPIN(state) }
      let isInteractive = pin == nil && isatty(STDIN_FILENO) == 1 && !common.json
      let pairing = try room.pair(with: pin, isInteractive: isInteractive, state)
      if common.json { return try printJSON(PairingAnswer(pairing)) }
      try printLine("\(pairing.name.shownPlainly): paired with this machine")
    }
  }
}

struct UnpairCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "unpair", abstract: "Ends the pairing with a room, on both machines.",
    discussion: """
      Examples:
        tutti unpair Kitchen
        tutti unpair --at 192.168.1.20:7770
      """)
  @Argument(help: "Name of the room.", completion: RoomCompletion.kind)
  var room: String?
  @Option(help: .init("The address of a receiver, instead of its name.", valueName: "host:port"))
  var at: String?
  @OptionGroup var common: PlaceOptions

  func run() throws {
    try reporting {
      let state = try StateDirectory(common.stateDir)
      let known = try room.map { try state.trust.paired().matches($0) } ?? []
      let (name, obstacle) = try forget(known, state)
      try state.trust.forget(known)
      guard let obstacle else {
        return try printLine("\(name): not paired with this machine any more")
      }
      guard !known.isEmpty else { throw Failure(.unavailable, "\(name): \(obstacle)") }
      throw Failure(
        .unavailable,
        "\(name): forgotten here, but it could not be told (\(obstacle)); there, run: tutti-receiver unpair "
          + HostName.current.asShellWord)
    }
  }

  /// Asks the room to forget this machine. Returns the room's name and, if it could not be asked, the
  /// reason.
  private func forget(
    _ known: [Pairings.Pairing], _ state: StateDirectory
  ) throws -> (name: String, obstacle: String?) {
    let called = known.first?.name ?? room ?? at ?? ""
    guard known.count < 2 else {
      let ids = known.map { String($0.id.hex.prefix(8)) }.joined(separator: ", ")
      throw Failure(.usage, "\(known.count) rooms are called \(called); say which: \(ids)")
    }
    do {
      let target = try PairedRoom(known.first?.id.hex ?? room, at: at, state)
      let report = try state.trust.visit(.unpair, target.room)
      return (known.first?.name ?? target.room.name, report.obstacle)
    } catch let failure as Failure where failure.kind == .unavailable && !known.isEmpty {
      return (called, failure.description)
    } catch let error as Refusal where !known.isEmpty {
      return (called, error.description)
    }
  }
}

/// The output of `tutti pair --json`.
private struct PairingAnswer: Encodable {
  let id: String
  let room: String

  init(_ pairing: Pairings.Pairing) { (id, room) = (pairing.id.hex, pairing.name) }
}

/// A room that this machine is paired with, or is to be paired with.
struct PairedRoom {
  let room: PairingRoom

  /// - Parameters:
  ///   - room: a name, or an address if nobody has that name.
  ///   - at: an address, instead of `room`.
  init(_ room: String?, at: String?, _ state: StateDirectory) throws {
    guard (room == nil) != (at == nil) else {
      throw Failure(.usage, "name one room, or its address with --at host:port")
    }
    if let room, at == nil, !Self.isAddress(room) {
      let search = try ReceiverSearch(state: state, paired: state.trust.paired())
      let record = try search.records(named: [room]).first
      guard let record else { throw Failure(.unavailable, "no room called \(room)") }
      self.room = PairingRoom(name: record.name, place: .record(record))
    } else {
      let name = at ?? room ?? ""
      let (host, port) = try RoomWish.address(name)
      // A host that is not there is told before a PIN is asked for.
      do throws(HostResolver.Failure) {
        _ = try HostResolver.resolve(host: host, port: port)
      } catch {
        throw Failure(.unavailable, "\(error)")
      }
      self.room = PairingRoom(name: name, place: .address(host: host, port: port))
    }
  }

  /// True if the text is an address: `tutti play` uses the address as the name of a room that was given
  /// by one.
  private static func isAddress(_ room: String) -> Bool {
    guard let colon = room.lastIndex(of: ":") else { return false }
    return UInt16(room[room.index(after: colon)...]) != nil
  }

  /// Offers to pair with this room, while `tutti play` can do nothing but wait for it.
  static func offer(_ room: String, _ state: StateDirectory) throws {
    // The player has blocked these signals. While a PIN is typed, they end the program as usual.
    var signals = sigset_t()
    sigemptyset(&signals)
    for signal in [SIGINT, SIGTERM, SIGHUP] { sigaddset(&signals, signal) }
    pthread_sigmask(SIG_UNBLOCK, &signals, nil)
    printError("Pair this machine with it now? Ctrl-C ends.")
    let address = isAddress(room) ? room : nil
    let target = try PairedRoom(address == nil ? room : nil, at: address, state)
    _ = try target.pair(with: nil, isInteractive: true, state)
  }

  /// Lets the room say its PIN aloud.
  func sayPIN(_ state: StateDirectory) throws {
    let name = room.name.shownPlainly
    if let obstacle = try state.trust.visit(.sayPIN, room).obstacle {
      throw Failure(.unavailable, "\(name): \(obstacle)")
    }
    printError("\(name) says its PIN now, twice.")
  }

  /// Asks for the PIN until it is right, or tries the one that is given, and has the pairing remembered.
  func pair(
    with pin: String?, isInteractive: Bool, _ state: StateDirectory
  ) throws -> Pairings.Pairing {
    let dialogue = PairingDialogue(room: room.name.shownPlainly, isInteractive: isInteractive)
    return try PINPrompt.run(dialogue, with: pin) { try state.trust.visit(.pair($0), room) }
  }
}

enum PINPrompt {
  /// Asks for a PIN until it is right, or tries the one that is given. Returns who has taken it.
  static func run(
    _ dialogue: PairingDialogue, with pin: String?, attempt: (PIN) throws -> PairingReport
  ) throws -> Pairings.Pairing {
    // Programs that a shell script starts in the background ignore SIGINT, but the prompt promises that
    // Ctrl-C ends this one.
    if dialogue.isInteractive { signal(SIGINT, SIG_DFL) }
    var dialogue = dialogue
    var step = dialogue.begin(with: pin)
    while true {
      switch step {
      case .ask(let line):
        if let line { printError(line) }
        step = dialogue.typed(ask(dialogue.room))
      case .attempt(let pin):
        step = dialogue.ended(try attempt(pin))
      case .wait(let time):
        Countdown.show(time) { "Too many wrong PINs: this one is tried in \($0) s (Ctrl-C ends)" }
        step = dialogue.waited()
      case .paired(let id, let name):
        return Pairings.Pairing(id: id, name: name)
      case .failed(let error): throw error
      }
    }
  }

  /// Echoes the digits: the receiver shows them as well.
  private static func ask(_ room: String) -> String? {
    printPrompt("PIN of \(room), eight digits like 1234 5671: ")
    return readLine()
  }
}

/// Counts seconds down in one line if standard error is a terminal; otherwise prints the line once.
enum Countdown {
  static func show(_ time: Nanoseconds, _ line: (Int) -> String) {
    let end = HostClock.now + time
    let canMove = TerminalText.canMove(on: STDERR_FILENO)
    var last = -1
    while case let left = end - HostClock.now, left > .zero {
      let seconds = Int((left.seconds).rounded(.up))
      if seconds != last, canMove || last < 0 {
        printPrompt((canMove ? "\r\u{1B}[K" : "") + line(seconds) + (canMove ? "" : "\n"))
        last = seconds
      }
      poll(nil, 0, Int32(clamping: min(left.count, 200_000_000) / 1_000_000 + 1))
    }
    if canMove { printPrompt("\r\u{1B}[K") }
  }
}
