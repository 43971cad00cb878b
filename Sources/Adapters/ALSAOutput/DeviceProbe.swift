import CALSA
import Clock
import Glibc
import Output

/// Watches a running card for up to 50 ms, to learn properties that the driver does not report. A position that moves frame
/// by frame is known after a few.
enum DeviceProbe {
  /// Pauses between bursts let the position move by many of its steps, whose common divisor is one step.
  private static let bursts = 16
  /// Used if the position has moved less than `leastMoves` times by then.
  private static let mostBursts = 28
  private static let burstLength = 10
  /// Pause between two readings: not a divisor of a millisecond and longer each time, so that readings neither fall
  /// into step with USB frames nor show a single distance only.
  private static let interval = Nanoseconds.microseconds(900)
  private static let lengthening = Nanoseconds.microseconds(70)
  private static let leastMoves = 4
  /// As many moves by single frames, most of them shorter than a millisecond, are followed by more of the same.
  private static let conclusiveMoves = 8
  /// A stamp older than this does not belong to the reading.
  private static let oldestStamp: Int64 = 100_000_000

  /// Corrects `canRewind` and the properties of the position. Returns false if the card stopped meanwhile; they are
  /// then guesses.
  static func refine(_ description: inout DeviceDescription, watching pcm: borrowing PCMDevice)
    -> Bool
  {
    var step = 0
    var moves = 0
    var milliseconds = 0
    var last: Int?
    // A plugin's stamps are alsa-lib's own, made at some other moment than the position.
    var stampsAreGood = DeviceIdentity.isCard(pcm)
    var isWhole = true
    for turn in 1...(mostBursts * burstLength) {
      guard turn <= bursts * burstLength || moves < leastMoves else { break }
      let (status, code) = pcm.readStatus()
      guard code >= 0, status.state == SND_PCM_STATE_RUNNING else {
        isWhole = false
        break
      }
      if let last, last != status.delay {
        let move = Int(clamping: (last &- status.delay).magnitude)
        step = commonDivisor(step, move)
        moves += 1
        if takesMilliseconds(move, at: description.sampleRate) { milliseconds += 1 }
      }
      last = status.delay
      // A card that plays is about to run dry.
      if description.leadFrames > 0, status.delay <= description.periodFrames, moves > 0 { break }
      stampsAreGood = stampsAreGood && isFresh(status.stamp, description.positionTime)
      if step == 1, moves >= conclusiveMoves, milliseconds * 2 < moves { break }
      if turn % burstLength == 0 {
        pause(for: Nanoseconds(interval.count + lengthening.count * Int64(turn / burstLength)))
      }
    }
    if !stampsAreGood || last == nil { description.positionTime = .reading }
    // Observations of a card that stopped meanwhile say little.
    if !isWhole { step = step % description.periodFrames == 0 ? 0 : 1 }
    description.positionStep = step == 0 ? description.periodFrames : step
    // At 44.1 kHz, a millisecond is 44 frames or 45, whose common divisor is 1. A few may be read just as they
    // change.
    let millisecond = description.sampleRate / 1000
    description.movesByMilliseconds =
      isWhole && moves >= leastMoves && milliseconds * 8 >= moves * 7 && step <= millisecond + 1
    if description.movesByMilliseconds { description.positionStep = millisecond }
    description.canRewind =
      description.canRewind && !DeviceIdentity.isSoundServer(pcm)
      && snd_pcm_rewindable(pcm.handle) > 0
    return isWhole
  }

  /// True if so many frames are one millisecond or several, rounded to frames.
  private static func takesMilliseconds(_ frames: Int, at rate: Int) -> Bool {
    // A broken driver may report anything.
    guard frames < rate else { return false }
    let thousandths = frames * 1000
    let rest = thousandths % rate
    return thousandths > rate - 1000 && min(rest, rate - rest) < 1000
  }

  private static func commonDivisor(_ a: Int, _ b: Int) -> Int {
    var (a, b) = (a, b)
    while b != 0 { (a, b) = (b, a % b) }
    return a
  }

  private static func isFresh(_ stamp: Int64, _ time: DeviceDescription.PositionTime) -> Bool {
    var now = timespec()
    clock_gettime(time == .driverRaw ? CLOCK_MONOTONIC_RAW : CLOCK_MONOTONIC, &now)
    let age = Int64(now.tv_sec) * 1_000_000_000 + Int64(now.tv_nsec) - stamp
    return stamp != 0 && (0..<oldestStamp).contains(age)
  }
}
