package import AvahiDiscovery
package import Receiver

/// Takes messages for people about a receiver, from any thread. The program writes them to a log.
package protocol ReceiverJournal: Sendable {
  func notice(_ what: StaticString, _ detail: String)
  func warning(_ what: StaticString, _ detail: String)
  func write(_ event: ReceiverEvent)
  func write(_ event: ServicePublisher.Event)
  /// Reports a service that has this receiver's identity but is not this receiver.
  func twin(_ service: DiscoveredService)
}

/// The reason why a receiver cannot start, as one line, with the program's exit code.
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
