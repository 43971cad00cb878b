import AvahiDiscovery
import Clock
import WireProtocol

/// The search for receivers, which is restarted after a failure.
struct RoomSearch {
  /// Time from a failure to the next attempt.
  private static let retryDelay = Nanoseconds.seconds(10)

  private var browser: ServiceBrowser?
  /// Time of the next start or restart; nil if there is no need for one.
  private(set) var deadline: LocalTime?
  private var hasWarned = false

  mutating func begin(at now: LocalTime) {
    if browser == nil, deadline == nil { deadline = now }
  }

  mutating func failed(at now: LocalTime) { deadline = now + Self.retryDelay }

  func isDue(at now: LocalTime) -> Bool { deadline.map { $0 <= now } ?? false }

  mutating func start(
    at now: LocalTime, _ onEvent: @escaping @Sendable (ServiceBrowser.Event) -> Void
  ) {
    browser = nil
    browser = try? ServiceBrowser(
      type: ReceiverAdvertisement.serviceType, identifierKey: "id", onEvent: onEvent)
    deadline = browser == nil ? now + Self.retryDelay : nil
  }

  mutating func end() {
    browser = nil
    deadline = nil
  }

  mutating func isCrowded(_ warn: (String) -> Void) {
    guard !hasWarned else { return }
    hasWarned = true
    warn("too many receivers are announced to play in all of them; name rooms with --on")
  }
}
