import Audio
import Clock
import Receiver

/// A renderer with an ideal sound card and clock. The card starts at local time 1 s, and group time is five
/// seconds ahead. The frames have three channels that identify them: the place in the stream, the generation,
/// and 1.
final class TestRoom {
  static let rate = 48_000
  static let periodFrames = 480
  /// Frames written ahead of the position, and the distance from it within which nothing can be written again.
  static let lead = 3840
  static let rewindMargin = 480

  struct Heard: Equatable {
    var gain: Double
    /// 0 in silence.
    var generation = 0
    /// Stream frames; meaningless in silence.
    var position = 0.0
  }

  private var renderer: Renderer
  private var writer: FrameRingWriter
  private var clipWriter: FrameRingWriter
  private var clipBacklog: [(next: Int64, end: Int64, number: UInt32)] = []
  let commands = RenderQueue<RenderCommand>.commands()
  let reports = RenderQueue<RenderReport>.reports()
  private(set) var lastReport = RenderReport()
  /// Samples written to the card, by device frame.
  private var samples: [Float] = []
  private var backlog: [(next: Int64, end: Int64, generation: UInt32)] = []
  private(set) var rewindCount = 0
  /// The card's position.
  private(set) var played = 0
  /// The error of the card's clock from now on, in ns.
  var cardOffset: Int64 = 0
  var observes = true
  private let channels = 3
  /// The first channel, by stream frame; nil is the place in the stream.
  private let content: ((Int64) -> Float)?

  init(
    ringFrames: Int = 1 << 15, estimate: ClockEstimate? = TestRoom.estimate(),
    fir: ImpulseResponse? = nil, content: ((Int64) -> Float)? = nil
  ) {
    self.content = content
    let ring = FrameRing(minimumCapacity: ringFrames, channelCount: channels)
    writer = FrameRingWriter(ring)
    let clipRing = FrameRing(minimumCapacity: 3 * Self.rate / 2, channelCount: channels)
    clipWriter = FrameRingWriter(clipRing)
    renderer = Renderer(
      sampleRate: Self.rate, ring: ring, commands: commands, reports: reports, device: .fine,
      storedDrift: 0, clips: clipRing, fir: fir)
    if let estimate { send(.clock(estimate, isStep: false)) }
  }

  static func estimate(ahead nanoseconds: Int64 = 5_000_000_000, drift: Double = 0) -> ClockEstimate
  {
    let local = LocalTime(nanoseconds: 1_000_000_000)
    return ClockEstimate(
      local: local, group: GroupTime(nanoseconds: local.nanoseconds + nanoseconds), drift: drift,
      errorBound: .zero)
  }

  /// Returns the time at which the card, with its initial clock, plays `frame`; exact for multiples of three.
  static func groupTime(ofDevice frame: Int) -> GroupTime {
    GroupTime(nanoseconds: 6_000_000_000 + Int64(frame) * 62_500 / 3)
  }

  static func mediaTime(ofFrame frame: Int64) -> MediaTime {
    MediaTime(flicks: frame * MediaDuration(frames: 1, at: rate).flicks)
  }

  func send(_ command: RenderCommand) { _ = commands.send(command) }

  func sendAnchor(_ rate: Anchor.Rate, frame: Int64, atDevice device: Int) {
    send(
      .anchor(
        Anchor(
          mediaTime: Self.mediaTime(ofFrame: frame), groupTime: Self.groupTime(ofDevice: device),
          rate: rate)))
  }

  func sendCut(
    from frame: Int64, generation: UInt32, isRamped: Bool = true, isCrossed: Bool = false
  ) {
    for i in backlog.indices where backlog[i].generation < generation {
      backlog[i].end = min(backlog[i].end, frame)
    }
    backlog.removeAll { $0.end <= $0.next }
    send(
      .cut(
        from: Self.mediaTime(ofFrame: frame), generation: generation, isRamped: isRamped,
        isCrossed: isCrossed))
  }

  /// Writes these frames to the ring as soon as there is space.
  func feed(_ frames: Range<Int64>, generation: UInt32 = 1) {
    backlog.append((frames.lowerBound, frames.upperBound, generation))
  }

  /// Writes a clip to its ring as soon as there is space: it is 0.01 of its number in the channel of the generation.
  func feedClip(_ number: UInt32, frames: Int64) {
    let from = Int64(number) * Self.clipPlace
    clipBacklog.append((from, from + frames, number))
  }

  /// Of clips, in stream frames of the clips' own.
  private static let clipPlace: Int64 = 61 * Int64(rate)

