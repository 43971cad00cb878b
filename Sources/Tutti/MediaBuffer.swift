/// A part of an item, as a ``MediaReader`` gives it and an ``AudioRenderer`` takes it.
public enum MediaBuffer: Hashable, Sendable {
  case samples(AudioBuffer)
  case packet(CompressedBuffer)

  /// The time at which its first audible frame is to sound.
  public var presentationTime: PlaybackTime {
    switch self {
    case .samples(let buffer): buffer.presentationTime
    case .packet(let buffer): buffer.presentationTime
    }
  }

  /// The time at which the next buffer begins, if it follows without a gap.
  public var endTime: PlaybackTime {
    switch self {
    case .samples(let buffer): buffer.endTime
    case .packet(let buffer): buffer.endTime
    }
  }

  /// Number of audible frames; none of a packet that only prepares the decoder.
  public var frameCount: Int {
    switch self {
    case .samples(let buffer): buffer.frameCount
    case .packet(let buffer): buffer.frameCount
    }
  }

  /// Returns the same audio `offset` later on the timeline: items that are played one after the other have times that begin
  /// with 0 each. Exact to the frame if `offset` is the time of a frame.
  public func delayed(by offset: PlaybackTime) -> MediaBuffer {
    let time = PlaybackTime(flicks: presentationTime.flicks &+ offset.flicks)
    return switch self {
    case .samples(let buffer): .samples(buffer.moved(to: time))
    case .packet(let buffer): .packet(buffer.moved(to: time))
    }
  }
}

extension AudioRenderer {
  /// Adds samples or a packet, as the two other methods of this name do.
  ///
  /// - Throws: the same errors.
  public func enqueue(_ buffer: MediaBuffer) throws(TuttiError) {
    switch buffer {
    case .samples(let buffer): try enqueue(buffer)
    case .packet(let buffer): try enqueue(buffer)
    }
  }
}
