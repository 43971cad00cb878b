package import AvahiDiscovery
package import Receiver

/// Takes what people may want to read of a receiver, from any thread. The program writes a log.
package protocol ReceiverJournal: Sendable {
  func notice(_ what: StaticString, _ detail: String)
  func warning(_ what: StaticString, _ detail: String)
  func write(_ event: ReceiverEvent)
  func write(_ event: ServicePublisher.Event)
  /// A service with this receiver's identity that is not this receiver.
  func twin(_ service: DiscoveredService)
}

/// Why a receiver cannot start: one line, and the exit code of a program that fails with it.
package struct StartFailure: Error, CustomStringConvertible {
  package let description: String
  package let code: Int32

  package init(description: String, code: Int32) {
    self.description = description
    self.code = code
  }

  package static func usage(_ line: String) -> StartFailure {
    StartFailure(description: line, code: 64)
  }

  package static func unavailable(_ line: String) -> StartFailure {
    StartFailure(description: line, code: 69)
  }
}
