import Receiver

/// Frames written to a card, by device frame: samples, or the stream positions that they would have.
struct CardContent {
  struct Planned {
    var first: Int64
    var count: Int64
    /// In stream frames; nil in silence.
    var position: Double?
    var step: Double
    var isWhole: Bool
    /// True if the run is at full level from beginning to end.
    var isSteady: Bool
  }

  let isExact: Bool
  /// Channels of `samples`.
  private let channelCount: Int
  /// Interleaved samples from device frame `first` on.
  private(set) var samples: [Float] = []
  private(set) var runs: [Planned] = []
  private var first: Int64 = 0
  private(set) var end: Int64 = 0

  init(isExact: Bool, channelCount: Int) {
    self.isExact = isExact
    self.channelCount = channelCount
  }

  mutating func appendSilence(_ count: Int) {
    if isExact {
      samples.append(contentsOf: repeatElement(0, count: count * channelCount))
    } else {
      runs.append(
        Planned(
          first: end, count: Int64(count), position: nil, step: 1, isWhole: true, isSteady: true))
    }
    end += Int64(count)
  }

  mutating func appendSamples(_ count: Int, render: (UnsafeMutablePointer<Float>) -> Void) {
    let old = samples.count
    samples.append(contentsOf: repeatElement(0, count: count * channelCount))
    unsafe samples.withUnsafeMutableBufferPointer {
      if let base = $0.baseAddress { unsafe render(base + old) }
    }
    end += Int64(count)
  }

  mutating func append(_ run: PlayoutRun, isWhole: Bool) {
    var planned = Planned(
      first: run.first, count: Int64(run.count), position: nil, step: 1, isWhole: isWhole,
      isSteady: false)
    if let sound = run.sound, isWhole {
      planned.position = Double(sound.position.frame) + sound.position.fraction
      planned.step = sound.step
      let fade = Int64(TestSignal.sampleRate / 200)
      planned.isSteady = sound.framesSinceStart >= fade && sound.framesToEnd > fade
    }
    runs.append(planned)
    end = run.first + Int64(run.count)
  }

  mutating func rewind(to frame: Int64) {
    guard frame < end else { return }
    end = max(frame, first)
    if isExact {
      samples.removeLast(samples.count - Int(end - first) * channelCount)
      return
    }
    while let last = runs.last, last.first >= end { runs.removeLast() }
    if let last = runs.last, last.first + last.count > end {
      runs[runs.count - 1].count = end - last.first
    }
  }

  /// Drops frames before `frame`, which will not be asked for any more.
  mutating func forget(before frame: Int64) {
    guard frame > first + (isExact ? 4096 : 512) else { return }
    if isExact {
      samples.removeFirst(Int(frame - first) * channelCount)
    } else {
      runs.removeAll { $0.first + $0.count <= frame }
    }
    first = frame
  }

  func reading(at frame: Int64) -> TestSignal.Reading? {
    guard frame >= first, frame < end else { return nil }
    guard !isExact else {
      let base = Int(frame - first) * channelCount
      return TestSignal.read(samples[base..<base + channelCount])
    }
    guard let run = runs.last(where: { $0.first <= frame }), let position = run.position else {
      return nil
    }
    return TestSignal.Reading(
      gain: run.isSteady ? 1 : 0.5,
      position: position + Double(frame - run.first) * run.step, generation: .nan)
  }
}
