import CALSA
import Clock
import Glibc
import Output

/// Reads the card's position and the time of that position. Output thread only.
struct PositionReader {
  struct Reading {
    var status: PCMDevice.Status
    var code: Int32
    /// When `status` was so, by the host's clock.
    var at: LocalTime
    /// Uncertainty of `at`; without the step of the position if moves are never watched.
    var uncertainty: Nanoseconds
    /// False if the thread lost the CPU during the reading, which makes the time useless.
    var isPrecise: Bool
  }

  /// Readings that took longer are never used.
  private static let longest = Nanoseconds.microseconds(500)
  /// Readings at most this long are always used.
  private static let short = Nanoseconds.microseconds(10)
  /// Readings up to this many times as long as usual are used. Dimensionless.
  private static let tolerance: Int64 = 3

  /// A position that moves at least this often is watched without a forecast.
  private static let soon = Nanoseconds.microseconds(500)
  /// Without a forecast of the next move, this thread sleeps this long between two readings.
  private static let nap = Nanoseconds.microseconds(50)

  /// The thread wakes earlier by one step after it was late once, up to a limit.
  private static let lateStep = Nanoseconds.microseconds(19)
  private static let mostLateness = Nanoseconds.microseconds(300)

  private let clock: @Sendable () -> LocalTime
  private let time: DeviceDescription.PositionTime
  /// How long the position stays the same. It says that the card has reached it, but not how long ago: on average
  /// half a step. A driver's stamp does say it.
  private let step: Nanoseconds
  private let stepFrames: ClosedRange<Int>
  /// Where milliseconds are rounded down to frames: how much earlier a position was reached than reported, with the
  /// same uncertainty.
  private let rounding: Nanoseconds
  private let leadFrames: Int
  private let isWatched: Bool
  /// Where steps are too long to wait for each of them.
  private var forecast: StepForecast?
  /// A period less than this passes from one reading to the next.
  private let pace: Nanoseconds
  /// How much later than asked for this thread wakes up.
  private var lateness = Nanoseconds.microseconds(100)
  /// How long a reading usually takes: follows short ones at once and long ones slowly.
  private var usual = Self.longest

  init(_ device: DeviceDescription, clock: @escaping @Sendable () -> LocalTime) {
    self.clock = clock
    time = device.movesAreWatched ? .reading : device.positionTime
    let isUneven = device.movesByMilliseconds && device.sampleRate % 1000 != 0
    stepFrames = device.positionStep...(device.positionStep + (isUneven ? 1 : 0))
    leadFrames = device.leadFrames
    isWatched = device.movesAreWatched
    step = isUneven ? .milliseconds(1) : Self.span(of: device.positionStep, device)
    rounding = isUneven ? Nanoseconds(Self.span(of: 1, device).count / 2) : .zero
    pace = Nanoseconds(Self.span(of: device.periodFrames, device).count * 3 / 4)
    if isWatched, step > Self.soon { forecast = StepForecast(step: step) }
  }

  private static func span(of frames: Int, _ device: DeviceDescription) -> Nanoseconds {
    Nanoseconds(Int64(frames) * 1_000_000_000 / Int64(device.sampleRate))
  }

  /// The card was started anew, and moves at other times.
  mutating func restart() {
    if forecast != nil { forecast = StepForecast(step: step) }
  }

  /// Rests, waits until there is room for about a period, then reads; if moves of the position are watched, reads at a
  /// move. A rest ends early where `control` is called.
  mutating func next(
    _ pcm: borrowing PCMDevice, resting rest: Nanoseconds = .zero,
    until control: OutputControl? = nil, waiting milliseconds: Int32
  ) -> Reading {
    if let window = forecast?.window(from: clock() + rest + pace) {
      if window.begin - clock() > rest + pace + pace {
        _ = isCalled(control, within: rest + pace)
        return read(pcm)
      }
      if sleep(until: window.begin, or: control) { return read(pcm) }
      return watch(pcm, until: window.end) ?? read(pcm)
    }
    // An error shows in the status, too.
    if rest == .zero || !isCalled(control, within: rest + pace) {
      _ = pcm.wait(milliseconds: milliseconds)
    }
    guard isWatched else { return read(pcm) }
    let now = clock()
    guard forecast != nil else { return watch(pcm, until: now + step + step) ?? read(pcm) }
    guard forecast?.mayBeSought(at: now) ?? false else { return read(pcm) }
    return watch(pcm, until: now + step + halfStep, napping: Self.nap) ?? read(pcm)
  }

