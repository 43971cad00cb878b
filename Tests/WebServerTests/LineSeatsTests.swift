import Testing

@testable import WebServer

@Suite struct LineSeatsTests {
  @Test func `a host has no more places for having many addresses`() {
    let seats = LineSeats()
    for number in 0..<LineServerLimits.connectionsOfOneAddress {
      #expect(seats.take("2001:db8:0:1::\(String(number, radix: 16))"))
    }
    #expect(!seats.take("2001:db8:0:1::ffff"))
    #expect(seats.take("2001:db8:0:2::1"))
    seats.leave("2001:db8:0:1::0")
    #expect(seats.take("2001:db8:0:1::ffff"))
  }
}
