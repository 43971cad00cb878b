import Synchronization
import Tutti

/// Keeps what a room sounds.
final class Ear: Sendable {
  private struct State {
    var heard: [HeardAudio] = []
    var waiters: [(until: HostTime, continuation: CheckedContinuation<Void, Never>)] = []
  }

  private let state = Mutex(State())

  var room: Room {
    .listening { audio in
      let due = self.state.withLock { state in
        state.heard.append(audio)
        defer { state.waiters.removeAll { $0.until <= audio.hostTime } }
        return state.waiters.filter { $0.until <= audio.hostTime }
      }
      for waiter in due { waiter.continuation.resume() }
    }
  }

  /// Waits until the room has sounded what is heard at a time.
  func listen(until time: HostTime) async {
    await withCheckedContinuation { continuation in
      let isHeard = state.withLock { state in
        if let last = state.heard.last, last.hostTime >= time { return true }
        state.waiters.append((time, continuation))
        return false
      }
      if isHeard { continuation.resume() }
    }
  }

  /// The left channel, each frame with its instant.
  var frames: [(time: HostTime, level: Float)] { pairs.map { ($0.time, $0.levels[0]) } }

  /// Both channels, each frame with its instant.
  var pairs: [(time: HostTime, levels: [Float])] {
    let heard = state.withLock { $0.heard }
    return heard.flatMap { audio in
      stride(from: 0, to: audio.samples.count, by: 2).map { place in
        let later = Duration.seconds(Double(place / 2) / Double(audio.sampleRate))
        return (audio.hostTime + later, Array(audio.samples[place...(place + 1)]))
      }
    }
  }
}
