package import Audio
import Clock

/// Applies the room's settings to the frames for the sound card: the volume and, if the card has two or more
/// channels, the mix of the first two. Changes are ramped. Render thread only.
///
/// A ramp is tied to the device frame at which it began, so that frames rendered again get the same gains.
package struct OutputMix {
  /// Length of the ramp from one setting to the next: long enough not to click, short enough to seem immediate.
  static let rampLength = Nanoseconds.milliseconds(20)

  private let rampFrames: Int64
  private let channelCount: Int
  /// The setting last asked for. The mix moves toward it from the next rendered frame on.
  private var wanted = MixSetting()
  private var isChanging = false
  /// The ramp: from `origin` at device frame `start` to `target`, `rampFrames` later.
  private var origin = MixSetting()
  private var target = MixSetting()
  private var start = Int64.min / 2

  /// Starts at full volume, with each channel unchanged. `sampleRate` is in Hz.
  package init(sampleRate: Int, channelCount: Int) {
    rampFrames = max(1, Int64(sampleRate) * Self.rampLength.count / 1_000_000_000)
    self.channelCount = channelCount
  }

  /// Sets the gain, clamped to 0...1. Returns true if it changed.
  @_noLocks @_noAllocation
  package mutating func setGain(_ gain: Float) -> Bool {
    var setting = wanted
    setting.gain = gain > 0 ? min(gain, 1) : 0
    return change(to: setting)
  }

  /// Sets the channel map. Returns true if it changed.
  @_noLocks @_noAllocation
  package mutating func setMap(left: ChannelMix, right: ChannelMix) -> Bool {
    var setting = wanted
    setting.leftToLeft = left.left
    setting.rightToLeft = left.right
    setting.leftToRight = right.left
    setting.rightToRight = right.right
    return change(to: setting)
  }

  /// The setting holds at once: a ramp before the first sound would begin at full volume.
  @_noLocks @_noAllocation
  package mutating func settle() { (origin, target, isChanging) = (wanted, wanted, false) }

  @_noLocks @_noAllocation
  private mutating func change(to setting: MixSetting) -> Bool {
    guard !setting.isSame(as: wanted) else { return false }
    wanted = setting
    isChanging = true
    return true
  }

  /// Applies the mix in place to interleaved frames. The first is device frame `first`, which is not before any
  /// frame at which a setting took effect.
  @_noLocks @_noAllocation
  package mutating func apply(
    to samples: UnsafeMutablePointer<Float>, at first: Int64, frames: Int
  ) {
    if isChanging {
      isChanging = false
      origin = setting(at: first)
      target = wanted
      start = first
    }
    let ramped = Int(min(max(start + rampFrames - first, 0), Int64(frames)))
    for i in 0..<ramped {
      unsafe apply(setting(at: first + Int64(i)), to: samples + i * channelCount)
    }
    guard !target.isIdentity else { return }
    for i in ramped..<max(ramped, frames) {
      unsafe apply(target, to: samples + i * channelCount)
    }
  }

  @_noLocks @_noAllocation
  private func setting(at frame: Int64) -> MixSetting {
    let progress = fadeIn(at: Double(frame - start) / Double(rampFrames))
    if progress >= 1 { return target }
    return MixSetting(from: origin, to: target, progress: progress)
  }

  @_noLocks @_noAllocation
  private func apply(_ setting: MixSetting, to frame: UnsafeMutablePointer<Float>) {
    if channelCount > 1 {
      let (left, right) = unsafe (frame[0], frame[1])
      unsafe frame[0] = setting.leftToLeft * left + setting.rightToLeft * right
      unsafe frame[1] = setting.leftToRight * left + setting.rightToRight * right
    }
    for channel in 0..<channelCount { unsafe frame[channel] *= setting.gain }
  }
}

private struct MixSetting {
  var gain: Float = 1
  var leftToLeft: Float = 1
  var rightToLeft: Float = 0
  var leftToRight: Float = 0
  var rightToRight: Float = 1

  @_noLocks @_noAllocation
  init() {}

  /// Interpolates: `progress` 0 gives `origin`, 1 gives `target`.
  @_noLocks @_noAllocation
  init(from origin: MixSetting, to target: MixSetting, progress: Float) {
    gain = origin.gain + (target.gain - origin.gain) * progress
    leftToLeft = origin.leftToLeft + (target.leftToLeft - origin.leftToLeft) * progress
    rightToLeft = origin.rightToLeft + (target.rightToLeft - origin.rightToLeft) * progress
    leftToRight = origin.leftToRight + (target.leftToRight - origin.leftToRight) * progress
    rightToRight = origin.rightToRight + (target.rightToRight - origin.rightToRight) * progress
  }

  var isIdentity: Bool { @_noLocks @_noAllocation get { isSame(as: MixSetting()) } }

  /// Does what `==` does, in a form that the render thread may call.
  @_noLocks @_noAllocation
  func isSame(as other: MixSetting) -> Bool {
    gain == other.gain && leftToLeft == other.leftToLeft && rightToLeft == other.rightToLeft
      && leftToRight == other.leftToRight && rightToRight == other.rightToRight
  }
}
