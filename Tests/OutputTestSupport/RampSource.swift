package import Clock
import Dispatch
import Glibc
import Output
import Synchronization

/// A source whose left channel contains the number of the device frame (`index` / 2^23), and whose
/// right channel contains how often it has been told to render again (−`version` / 128); exact in 24
/// bits.
package struct RampSource: RenderSource, ~Copyable {
  package let script: RampScript
  private var next: Int64 = 0
  private var version: Float = 0

  package init(_ script: RampScript) { self.script = script }

  package mutating func takeCommands(at now: LocalTime) -> DeviceFrame? {
    guard let frame = script.takeWrongFrame() else { return nil }
    version += 1
    return DeviceFrame(frame)
  }

  package func groupTime(at time: LocalTime) -> GroupTime? {
    GroupTime(nanoseconds: time.nanoseconds + 1_000)
  }

  package mutating func rewind(to frame: DeviceFrame) {
    next = frame.index
    script.rewoundTo(next)
  }

  package mutating func observe(_ frame: DeviceFrame, at time: LocalTime, uncertainty: Nanoseconds)
  {
    script.observed(RampScript.Observation(frame: frame, time: time, uncertainty: uncertainty))
  }

  package mutating func deviceRestarted(at frame: DeviceFrame) {
    next = frame.index
    script.rendered(to: next)
  }

  package mutating func render(into out: UnsafeMutablePointer<Float>, frames: Int) {
    for i in 0..<frames {
      out[2 * i] = Float(next + Int64(i)) * 0x1p-23
      out[2 * i + 1] = -version / 128
    }
    next += Int64(frames)
    script.rendered(to: next)
  }
}

/// State that a test shares with its `RampSource`.
package final class RampScript: Sendable {
  package struct Observation {
    package var frame: DeviceFrame
    package var time: LocalTime
    package var uncertainty: Nanoseconds
  }

  private struct State {
    var wrongFrame: Int64?
    var rewoundTo: Int64?
    package var heardAtRewind: Int64?
    package var rendered: Int64 = 0
    var awaited = Int64.max
    package var observations: [Observation] = []
  }
  private let state = Mutex(State())
  private let reached = DispatchSemaphore(value: 0)

  package init() {}

  /// Makes the source report that it must render again from `frame` on.
  package func renderAgain(from frame: Int64) { state.withLock { $0.wrongFrame = frame } }
  /// The frame at which rendering really continued after the last rewind.
  package var rewound: Int64? { state.withLock { $0.rewoundTo } }
  /// The frame that was heard just before the rewind.
  package var heardAtRewind: Int64? { state.withLock { $0.heardAtRewind } }
  package var observations: [Observation] { state.withLock { $0.observations } }
  package var rendered: Int64 { state.withLock { $0.rendered } }

  /// Waits until frames beyond `frame` have been rendered.
  package func waitUntilRendered(_ frame: Int64) {
    let mustWait = state.withLock { state in
      guard state.rendered < frame else { return false }
      state.awaited = frame
      return true
    }
    if mustWait { reached.wait() }
  }

  fileprivate func takeWrongFrame() -> Int64? {
    state.withLock { state in
      defer { state.wrongFrame = nil }
      return state.wrongFrame
    }
  }
  fileprivate func rewoundTo(_ frame: Int64) {
    state.withLock { state in
      state.rewoundTo = frame
      state.heardAtRewind = state.observations.last?.frame.index
    }
  }
  fileprivate func observed(_ observation: Observation) {
    state.withLock { $0.observations.append(observation) }
  }
  fileprivate func rendered(to frame: Int64) {
    let isAwaited = state.withLock { state in
      state.rendered = frame
      guard frame >= state.awaited else { return false }
      state.awaited = .max
      return true
    }
    if isAwaited { reached.signal() }
  }
}

/// CLOCK_MONOTONIC, on which the virtual card runs.
package func monotonicTime() -> LocalTime {
  var now = timespec()
  clock_gettime(CLOCK_MONOTONIC, &now)
  return LocalTime(nanoseconds: Int64(now.tv_sec) * 1_000_000_000 + Int64(now.tv_nsec))
}
