import AvahiDiscovery
import Clock
import LinuxIO
import Logging
import Receiver
import ReceiverDriver
import Synchronization
import WireProtocol

/// Writes the receiver's events to the log: constant messages, with values and their units beside them. It
/// can be called from any thread.
final class ReceiverLog: ReceiverJournal {
  private let logger: Logger
  private let throttle = Mutex(LogThrottle())

  init(level: Logger.Level) {
    var logger = Logger(label: "tutti-receiver") { _ in LineLogHandler() }
    logger.logLevel = level
    self.logger = logger
  }

  func notice(_ what: StaticString, _ detail: String) {
    write(.notice, what, ["detail": "\(detail)"])
  }

  func warning(_ what: StaticString, _ detail: String) {
    write(.warning, what, ["detail": "\(detail)"])
  }

  private func write(
    _ level: Logger.Level, _ what: StaticString, _ values: Logger.Metadata = [:]
  ) {
    guard level >= logger.logLevel else { return }
    var values = values
    if level > .debug {
      let leftOut = throttle.withLock { $0.admit("\(what)", at: HostClock.now) }
      guard let leftOut else { return }
      if leftOut > 0 { values["left_out_before"] = "\(leftOut)" }
    }
    logger.log(level: level, "\(what)", metadata: values)
  }

  func twin(_ service: DiscoveredService) {
    write(
      .warning, "another receiver has this one's identity, so senders see only one of the two",
      [
        "detail":
          "remove receiver-key.pem from the state directory of one of them, and start it again",
        "name": "\(service.name)", "host": "\(service.hostName)", "port": "\(service.port)",
      ])
  }

  func write(_ event: ServicePublisher.Event) {
    switch event {
    case .daemonAppeared: write(.info, "Avahi is there")
    case .daemonVanished(let reason):
      write(
        .warning, "Avahi is not there, so this room is not found by name until it is",
        ["detail": "\(reason)"])
    case .published(let name): write(.notice, "announced", ["detail": "\(name)"])
    case .renamed(let from, let to):
      write(
        .warning, "another receiver has this name", ["name": "\(from)", "announced_as": "\(to)"])
    case .failed(let error): write(.warning, "not announced", ["detail": "\(error)"])
    }
  }

  func write(_ event: ReceiverEvent) {
    switch event {
    case .senderConnected(let name, let peer):
      write(.notice, "sender connected", ["detail": "\(name)", "peer": "\(peer)"])
    case .senderGone(let name, let reason):
      write(.notice, "sender gone", ["detail": "\(reason)", "sender": "\(name)"])
    case .senderRefused(let peer, let reason):
      write(.warning, "sender refused", ["detail": "\(reason)", "peer": "\(peer)"])
    case .paired(let name, let peer):
      write(.notice, "paired", ["detail": "\(name)", "peer": "\(peer)"])
    case .pairingFailed(let peer, let reason):
      write(.warning, "pairing failed", ["detail": "\(reason)", "peer": "\(peer)"])
    case .unpaired(let name): write(.notice, "unpaired", ["detail": "\(name)"])
    case .saysPIN(let peer): write(.notice, "says its PIN aloud", ["peer": "\(peer)"])
    case .keptSilent(let peer, let reason):
      write(.warning, "does not say its PIN", ["detail": "\(reason)", "peer": "\(peer)"])
    case .playing: write(.notice, "playing")
    case .paused: write(.notice, "paused")
    case .starved: write(.warning, "nothing to play: the sender does not deliver")
    case .finished: write(.notice, "finished")
    case .clockLocked(let bound):
      write(.notice, "clock locked", ["error_bound_us": "\(bound.microseconds)"])
    case .clockStepped: write(.warning, "the sender's clock jumped")
    case .clockLost: write(.warning, "the sender's clock is not known any more")
    case .deviceOpened(let rate, let channels):
      write(.info, "device opened", ["rate_hz": "\(rate)", "channels": "\(channels)"])
    case .deviceLost(let reason): write(.warning, "no sound device", ["detail": "\(reason)"])
    case .flushed(let time, let generation):
      write(
        .info, "flushed",
        ["from_s": "\(time.flicks / 705_600_000)", "generation": "\(generation)"])
    case .underrun(let total):
      write(.warning, "the sound device ran dry", ["total": "\(total)"])
    case .packetLate(let by, let total):
      write(.debug, "packet late", ["late_ms": "\(by.seconds * 1000)", "total": "\(total)"])
    case .codecWithdrawn(let codec, let reason):
      write(
        .warning, "a codec cannot be decoded, so the sender is asked for others",
        ["codec": "\(codec)", "detail": "\(reason)"])
    case .figures(let figures): write(.notice, "figures", figures.values)
    case .worse(let faults, let status):
      write(
        .warning, "the room got worse",
        ["detail": "\(faults.cause(in: status).sentence)"]
          .merging(faults.values) { first, _ in first }
          .merging(status.values) { first, _ in first })
    case .wellAgain(let after, let faults):
      write(
        .notice, "the room is well again",
        ["after_s": "\(after.seconds.inTenths)"].merging(faults.values) { first, _ in first })
    case .packetCorrupt(let reason, let total):
      write(.warning, "packet corrupt", ["detail": "\(reason)", "total": "\(total)"])
    }
  }
}

