package import Audio
import Clock

/// What becomes of the frames before they reach the sound card: the room's volume and, where the card has two
/// channels or more, its mix of the first two. Changes are ramped. Render thread only.
///
/// A ramp is tied to the device frame at which it began, so that frames which are rendered again get what they had.
package struct OutputMix {
  /// How long one setting takes to become the next: no click, and at once to the ear.
  static let rampLength = Nanoseconds.milliseconds(20)

  private let rampFrames: Int64
  private let channelCount: Int
  /// What was asked for last. From the next frame that is rendered on, the mix moves there.
  private var wanted = MixSetting()
  private var isChanging = false
  /// The ramp: from `origin` at device frame `start` to `target`, `rampFrames` later.
  private var origin = MixSetting()
  private var target = MixSetting()
  private var start = Int64.min / 2

  /// `sampleRate` in Hz; full volume, each channel as it is.
  package init(sampleRate: Int, channelCount: Int) {
    rampFrames = max(1, Int64(sampleRate) * Self.rampLength.count / 1_000_000_000)
    self.channelCount = channelCount
  }

  /// 0...1; anything else counts as the nearest of these. Answers whether that is another gain than before.
  @_noLocks @_noAllocation
  package mutating func setGain(_ gain: Float) -> Bool {
    var setting = wanted
    setting.gain = gain > 0 ? min(gain, 1) : 0
    return change(to: setting)
  }

  /// Answers whether that is another map than before.
  @_noLocks @_noAllocation
  package mutating func setMap(left: ChannelMix, right: ChannelMix) -> Bool {
    var setting = wanted
    setting.leftToLeft = left.left
    setting.rightToLeft = left.right
    setting.leftToRight = right.left
    setting.rightToRight = right.right
    return change(to: setting)
  }

  @_noLocks @_noAllocation
  private mutating func change(to setting: MixSetting) -> Bool {
    guard !setting.isSame(as: wanted) else { return false }
    wanted = setting
    isChanging = true
    return true
  }

  /// Works in place on interleaved frames; the first is device frame `first`, which is not before any at which a
  /// setting took effect.
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

  /// `progress` 0 is `origin`, 1 is `target`.
  @_noLocks @_noAllocation
  init(from origin: MixSetting, to target: MixSetting, progress: Float) {
    gain = origin.gain + (target.gain - origin.gain) * progress
    leftToLeft = origin.leftToLeft + (target.leftToLeft - origin.leftToLeft) * progress
    rightToLeft = origin.rightToLeft + (target.rightToLeft - origin.rightToLeft) * progress
    leftToRight = origin.leftToRight + (target.leftToRight - origin.leftToRight) * progress
    rightToRight = origin.rightToRight + (target.rightToRight - origin.rightToRight) * progress
  }

  var isIdentity: Bool { @_noLocks @_noAllocation get { isSame(as: MixSetting()) } }

  /// `==` that is accepted on the render thread.
  @_noLocks @_noAllocation
  func isSame(as other: MixSetting) -> Bool {
    gain == other.gain && leftToLeft == other.leftToLeft && rightToLeft == other.rightToLeft
      && leftToRight == other.leftToRight && rightToRight == other.rightToRight
  }
}
