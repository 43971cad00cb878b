import Clock
import Output
import Synchronization
import Testing

private final class Counter: Sendable {
  let count = Atomic<Int>(0)
}

@Suite struct OutputControlTests {
  @Test func `events arrive in order, each with a wake-up`() {
    let wakes = Counter()
    let control = OutputControl { wakes.count.add(1, ordering: .relaxed) }
    let events: [OutputEvent] = [
      .opened, .unavailable, .lost(code: -19), .underrun, .suspended, .ended,
    ]
    for _ in 0..<50 {
      for event in events { control.post(event) }
      for event in events { #expect(control.takeEvent() == event) }
      #expect(control.takeEvent() == nil)
    }
    #expect(wakes.count.load(ordering: .relaxed) == 300)
    #expect(control.underruns == 50)
  }

  @Test func `a rest ends with a call, and one call ends one rest`() {
    let control = OutputControl {}
    for _ in 0..<3 { control.call() }
    #expect(control.rest(for: .seconds(3600)))
    #expect(!control.rest(for: .microseconds(10)))
    control.stop()
    #expect(control.rest(for: .seconds(3600)))
  }

  @Test func `events that do not fit are counted, and the oldest are kept`() {
    let control = OutputControl {}
    control.post(.opened)
    for _ in 0..<70 { control.post(.underrun) }
    #expect(control.droppedEvents == 7)
    #expect(control.underruns == 70)
    #expect(control.takeEvent() == .opened)
    control.post(.ended)
    for _ in 0..<63 { #expect(control.takeEvent() == .underrun) }
    #expect(control.takeEvent() == .ended)
    #expect(control.takeEvent() == nil)
  }

  @Test func `a failure is told once until something else happens`() {
    let control = OutputControl {}
    for reason in ["a", "a", "b"] { control.postFailure(reason, .unavailable) }
    #expect(control.takeEvent() == .unavailable)
    #expect(control.takeEvent() == .unavailable)
    #expect(control.takeEvent() == nil)
    #expect(control.failure == "b")
  }
}