  /// A clip that begins when the card is at this frame, at full volume; the music below it is at a quarter.
  static func clip(_ number: UInt32, frames: Int64, atDevice device: Int) -> RenderedClip {
    let from = Int64(number) * clipPlace
    return RenderedClip(
      number: number, from: mediaTime(ofFrame: from), until: mediaTime(ofFrame: from + frames),
      begins: groupTime(ofDevice: device), ends: groupTime(ofDevice: device + Int(frames)),
      gain: 1, musicGain: 0.25, ramp: .milliseconds(200))
  }

  /// The number of the clip that is heard, times its gain, if the music below it has generation 1.
  func heardClip(_ frame: Int) -> Double {
    let gain = Double(samples[frame * channels + 2])
    return (Double(samples[frame * channels + 1]) - gain / 10) * 100
  }

  /// Frames of clips that found no space yet.
  var waitingClipFrames: Int64 { clipBacklog.reduce(0) { $0 + $1.end - $1.next } }

  func samples(_ frames: Range<Int>) -> [Float] {
    Array(samples[frames.lowerBound * channels..<frames.upperBound * channels])
  }

  /// The first channel.
  func signal(_ frames: Range<Int>) -> [Float] { frames.map { samples[$0 * channels] } }

  /// Plays until the card is at `frame`, in turns of a period.
  func run(toDevice frame: Int) {
    while played < frame { turn() }
  }

  func turn() {
    writeBacklog()
    if let wrong = renderer.takeCommands(at: LocalTime(nanoseconds: localTime(of: played))) {
      let target = max(Int(wrong.index), played + Self.rewindMargin)
      if target < samples.count / channels {
        renderer.rewind(to: DeviceFrame(Int64(target)))
        samples.removeLast(samples.count - target * channels)
        rewindCount += 1
      }
    }
    render(upTo: played + Self.lead)
    played += Self.periodFrames
    if observes {
      renderer.observe(
        DeviceFrame(Int64(played)), at: LocalTime(nanoseconds: localTime(of: played)),
        uncertainty: .zero)
    }
    while let report = reports.receive() { lastReport = report }
  }

  /// Simulates a card that ran dry: frames written but not heard are lost, and it continues a second later.
  func restartCard() {
    samples.removeLast(samples.count - played * channels)
    cardOffset += 1_000_000_000
    renderer.deviceRestarted(at: DeviceFrame(Int64(played)))
  }

  func heard(_ frame: Int) -> Heard {
    let gain = Double(samples[frame * channels + 2])
    guard gain > 1e-6 else { return Heard(gain: gain) }
    return Heard(
      gain: gain, generation: Int((Double(samples[frame * channels + 1]) / gain * 10).rounded()),
      position: Double(samples[frame * channels]) / gain * Self.positionScale)
  }

  func heard(_ frames: Range<Int>) -> [Heard] { frames.map { heard($0) } }

  func isSilent(_ frames: Range<Int>) -> Bool { heard(frames).allSatisfy { $0.gain == 0 } }

  /// The largest change of gain from one frame to the next.
  func largestGainStep(_ frames: Range<Int>) -> Double {
    frames.dropFirst().map { abs(heard($0).gain - heard($0 - 1).gain) }.max() ?? 0
  }

  private static let positionScale = 1e5

  private func localTime(of frame: Int) -> Int64 {
    1_000_000_000 + Int64(frame) * 62_500 / 3 + cardOffset
  }

  private func render(upTo end: Int) {
    while samples.count / channels < end {
      let count = min(Self.periodFrames, end - samples.count / channels)
      var block = [Float](repeating: .nan, count: count * channels)
      block.withUnsafeMutableBufferPointer {
        renderer.render(into: $0.baseAddress!, frames: count)
      }
      samples += block
    }
  }

  private func writeClips() {
    while let clip = clipBacklog.first {
      let count = Int(min(clip.end - clip.next, 4096))
      let frame: [Float] = [0, Float(clip.number) / 100, 0]
      let frames = [Float]((0..<count).map { _ in frame }.joined())
      let written = clipWriter.write(frames.span, at: clip.next, generation: clip.number)
      clipBacklog[0].next += Int64(written)
      if clipBacklog[0].next == clip.end {
        clipBacklog.removeFirst()
      } else if written < count {
        return
      }
    }
  }

  private func writeBacklog() {
    writeClips()
    while let run = backlog.first {
      let end = min(run.end, run.next + 4096)
      let frames: [Float] = (run.next..<end).flatMap { frame -> [Float] in
        let first = content?(frame) ?? Float(Double(frame) / Self.positionScale)
        return [first, Float(run.generation) / 10, 1]
      }
      backlog[0].next += Int64(writer.write(frames.span, at: run.next, generation: run.generation))
      if backlog[0].next == run.end {
        backlog.removeFirst()
      } else if backlog[0].next < end {
        return
      }
    }
  }
}
