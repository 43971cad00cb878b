import Diagnosis
import LinuxIO
import Testing

@testable import Doctor

/// A look at a port of this machine.
@Suite struct PortLookTests {
  @Test func `a port answers while somebody listens there, and says why if nobody does`() throws {
    let port: UInt16
    do {
      let reactor = try Reactor()
      let listener = try reactor.listen(on: .loopback(port: 0))
      port = try #require(reactor.localAddress(of: listener)).port
      #expect(ReceiverFacts.Port.look(at: port) == .answers(port))
    }
    guard case .failed(port, let reason) = ReceiverFacts.Port.look(at: port) else {
      Issue.record("the port still answers")
      return
    }
    #expect(reason.contains("refused"))
  }
}
