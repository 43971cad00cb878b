package import Clock
package import Output

/// Plays a source through a sound card, and opens the card again whenever it was lost. `run` is the body of the
/// output thread, which should have real-time priority.
package struct OutputThread<Source: RenderSource & ~Copyable>: ~Copyable {
  /// Before a card that was lost is opened again.
  private static var firstPause: Nanoseconds { .milliseconds(200) }
  private static var shortestPause: Nanoseconds { .milliseconds(100) }
  private static var longestPause: Nanoseconds { .seconds(2) }

  private let settings: OutputSettings
  private let control: OutputControl
  private let clock: @Sendable () -> LocalTime
  private let makeSource: (DeviceDescription) -> Source

  /// - Parameters:
  ///   - clock: this host's monotonic clock, CLOCK_MONOTONIC_RAW; read on the output thread.
  ///   - makeSource: called on the output thread before the first sound, and again whenever the device has come
  ///     back: what was on its way to the old one is gone.
  package init(
    _ settings: OutputSettings, control: OutputControl,
    clock: @escaping @Sendable () -> LocalTime,
    makeSource: @escaping (DeviceDescription) -> Source
  ) {
    self.settings = settings
    self.control = control
    self.clock = clock
    self.makeSource = makeSource
  }

  /// Opens the device, plays, opens it again whenever it was lost. Returns when `control` is stopped.
  package func run() {
    guard var loop = openWhenPresent() else { return }
    var device = loop.description
    var source = makeSource(device)
    while true {
      control.postOpened(device)
      switch loop.run(&source) {
      case .stopped: return
      case .lost(let code): control.post(.lost(code: code))
      }
      // The handle must be closed before the device is opened again.
      _ = consume loop
      // A device that opens and fails at once must not keep this thread busy.
      wait(Self.firstPause)
      guard let next = openWhenPresent() else { return }
      loop = next
      device = loop.description
      source = makeSource(device)
    }
  }

  /// Tries until the device can be opened; `nil` once `control` is stopped. It tries the more often the shorter the device
  /// has been away, so that one that comes back is heard after at most a fiftieth of that time, or 0.1 s.
  private func openWhenPresent() -> OutputLoop? {
    let start = clock()
    while !control.isStopping {
      do throws(ALSAError) {
        return try OutputLoop(opening: settings, control: control, clock: clock)
      } catch {
        control.postFailure(error.description, .unavailable)
      }
      let away = clock() - start
      wait(min(max(Nanoseconds(away.count / 50), Self.shortestPause), Self.longestPause))
    }
    return nil
  }

  /// In short steps, so that a stop is obeyed soon.
  private func wait(_ span: Nanoseconds) {
    let step = Nanoseconds.milliseconds(50)
    var left = span
    while left > .zero, !control.isStopping {
      pause(for: min(step, left))
      left = left - step
    }
  }
}
