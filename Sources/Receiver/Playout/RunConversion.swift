import Audio
import Clock

/// Converts decoded runs, one after the other, to the device's rate. Adjoining runs are converted as if they were
/// one, whatever their rates and generations, so that no joint is heard. Session thread only.
struct RunConversion {
  /// Consecutive frames of a run, with the device's channels.
  struct Part {
    var samples: [Float]
    /// Index of the first frame on the grid of `rate`.
    var start: Int64
    /// In Hz.
    var rate: Int
    var generation: UInt32
  }

  /// Frames at the device's rate, and their position.
  struct Converted {
    let samples: [Float]
    let start: Int64
    let generation: UInt32
  }

  /// Length of the input kept for a joint: the past of the longest filter, at 8 kHz, and the frames for interpolation
  /// at its end.
  private static let tailTime = MediaDuration.milliseconds(15)

  /// The runs of one rate that are being converted.
  private struct Stream {
    let rate: Int
    var converter: RateConverter
    /// Generation of the output by device frame: each begins at `from`, in order.
    var generations: [(from: Int64, generation: UInt32)]
    /// The last input frames, up to `end`, the index of the first frame that is still to come.
    var tail: [Float]
    var end: Int64
  }

  private let device: AudioFormat
  /// Filters by input rate.
  private var filters: [Int: RateFilter] = [:]
  private var stream: Stream?
  /// A part of another rate that adjoins the stream, until it is long enough for the filter's look-ahead.
  private var following: Part?
  private var output: [Converted] = []

  init(device: AudioFormat) { self.device = device }

  /// Returns the frames converted since the last call.
  mutating func takeOutput() -> [Converted] {
    defer { output.removeAll() }
    return output
  }

  /// Adds a part. `history` are inaudible frames directly before it.
  mutating func append(_ part: Part, after history: [Float]) {
    if var following {
      guard part.rate == following.rate, part.generation == following.generation,
        part.start == following.start + frameCount(of: following.samples)
      else {
        join(to: following)
        return append(part, after: history)
      }
      following.samples += part.samples
      self.following = following
      return joinIfReady()
    }
    guard let stream, touches(stream, part) else {
      finish()
      return begin(part, after: history)
    }
    guard part.rate == stream.rate else {
      following = part
      return joinIfReady()
    }
    feed(part)
  }

  /// Ends the stream, because nothing adjoins its last part, and puts out the converter's remaining frames.
  mutating func finish() {
    if let following { join(to: following) }
    guard var ending = stream else { return }
    let begin = ending.converter.nextFrame
    var rest: [Float] = []
    ending.converter.finish(appendingTo: &rest)
    emit(rest, at: begin, of: ending)
    stream = nil
  }

  mutating func forget() {
    stream = nil
    following = nil
    output.removeAll()
  }

  // MARK: - One stream

  private mutating func begin(_ part: Part, after history: [Float]) {
    let filter = filter(from: part.rate)
    stream = Stream(
      rate: part.rate,
      converter: RateConverter(
        filter, channelCount: device.channelCount,
        startingAt: part.start - frameCount(of: history)),
      generations: [(filter.ratio.firstFrame(from: part.start), part.generation)], tail: [],
      end: part.start)
    convert(history)
    feed(part)
  }

  private mutating func feed(_ part: Part) {
    guard var next = stream else { return }
    if next.generations.last?.generation != part.generation {
      let first = RateRatio(from: next.rate, to: device.sampleRate).firstFrame(from: part.start)
      next.generations.append((first, part.generation))
    }
    let tailFrames = Int(Self.tailTime.flicks / frameDuration(next.rate))
    next.tail = (next.tail + part.samples).suffix(tailFrames * device.channelCount)
    next.end = part.start + frameCount(of: part.samples)
    stream = next
    convert(part.samples)
  }

  private mutating func convert(_ samples: [Float]) {
    guard var present = stream else { return }
    stream = nil
    let begin = present.converter.nextFrame
    var converted: [Float] = []
    present.converter.convert(samples, appendingTo: &converted)
    emit(converted, at: begin, of: present)
    let next = present.converter.nextFrame
    while present.generations.count > 1, present.generations[1].from <= next {
      present.generations.removeFirst()
    }
    stream = present
  }

  /// Puts out each frame with its generation. Frames before the first generation only filled the filter.
  private mutating func emit(_ samples: [Float], at start: Int64, of stream: Stream) {
    let end = start + frameCount(of: samples)
    for (index, (from, generation)) in stream.generations.enumerated() {
      let isLast = index + 1 == stream.generations.count
      let first = max(start, from)
      let last = isLast ? end : min(end, stream.generations[index + 1].from)
      guard first < last else { continue }
      let range = Int(first - start) * device.channelCount..<Int(last - start) * device.channelCount
      output.append(
        Converted(samples: Array(samples[range]), start: first, generation: generation))
    }
  }

  // MARK: - Joints of two rates

  /// True if the part begins at the first frame of its own grid at or after the stream's end.
  private func touches(_ stream: Stream, _ part: Part) -> Bool {
    let gap = part.start * frameDuration(part.rate) - stream.end * frameDuration(stream.rate)
    return gap >= 0 && gap < frameDuration(part.rate)
  }

  private mutating func joinIfReady() {
    guard let stream, let following else { return }
    let needed = RateJoint.framesNeeded(
      ofRate: following.rate, forFrames: framesAhead(of: stream, to: following),
      ofRate: stream.rate)
    if frameCount(of: following.samples) >= Int64(needed) { join(to: following) }
  }

  /// Returns how many frames beyond its end the stream's filter needs before the first device frame of the next part.
  private func framesAhead(of stream: Stream, to part: Part) -> Int {
    let gap =
      firstFrame(of: part) * frameDuration(device.sampleRate)
      - stream.end * frameDuration(stream.rate)
    return halfLength(of: stream.rate) + Int(max(0, gap) / frameDuration(stream.rate)) + 1
  }

  private mutating func join(to part: Part) {
    following = nil
    guard var ending = stream else { return }
    let ahead = framesAhead(of: ending, to: part)
    let joint = RateJoint(
      before: .init(
        rate: ending.rate, first: ending.end - frameCount(of: ending.tail), samples: ending.tail),
      after: .init(rate: part.rate, first: part.start, samples: part.samples),
      channelCount: device.channelCount)
    let begin = ending.converter.nextFrame
    var rest: [Float] = []
    ending.converter.finish(
      followedBy: joint.following(ahead), before: firstFrame(of: part), appendingTo: &rest)
    emit(rest, at: begin, of: ending)
    self.begin(part, after: joint.preceding(filter(from: part.rate).halfLength))
  }

  // MARK: - Arithmetic

  private func firstFrame(of part: Part) -> Int64 {
    RateRatio(from: part.rate, to: device.sampleRate).firstFrame(from: part.start)
  }

  private func halfLength(of rate: Int) -> Int { filters[rate]?.halfLength ?? 0 }

  private mutating func filter(from rate: Int) -> RateFilter {
    if let filter = filters[rate] { return filter }
    let filter = RateFilter(from: rate, to: device.sampleRate)
    filters[rate] = filter
    return filter
  }

  private func frameCount(of samples: [Float]) -> Int64 {
    Int64(samples.count / device.channelCount)
  }

  private func frameDuration(_ rate: Int) -> Int64 { MediaDuration(frames: 1, at: rate).flicks }
}
