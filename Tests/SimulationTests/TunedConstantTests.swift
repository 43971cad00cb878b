import Clock
import Receiver
import Simulation
import Testing

@Suite struct TunedConstantTests {
  @Test func `every constant of clock and steering can be scanned`() {
    let fields = [Mirror(reflecting: ClockTuning()), Mirror(reflecting: SteeringTuning())]
      .flatMap { $0.children.compactMap(\.label) }
    #expect(TunedConstant.all.map(\.name).sorted() == fields.sorted())
  }

  @Test(arguments: TunedConstant.all)
  func `another value changes that constant and nothing else`(constant: TunedConstant) {
    let house = SimulatedGroup.Configuration.house([.wired], seed: 1)
    for value in constant.others {
      #expect(constant.range.contains(value))
      let other = constant.applied(value, to: house)
      let back = constant.applied(constant.usual, to: other)
      #expect(
        other.clockTuning != house.clockTuning || other.steeringTuning != house.steeringTuning)
      #expect(
        back.clockTuning == house.clockTuning && back.steeringTuning == house.steeringTuning)
    }
  }

  @Test(arguments: TunedConstant.all)
  func `every value that a scan tries can be played`(constant: TunedConstant) {
    var house = SimulatedGroup.Configuration.house([.wired, .wifi], seed: 1)
    house.isExact = false
    for value in constant.others {
      let group = SimulatedGroup(constant.applied(value, to: house))
      group.run(until: 8)
      group.expectSounding(from: 4, to: 8)
    }
  }
}
