import Testing

@testable import Simulation

@Suite struct RateTraceTests {
  @Test func `a rate that changes steadily is told by how fast it does`() {
    var trace = RateTrace()
    var position = 0.0
    for look in 0..<200 {
      trace.look((frame: Int64(look) * 4800, position: position))
      // 0.2 ppm a second.
      position += 4800 * (1 + 50e-6 + 0.2e-6 * 0.1 * Double(look))
    }
    #expect(abs(trace.change(from: 1, to: 19) - 200) < 1)
  }

  @Test func `an even rate does not change, whatever it is`() {
    var trace = RateTrace()
    for look in 0..<200 {
      trace.look((frame: Int64(look) * 4800, position: Double(look) * 4800 * 1.0003))
    }
    #expect(trace.change(from: 1, to: 19) < 0.1)
  }

  @Test func `one change in a hundred counts by its square`() {
    var trace = RateTrace()
    var position = 0.0
    for look in 0...1001 {
      trace.look((frame: Int64(look) * 4800, position: position))
      // Changes of 0.1 ppm: 1000 ppb a second for a tenth of a second.
      position += 4800 * (1 + 0.1e-6 * Double(look / 100 % 2))
    }
    #expect(abs(trace.change(from: 1, to: 99) - 100) < 5)
  }

  @Test func `silences and jumps of the schedule are no changes`() {
    var trace = RateTrace()
    for look in 0..<200 {
      let jumped = Double(look / 50) * 96_000
      trace.look(
        look % 50 < 10
          ? nil : (frame: Int64(look) * 4800, position: Double(look) * 4800 + jumped))
    }
    #expect(trace.change(from: 0, to: 20) == 0)
    #expect(RateTrace().change(from: 0, to: 20).isNaN)
  }
}