  /// True while only moves are usable. A thread that the card wakes always reads at the same time after a
  /// move, an error that no average removes.
  var awaitsMove: Bool { forecast?.isPromising(at: clock()) ?? false }

  private var halfStep: Nanoseconds { Nanoseconds(step.count / 2) }

  private func isCalled(_ control: OutputControl?, within span: Nanoseconds) -> Bool {
    if let control { return control.rest(for: span) }
    pause(for: span)
    return false
  }

  /// Wakes up before `time` in nineteen of twenty cases. Returns true if it was called before.
  private mutating func sleep(until time: LocalTime, or control: OutputControl?) -> Bool {
    if isCalled(control, within: max(time - lateness - clock(), .zero)) { return true }
    lateness = lateness + (clock() > time ? Self.lateStep : Nanoseconds(-Self.lateStep.count / 19))
    lateness = min(max(lateness, .zero), Self.mostLateness)
    return false
  }

  /// A driver's stamp and position belong together. A plugin has no such stamp: it is asked once more for the
  /// position alone, the shortest of its calls, between two readings of the clock; the timestamps that alsa-lib makes
  /// up have outliers.
  mutating func read(_ pcm: borrowing PCMDevice) -> Reading {
    switch time {
    case .driverRaw:
      let (status, code) = pcm.readStatus()
      let at = LocalTime(nanoseconds: status.stamp)
      return Reading(
        status: status, code: code, at: at, uncertainty: .zero, isPrecise: status.stamp != 0)
    case .driverMonotonic:
      let before = clock()
      let (status, code) = pcm.readStatus()
      let age = ageOfMonotonic(status.stamp)
      let width = clock() - before
      return Reading(
        status: status, code: code, at: before + width - Nanoseconds(age), uncertainty: width,
        isPrecise: status.stamp != 0 && judge(width))
    case .reading:
      var (status, code) = pcm.readStatus()
      let before = clock()
      let isKnown = pcm.readDelay(&status.delay)
      let width = clock() - before
      let half = Nanoseconds(width.count / 2)
      return Reading(
        status: status, code: code, at: before + half - halfStep - rounding,
        uncertainty: isWatched ? half + halfStep + rounding : half,
        isPrecise: isKnown && judge(width) && !awaitsMove)
    }
  }

  /// Watches the position until it moves by a step: that instant is known to the length of two calls, where a single
  /// reading leaves the width of the step. Nil if it does not move until `limit`, or this thread lost the CPU.
  private mutating func watch(
    _ pcm: borrowing PCMDevice, until limit: LocalTime, napping nap: Nanoseconds? = nil
  ) -> Reading? {
    var (status, code) = pcm.readStatus()
    // A card that was just started has little to play meanwhile.
    if nap != nil, status.delay < leadFrames / 2 { return nil }
    var before = clock()
    guard code >= 0, pcm.readDelay(&status.delay) else { return nil }
    var between = clock()
    let first = status.delay
    while between < limit {
      if let nap { pause(for: nap) }
      guard pcm.readDelay(&status.delay) else { return nil }
      let after = clock()
      if status.delay != first {
        let half = Nanoseconds((after - before).count / 2)
        // A frame is not longer than two slow calls.
        let moved = first &- status.delay
        guard stepFrames.contains(moved),
          half < (forecast == nil ? Self.short : Self.longest)
        else { return nil }
        // The card has room for what it has passed since.
        status.free += moved
        let uncertainty = forecast?.moved(at: before + half, width: half) ?? half
        return Reading(
          status: status, code: code, at: before + half - rounding,
          uncertainty: uncertainty + rounding, isPrecise: true)
      }
      (before, between) = (between, after)
    }
    return nil
  }

  /// The two clocks run apart by less than a thousandth, which over the age of a stamp is nothing.
  private func ageOfMonotonic(_ stamp: Int64) -> Int64 {
    var now = timespec()
    clock_gettime(CLOCK_MONOTONIC, &now)
    return Int64(now.tv_sec) * 1_000_000_000 + Int64(now.tv_nsec) - stamp
  }

  private mutating func judge(_ width: Nanoseconds) -> Bool {
    let limit = min(max(Nanoseconds(usual.count * Self.tolerance), Self.short), Self.longest)
    if width < usual {
      usual = width
    } else {
      usual = Nanoseconds(usual.count + usual.count / 16 + 1)
    }
    usual = min(usual, Self.longest)
    return width < limit
  }
}
