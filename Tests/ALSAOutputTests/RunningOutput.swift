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

  /// Waits for the next event of any kind.
  func nextEvent() -> OutputEvent? {
    events.wait()
    return control.takeEvent()
  }

  /// Waits for `event`. Skips earlier ones, such as underruns, which a busy machine may cause at any
  /// time.
  func wait(for event: OutputEvent) {
    while nextEvent() != event {}
  }

  func stop() {
    control.stop()
    ended.wait()
  }
}
