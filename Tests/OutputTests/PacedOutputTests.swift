import Clock
import Dispatch
import Foundation
import Output
import OutputTestSupport
import Testing

/// Runs a paced output until `frames` have been rendered, and then calls `meanwhile`.
private func play(
  _ choice: SinkChoice, until frames: Int64,
  meanwhile: (RampScript) -> Void = { _ in }
) -> (control: OutputControl, script: RampScript) {
  let script = RampScript()
  let control = OutputControl {}
  let ended = DispatchSemaphore(value: 0)
  Thread {
    PacedOutput(choice, lead: .milliseconds(150), control: control, clock: monotonicTime) {
      _ in RampSource(script)
    }
    .run()
    ended.signal()
  }.start()
  script.waitUntilRendered(frames)
  meanwhile(script)
  control.stop()
  ended.wait()
  return (control, script)
}

@Suite(.timeLimit(.minutes(10))) struct PacedOutputTests {
  @Test func `a WAV file gets each frame once and in order`() throws {
    let file = try TemporaryFile()
    _ = play(.wave(path: file.path), until: 12_000)
    let left = try file.wave().samples(as: Float.self).enumerated().filter { $0.offset % 2 == 0 }
    #expect(left.count > 4000)
    #expect(left.map { Int($0.element * 0x1p23) }.elementsEqual(0..<left.count))
  }

  @Test func `what is rendered again replaces what was not heard yet`() throws {
    let file = try TemporaryFile()
    let (control, script) = play(.wave(path: file.path), until: 12_000) {
      script in
      script.renderAgain(from: 0)
      script.waitUntilRendered(script.rendered + 12_000)
    }
    let samples = try file.wave().samples(as: Float.self)
    let first = try #require(script.rewound)
    let versions = stride(from: 1, to: samples.count, by: 2).map { samples[$0] }
    #expect(versions.firstIndex { $0 != 0 } == Int(first))
    #expect(versions[Int(first)...].allSatisfy { $0 == -1 / 128 })
    #expect(control.failure == nil)
  }

  @Test func `positions are exact`() {
    let (_, script) = play(.nowhere, until: 12_000)
    let seen = script.observations
    #expect(seen.count > 3)
    for observation in seen {
      #expect(observation.uncertainty == .zero)
      let elapsed = observation.time - seen[0].time
      let frames = observation.frame.index - seen[0].frame.index
      #expect(abs(elapsed.seconds * 48_000 - Double(frames)) < 0.001)
    }
  }

  @Test func `a path that cannot be written ends the output with a reason`() {
    let control = OutputControl {}
    PacedOutput(
      .wave(path: "/no/such/directory/a.wav"), lead: .milliseconds(150),
      control: control,
      clock: monotonicTime
    ) { _ in RampSource(RampScript()) }.run()
    #expect(control.takeEvent() == .ended)
    #expect(control.failure == "cannot write /no/such/directory/a.wav: No such file or directory")
  }

  @Test func `a full disk ends the output with a reason`() {
    let control = OutputControl {}
    PacedOutput(
      .wave(path: "/dev/full"), lead: .milliseconds(150), control: control,
      clock: monotonicTime
    ) { _ in RampSource(RampScript()) }.run()
    #expect(control.takeEvent() == .ended)
    #expect(control.failure == "cannot write /dev/full: No space left on device")
  }
}
