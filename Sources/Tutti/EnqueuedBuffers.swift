internal import Audio

/// Buffers in the order in which they were enqueued, from the first that may be taken again. They are numbered from the
/// first of all.
struct EnqueuedBuffers {
  /// Buffers are let go some at a time, once what has sounded is so long.
  private static let heard = Duration.seconds(3)
  /// Audio that is kept after it has sounded: codecs and filters look back.
  private static let kept = Duration.seconds(2)

  private var buffers: [EnqueuedBuffer] = []
  private var firstNumber = 0
  private(set) var byteCount = 0
  /// The first that reading has not passed.
  private var unreadNumber = 0
  /// The first that no reading has passed yet, and how long it is with all that follow it. Whoever was told that there is
  /// room goes on to have it where reading begins again.
  private var newNumber = 0
  private(set) var new = Duration.zero

  var first: EnqueuedBuffer? { buffers.first }
  var last: EnqueuedBuffer? { buffers.last }
  var endNumber: Int { firstNumber + buffers.count }

  /// The buffer of this number, or the first that is still there; nil behind the last.
  subscript(number: Int) -> EnqueuedBuffer? {
    let index = max(0, number - firstNumber)
    return index < buffers.count ? buffers[index] : nil
  }

  mutating func append(_ buffer: EnqueuedBuffer) {
    buffers.append(buffer)
    byteCount += buffer.byteCount
    new += buffer.duration
  }

  /// The number of the one that follows this one, which may be gone.
  func number(after number: Int) -> Int { max(number, firstNumber) + 1 }

  /// The number of the first buffer of which a frame begins at `time` or after it. A buffer that was cut between two frames
  /// of the one that follows overlaps it by a part of a frame. Whoever reads from there would be sent to the first by the
  /// second, and to the second by the first.
  func number(at time: PlaybackTime) -> Int {
    let index = buffers.firstIndex { buffer in
      buffer.endTime > time && buffer.endFrame > time.frameFrom(at: buffer.shape.audio.sampleRate)
    }
    return firstNumber + (index ?? buffers.count)
  }

  /// The number of the first packet that prepares a decoder for the one of this number, which may not be there yet.
  func numberOfLead(before number: Int, at time: PlaybackTime, in shape: BufferShape) -> Int {
    var number = number
    while number > firstNumber, let before = self[number - 1], before.shape == shape,
      before.endFrame == self[number]?.startFrame ?? before.endFrame,
      before.frameCount == 0 || before.endTime + shape.lead > time
    {
      number -= 1
    }
    return number
  }

  /// Reading has come to the buffer of this number.
  mutating func passed(upTo number: Int) {
    unreadNumber = max(unreadNumber, min(number, endNumber))
    while newNumber < unreadNumber {
      new -= buffers[newNumber - firstNumber].duration
      newNumber += 1
    }
  }

  /// Reading goes on at `time`.
  mutating func rewind(to time: PlaybackTime) {
    unreadNumber = firstNumber
    passed(upTo: number(at: time))
  }

  /// Lets go of buffers that were read and lie before `time`, because they have sounded.
  mutating func release(before time: PlaybackTime) {
    guard let first = buffers.first, first.endTime + Self.heard < time else { return }
    let limit: PlaybackTime = time - Self.kept
    let heard = buffers.prefix(unreadNumber - firstNumber).prefix { $0.endTime < limit }
    byteCount -= heard.reduce(0) { $0 + $1.byteCount }
    firstNumber += heard.count
    buffers.removeFirst(heard.count)
  }

  mutating func truncate(from time: PlaybackTime) {
    let isLeft = buffers.map { $0.prefix(until: time) != nil }
    unreadNumber = firstNumber + isLeft.prefix(unreadNumber - firstNumber).count { $0 }
    newNumber = firstNumber + isLeft.prefix(newNumber - firstNumber).count { $0 }
    buffers = buffers.compactMap { $0.prefix(until: time) }
    count()
  }

  mutating func removeAll() {
    firstNumber = endNumber
    buffers = []
    (unreadNumber, newNumber) = (firstNumber, firstNumber)
    count()
  }

  private mutating func count() {
    byteCount = buffers.reduce(0) { $0 + $1.byteCount }
    new = buffers.dropFirst(newNumber - firstNumber).reduce(.zero) { $0 + $1.duration }
  }
}

/// The place of one source in the buffers.
struct ReadingPlace {
  let shape: BufferShape
  /// The number of the source, from 1; 0 of one that came too late to count.
  let reader: Int
  /// Generation of the session for which the source was opened.
  let generation: UInt32
  /// The next frame to read, and the buffer in which it is looked for first.
  var frame: Int64
  var number: Int

  var time: PlaybackTime { PlaybackTime(frame: frame, at: shape.audio.sampleRate) }
}

extension EnqueuedBuffers {
  /// The shape of what is next at `place`, where that is another one: a source ends there.
  func change(at place: ReadingPlace) -> BufferShape? {
    guard let next = self[place.number] else { return nil }
    let shape = shape(of: next, at: place.time)
    return shape == place.shape ? nil : shape
  }

  /// Between packets there can be no silence but that of another source.
  func shape(of next: EnqueuedBuffer, at time: PlaybackTime) -> BufferShape {
    let gap = next.startTime.flicks - time.flicks
    let frame = PlaybackTime(frame: 1, at: next.shape.audio.sampleRate).flicks
    return gap < frame ? next.shape : next.shape.silence
  }

  /// Appends up to `count` frames, silence where buffers leave a gap, up to a buffer of another shape.
  func take(_ count: Int, at place: inout ReadingPlace, into frames: inout [Float]) {
    var wanted = count
    let audio = place.shape.audio
    while wanted > 0, let buffer = self[place.number] {
      let (start, end) = bounds(of: buffer, at: audio.sampleRate)
      if end <= place.frame, buffer.shape == place.shape || buffer.endTime <= place.time {
        place.number = number(after: place.number)
        continue
      }
      let isGap = start > place.frame
      if !isGap, buffer.shape != place.shape { break }
      let taken = Int(min(Int64(wanted), (isGap ? start : end) - place.frame))
      if isGap {
        frames.append(contentsOf: repeatElement(0, count: taken * audio.channelCount))
      } else if case .samples(let samples) = buffer.content {
        let first = Int(place.frame - start) * audio.channelCount
        frames += samples[first..<first + taken * audio.channelCount]
      }
      place.frame += Int64(taken)
      wanted -= taken
    }
    while let buffer = self[place.number], buffer.endTime <= place.time {
      place.number = number(after: place.number)
    }
  }

  /// In whole frames of a rate that may be another one.
  private func bounds(of buffer: EnqueuedBuffer, at rate: Int) -> (Int64, Int64) {
    if buffer.shape.audio.sampleRate == rate { return (buffer.startFrame, buffer.endFrame) }
    let frame = PlaybackTime(frame: 1, at: rate).flicks
    return (buffer.startTime.flicks / frame, buffer.endTime.flicks / frame)
  }

  /// The next packet; those that only prepare the decoder count no frames.
  func takePacket(at place: inout ReadingPlace) -> EncodedPacket? {
    while let buffer = self[place.number], change(at: place) == nil {
      place.number = number(after: place.number)
      guard let packet = buffer.packet(from: place.frame) else { return nil }
      place.frame += Int64(packet.frameCount)
      return packet
    }
    return nil
  }
}
