import ALSAOutput
import Clock
import Dispatch
import Foundation
import Output
import OutputTestSupport

/// An output thread that plays a ramp. A test must end it with `stop`.
final class RunningOutput {
  let script = RampScript()
  let control: OutputControl
  private let events = DispatchSemaphore(value: 0)
  private let ended = DispatchSemaphore(value: 0)

  init(_ settings: OutputSettings) {
    control = OutputControl { [events] in _ = events.signal() }
    let thread = Thread { [script, control, ended] in
      OutputThread(settings, control: control, clock: monotonicTime) { _ in RampSource(script) }
        .run()
      ended.signal()
    }
    thread.start()
  }

  /// Waits for the next event, whatever it is.
  func nextEvent() -> OutputEvent? {
    events.wait()
    return control.takeEvent()
  }

  /// Waits for `event`. Those before it are left out: underruns, which a busy machine makes at any time.
  func wait(for event: OutputEvent) {
    while nextEvent() != event {}
  }

  func stop() {
    control.stop()
    ended.wait()
  }
}
