import Clock
import LinuxIO
import OpenSSLSecurity
import Pairing
import Receiver
import WireProtocol

/// A receiver's files: identity, settings, pairings, and the item that plays. Used on the session's thread; other
/// threads write.
final class ReceiverStore {
  /// Minimum time between two writes, because others could make the settings change many times a second.
  private static let restInterval = Nanoseconds.seconds(1)
  /// Milliseconds. The program waits this long for the disk when it ends, so that a disk that hangs cannot hang the
  /// program.
  private static let lastWait: Int32 = 5000

  let identity: ReceiverDriver.Identity
  /// The PIN to show in the log for the person who installs the receiver; nil once a sender is paired.
  let pin: PIN?
  /// Reads the PIN as it is now, on any thread; it blocks.
  let readPIN: @Sendable () -> PIN?
  private let state: ReceiverState
  private let journal: any ReceiverJournal
  private let token: LocalToken
  private let keeper: TrustKeeper
  private let writer: NewestValueThread<ReceiverMemory>
  private var display: NowPlayingDisplay
  private var unsaved: ReceiverMemory?
  private var nextSave = HostClock.now

  init(
    _ state: consuming ReceiverState, _ security: TLSContext, _ volumes: ReceiverVolumes,
    _ journal: any ReceiverJournal, on reactor: Reactor
  ) throws {
    self.journal = journal
    display = try NowPlayingDisplay(directory: state.directory, journal)
    writer = try state.writer(journal)
    let trustFile = TrustFile(directory: state.directory)
    readPIN = { (try? trustFile.read())?.pin }
    let trust = state.trust(trustFile, journal)
    pin = trust.memory.pairings.all.isEmpty ? trust.pin : nil
    keeper = try TrustKeeper(trustFile, holding: trust.memory, journal, on: reactor)
    token = LocalToken.own(security.identifier)
    var identity = ReceiverDriver.Identity(id: security.identifier)
    identity.memory = state.memory(volumes, journal)
    identity.trust = trust.memory
    identity.token = token.made(journal)
    self.identity = identity
    self.state = state
  }

  func perform(_ output: ReceiverSession.Output) {
    switch output {
    case .persist(let memory): unsaved = memory
    case .keepTrust(let trust, let number): keeper.keep(trust, number)
    case .nowPlaying(let item): display.change(to: item)
    default: break
    }
  }

  func handle(_ event: ReactorEvent) { keeper.handle(event) }

  /// Returns news from the disk for the session.
  func takeInputs() -> [ReceiverSession.Input] {
    let kept = keeper.takeKept().map { ReceiverSession.Input.trustKept($0) }
    let changed = keeper.takeChanged().map { ReceiverSession.Input.trustChanged($0) }
    return [kept, changed].compactMap(\.self)
  }

  /// Time at which `catchUp` must be called; nil if nothing has changed.
  var deadline: LocalTime? {
    .earliest([unsaved == nil ? nil : nextSave, display.deadline])
  }

  func catchUp(at now: LocalTime) {
    if unsaved != nil, nextSave <= now {
      nextSave = now + Self.restInterval
      save()
    }
    display.catchUp(at: now)
  }

  private func save() {
    if let memory = unsaved.take() { writer.post(memory) }
  }

  func finish() {
    save()
    display.remove()
    token.remove()
    if !keeper.finish(within: Self.lastWait) || !writer.finish(within: Self.lastWait) {
      journal.warning(
        "settings could not be kept", "\(state.directory): the disk does not answer")
    }
  }
}

extension LocalToken {
  /// The token of the receiver with this identifier.
  fileprivate static func own(_ id: Identifier) -> LocalToken {
    LocalToken(directory: directories[0], name: id.hex)
  }

  /// Renews the token. If that fails, senders of this user must pair like all others.
  fileprivate func made(_ journal: any ReceiverJournal) -> [UInt8]? {
    do throws(IOError) {
      return try renew()
    } catch {
      journal.warning(
        "players of this user on this machine must be paired, like all others", "\(error)")
      return nil
    }
  }
}
