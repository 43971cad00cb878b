/// Buffers in the order in which they were enqueued, from the first that may be taken again. They are numbered from the
/// first of all.
struct EnqueuedBuffers {
  /// Buffers are let go some at a time, once what has sounded is so long.
  private static let heard = Duration.seconds(2)
  /// Of what has sounded, this much stays: codecs and filters look back.
  private static let kept = Duration.seconds(1)

  private var buffers: [AudioBuffer] = []
  private var firstNumber = 0
  private(set) var byteCount = 0
  /// The first that reading has not passed, and how long it is with all that follow it.
  private var unreadNumber = 0
  private(set) var unread = Duration.zero

  var isEmpty: Bool { buffers.isEmpty }
  var endNumber: Int { firstNumber + buffers.count }

  /// The buffer of this number, or the first that is still there; nil behind the last.
  subscript(number: Int) -> AudioBuffer? {
    let index = max(0, number - firstNumber)
    return index < buffers.count ? buffers[index] : nil
  }

  mutating func append(_ buffer: AudioBuffer) {
    buffers.append(buffer)
    byteCount += buffer.byteCount
    unread += buffer.duration
  }

  /// Reading has come to the buffer of this number.
  mutating func passed(upTo number: Int) {
    while unreadNumber < min(number, endNumber) {
      unread -= buffers[unreadNumber - firstNumber].duration
      unreadNumber += 1
    }
  }

  /// Reading goes on at `time`.
  ///
  /// - Returns: the number of the first buffer that reaches beyond it.
  @discardableResult
  mutating func rewind(to time: PlaybackTime) -> Int {
    unreadNumber = firstNumber + (buffers.firstIndex { $0.endTime > time } ?? buffers.count)
    count()
    return unreadNumber
  }

  /// What has been read and lies before `time` has sounded.
  mutating func release(before time: PlaybackTime) {
    guard let first = buffers.first, first.endTime + Self.heard < time else {
      return
    }
    let limit: PlaybackTime = time - Self.kept
    let heard = buffers.prefix(unreadNumber - firstNumber).prefix { $0.endTime < limit }
    byteCount -= heard.reduce(0) { $0 + $1.byteCount }
    firstNumber += heard.count
    buffers.removeFirst(heard.count)
  }

  mutating func truncate(from time: PlaybackTime) {
    let passed = buffers.prefix(unreadNumber - firstNumber).count { $0.startTime < time }
    buffers = buffers.compactMap { $0.prefix(until: time) }
    unreadNumber = firstNumber + passed
    count()
  }

  mutating func removeAll() {
    firstNumber = endNumber
    buffers = []
    unreadNumber = firstNumber
    count()
  }

  private mutating func count() {
    byteCount = buffers.reduce(0) { $0 + $1.byteCount }
    unread = buffers.dropFirst(unreadNumber - firstNumber).reduce(.zero) { $0 + $1.duration }
  }
}

/// The place of one source in the buffers.
struct ReadingPlace {
  /// The number of the source, from 1.
  var reader: Int
  /// What is read next: a frame, and the buffer where it is looked for first.
  var frame: Int64
  var number: Int
}

extension EnqueuedBuffers {
  /// Appends up to `count` frames, silence where buffers leave a gap.
  func take(
    _ count: Int, of format: PCMFormat, at place: inout ReadingPlace,
    into frames: inout [Float]
  ) {
    var wanted = count
    while wanted > 0, let buffer = self[place.number] {
      let start = buffer.startFrame
      let end = start + Int64(buffer.frameCount)
      if end <= place.frame {
        place.number = max(place.number, firstNumber) + 1
        continue
      }
      let isGap = start > place.frame
      let taken = Int(min(Int64(wanted), (isGap ? start : end) - place.frame))
      if isGap {
        frames.append(contentsOf: repeatElement(0, count: taken * format.channelCount))
      } else {
        let first = Int(place.frame - start) * format.channelCount
        frames += buffer.samples[first..<first + taken * format.channelCount]
      }
      place.frame += Int64(taken)
      wanted -= taken
    }
    while let buffer = self[place.number],
      buffer.startFrame + Int64(buffer.frameCount) <= place.frame
    {
      place.number = max(place.number, firstNumber) + 1
    }
  }
}

extension AudioBuffer {
  var startTime: PlaybackTime { PlaybackTime(frame: startFrame, at: format.sampleRate) }
  var duration: Duration { endTime - startTime }
  var byteCount: Int { samples.count * MemoryLayout<Float>.size }

  /// Without what lies at or after `time`; nil where that is all of it.
  func prefix(until time: PlaybackTime) -> AudioBuffer? {
    if endTime <= time { return self }
    let kept = max(0, time.frameFrom(at: format.sampleRate) - startFrame)
    guard kept > 0 else { return nil }
    let samples = Array(samples.prefix(Int(kept) * format.channelCount))
    return try? AudioBuffer(samples, format: format, at: presentationTime)
  }
}
