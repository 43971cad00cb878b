package import Audio

/// What becomes of the frames before they reach the sound card: the room's volume and, where the card has two
/// channels or more, its mix of the first two. Changes are ramped. Render thread only.
package struct OutputMix {
  /// From one setting to the next in 20 ms: no click, and at once to the ear.
  private let rampFrames: Int
  private let channelCount: Int
  private var volume = GainRamp(gain: 1)
  private var target = StereoMap()
  private var current = StereoMap()
  /// How much `current` changes a frame, while `framesToGo` is above zero.
  private var step = StereoMap()
  private var framesToGo = 0

  /// `sampleRate` in Hz; full volume, each channel as it is.
  package init(sampleRate: Int, channelCount: Int) {
    rampFrames = max(1, sampleRate / 50)
    self.channelCount = channelCount
  }

  /// 0...1; anything else counts as the nearest of these.
  @_noLocks @_noAllocation
  package mutating func setGain(_ gain: Float) {
    volume.move(to: gain > 0 ? min(gain, 1) : 0, over: rampFrames)
  }

  @_noLocks @_noAllocation
  package mutating func setMap(left: ChannelMix, right: ChannelMix) {
    target.leftToLeft = left.left
    target.rightToLeft = left.right
    target.leftToRight = right.left
    target.rightToRight = right.right
    step = StereoMap.zero
    step.add(target, times: 1 / Float(rampFrames))
    step.add(current, times: -1 / Float(rampFrames))
    framesToGo = rampFrames
  }

  /// Works in place on interleaved frames.
  @_noLocks @_noAllocation
  package mutating func apply(to samples: UnsafeMutablePointer<Float>, frames: Int) {
    if channelCount > 1 { unsafe applyMap(to: samples, frames: frames) }
    unsafe volume.apply(to: samples, frames: frames, channelCount: channelCount)
  }

  @_noLocks @_noAllocation
  private mutating func applyMap(to samples: UnsafeMutablePointer<Float>, frames: Int) {
    for i in 0..<frames {
      if framesToGo > 0 {
        advance()
      } else if current.isIdentity {
        return
      }
      let frame = unsafe samples + i * channelCount
      let (left, right) = unsafe (frame[0], frame[1])
      unsafe frame[0] = current.leftToLeft * left + current.rightToLeft * right
      unsafe frame[1] = current.leftToRight * left + current.rightToRight * right
    }
  }

  @_noLocks @_noAllocation
  private mutating func advance() {
    framesToGo -= 1
    if framesToGo == 0 {
      current = target
    } else {
      current.add(step, times: 1)
    }
  }
}

private struct StereoMap {
  var leftToLeft: Float = 1
  var rightToLeft: Float = 0
  var leftToRight: Float = 0
  var rightToRight: Float = 1

  @_noLocks @_noAllocation
  init() {}

  static var zero: StereoMap {
    @_noLocks @_noAllocation get {
      var map = StereoMap()
      map.leftToLeft = 0
      map.rightToRight = 0
      return map
    }
  }

  var isIdentity: Bool {
    @_noLocks @_noAllocation get {
      leftToLeft == 1 && rightToLeft == 0 && leftToRight == 0 && rightToRight == 1
    }
  }

  @_noLocks @_noAllocation
  mutating func add(_ other: StereoMap, times factor: Float) {
    leftToLeft += factor * other.leftToLeft
    rightToLeft += factor * other.rightToLeft
    leftToRight += factor * other.leftToRight
    rightToRight += factor * other.rightToRight
  }
}
