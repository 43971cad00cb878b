import AvahiDiscovery
import Clock
import Logging
import Receiver

/// What happens, for the journal: constant messages, values beside them with their units.
struct ReceiverLog: Sendable {
  private var logger: Logger

  init(level: Logger.Level) {
    logger = Logger(label: "tutti-receiver") { StreamLogHandler.standardError(label: $0) }
    logger.logLevel = level
  }

  func notice(_ what: StaticString, _ detail: String) {
    logger.notice("\(what)", metadata: ["detail": "\(detail)"])
  }

  func warning(_ what: StaticString, _ detail: String) {
    logger.warning("\(what)", metadata: ["detail": "\(detail)"])
  }

  func write(_ event: ServicePublisher.Event) {
    switch event {
    case .daemonAppeared: logger.info("Avahi is there")
    case .daemonVanished(let reason):
      logger.warning(
        "Avahi is not there: rooms are not found by name until it is",
        metadata: ["reason": "\(reason)"])
    case .published(let name): logger.notice("announced", metadata: ["name": "\(name)"])
    case .renamed(let from, let to):
      logger.warning(
        "another receiver has this name", metadata: ["name": "\(from)", "announced_as": "\(to)"])
    case .failed(let error): logger.warning("not announced", metadata: ["reason": "\(error)"])
    }
  }

  func write(_ event: ReceiverEvent) {
    switch event {
    case .senderConnected(let name, let peer):
      logger.notice("sender connected", metadata: ["sender": "\(name)", "peer": "\(peer)"])
    case .senderGone(let name, let reason):
      logger.notice("sender gone", metadata: ["sender": "\(name)", "reason": "\(reason)"])
    case .senderRefused(let peer, let reason):
      logger.warning("sender refused", metadata: ["peer": "\(peer)", "reason": "\(reason)"])
    case .playing: logger.notice("playing")
    case .paused: logger.notice("paused")
    case .starved: logger.warning("nothing to play: the sender does not deliver")
    case .finished: logger.notice("finished")
    case .clockLocked(let bound):
      logger.notice("clock locked", metadata: ["error_bound_us": "\(bound.microseconds)"])
    case .clockStepped: logger.warning("the sender's clock jumped")
    case .clockLost: logger.warning("the sender's clock is not known any more")
    case .deviceOpened(let rate, let channels):
      logger.info("device opened", metadata: ["rate_hz": "\(rate)", "channels": "\(channels)"])
    case .deviceLost(let reason):
      logger.warning("no sound device", metadata: ["reason": "\(reason)"])
    case .flushed(let time, let generation):
      logger.info(
        "flushed",
        metadata: ["from_s": "\(time.flicks / 705_600_000)", "generation": "\(generation)"])
    case .underrun(let total):
      logger.warning("the sound device ran dry", metadata: ["total": "\(total)"])
    case .packetLate(let by, let total):
      logger.debug(
        "packet late", metadata: ["late_ms": "\(by.seconds * 1000)", "total": "\(total)"])
    case .packetCorrupt(let reason, let total):
      logger.warning("packet corrupt", metadata: ["reason": "\(reason)", "total": "\(total)"])
    }
  }
}