extension RoomFaults.Cause {
  fileprivate var sentence: String {
    switch self {
    case .busyMachine: "this machine did not feed its sound device in time: it is too busy"
    case .undecodable: "packets cannot be decoded"
    case .slowDelivery: "packets come too late: the network is too slow, or the sender"
    case .leftOut: "the sender left packets out, as they would have come too late"
    case .slowDecoding: "this machine is too busy to decode what it has"
    case .noDelivery: "the sender does not deliver"
    case .outOfStep: "the room is out of step, and catches up"
    }
  }
}

extension RoomFigures {
  fileprivate var values: Logger.Metadata {
    var values = well
    if ignored.forged > 0 { values["forged_datagrams"] = "\(ignored.forged)" }
    if ignored.skipped > 0 { values["skipped_messages"] = "\(ignored.skipped)" }
    return values.merging(faults.values) { first, _ in first }
  }

  private var well: Logger.Metadata {
    [
      "for_s": "\(time.seconds.inTenths)",
      "sync_p50_us": "\(syncError.median.microseconds.inTenths)",
      "sync_p99_us": "\(syncError.p99.microseconds.inTenths)",
      "sync_max_us": "\(syncError.maximum.microseconds.inTenths)",
      "least_buffered_s": "\(leastBuffered.seconds.inTenths)",
      "round_trip_ms": "\((roundTrip.seconds * 1000).inTenths)",
      "clock_ppm": "\((Double(clockDrift) / 1000).inTenths)",
      "card_ppm": "\((Double(deviceDrift) / 1000).inTenths)",
    ]
  }
}

extension RoomFaults {
  /// Leaves out counts that are zero.
  fileprivate var values: Logger.Metadata {
    let counts = ["late": late, "lost": lost, "corrupt": corrupt, "underruns": underruns]
    var values = counts.filter { $0.value > 0 }.mapValues { Logger.MetadataValue("\($0)") }
    if worstLateness > .zero {
      values["worst_late_ms"] = "\((worstLateness.seconds * 1000).inTenths)"
    }
    return values
  }
}

extension RoomStatus {
  fileprivate var values: Logger.Metadata {
    [
      "sync_us": "\(syncError.now.microseconds.inTenths)",
      "buffered_s": "\(max(.zero, bufferedUntil - playhead).seconds.inTenths)",
      "round_trip_ms": "\((roundTrip.seconds * 1000).inTenths)",
    ]
  }
}

extension Double {
  fileprivate var inTenths: Double { (self * 10).rounded() / 10 }
}
