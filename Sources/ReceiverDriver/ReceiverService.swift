import ALSAOutput
import Clock
import LinuxIO
import OpenSSLSecurity
import Pairing
import Receiver
import WireProtocol

/// A receiver as a program: a driver on sockets of this machine, announced with Avahi, with its state on disk.
package final class ReceiverService {
  /// The receiver's port and state directory.
  package struct Place: Sendable {
    /// TCP port; 0 for any.
    package var port: UInt16
    package var isAnnounced: Bool
    /// Nil for the usual directory.
    package var stateDirectory: String?
    package var volumes: ReceiverVolumes

    package init(
      port: UInt16, isAnnounced: Bool, stateDirectory: String?, volumes: ReceiverVolumes
    ) {
      self.port = port
      self.isAnnounced = isAnnounced
      self.stateDirectory = stateDirectory
      self.volumes = volumes
    }
  }

  private let reactor: Reactor
  private let driver: ReceiverDriver
  private let store: ReceiverStore
  /// Nil if the receiver is not announced.
  private let presence: ReceiverPresence?

  package init(
    _ settings: ReceiverSettings, at place: Place, _ journal: any ReceiverJournal
  ) throws {
    let state = try ReceiverState(place.stateDirectory)
    ALSALibrary.configure()
    reactor = try Reactor()
    try reactor.watch(signals: [.interrupt, .terminate])
    let security = try TLSContext(try state.identityKey(journal))
    let lines = try NetworkLines(on: reactor, port: place.port, security, journal)
    if let error = lockMemory() { journal.notice("memory is not locked", "\(error)") }
    let store = try ReceiverStore(state, security, place.volumes, journal, on: reactor)
    driver = try ReceiverDriver(
      settings, store.identity, lines: lines, waker: reactor.waker, journal,
      readPIN: store.readPIN)
    journal.notice("listening", "\(settings.name) on port \(lines.port)")
    let presence =
      try place.isAnnounced
      ? ReceiverPresence(.init(settings, security.identifier), port: lines.port, journal) : nil
    (self.store, self.presence) = (store, presence)
    driver.onOutput = { output in
      store.perform(output)
      presence?.perform(output)
    }
    if settings.access == .paired, let pin = store.pin { journal.tell(pin, of: settings.name) }
    settings.output.lookForDevice(journal)
  }

  /// Runs until a signal stops the program, or until the output ends for good.
  package func run() throws {
    var isStopping = false
    while !isStopping, driver.ending == nil {
      let deadline = LocalTime?.earliest([driver.nextDeadline, store.deadline, presence?.deadline])
      for event in try reactor.wait(until: deadline) {
        if case .signal = event { isStopping = true }
        store.handle(event)
        driver.handle(event)
      }
      for input in store.takeInputs() { driver.handle(input) }
      driver.turn()
      store.catchUp(at: HostClock.now)
      presence?.catchUp(at: HostClock.now)
    }
    driver.end()
    store.finish()
    if let reason = driver.ending {
      throw StartFailure(description: "\(reason); what was recorded is complete", code: 74)
    }
  }
}

extension ReceiverAdvertisement {
  fileprivate init(_ settings: ReceiverSettings, _ id: Identifier) {
    self.init(
      id: id, name: settings.name, model: settings.model, version: ProtocolVersion.newest,
      codecs: Decoders.available(), state: .free,
      access: settings.access == .open ? .open : .paired)
  }
}

extension ReceiverJournal {
  fileprivate func tell(_ pin: PIN, of name: String) {
    notice(
      "nobody is paired yet", "PIN \(pin.written); on a sender: tutti pair \(name.asShellWord)")
  }
}

extension ReceiverSettings.Output {
  /// Tries the device at the start, so that a wrong name is not only noticed when music begins. Uses a thread of its
  /// own, because a sound server may hang.
  fileprivate func lookForDevice(_ journal: any ReceiverJournal) {
    guard case .soundCard(let settings, _) = self else { return }
    let thread = try? RealtimeThread.start(name: "device check", priority: nil) {
      guard let error = ALSALibrary.obstacle(toOpening: settings.device) else { return }
      journal.warning(
        "no sound device", "\(error); it is tried again when there is something to play")
    }
    if let thread { thread.detach() }
  }
}
