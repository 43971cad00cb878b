import Synchronization
import Tutti

/// Keeps what a room sounds.
final class Ear: Sendable {
  private let heard = Mutex<[HeardAudio]>([])

  var room: Room { .listening { audio in self.heard.withLock { $0.append(audio) } } }
  var last: HostTime? { heard.withLock { $0.last?.hostTime } }

  func listen(until time: HostTime) async {
    while last.map({ $0 < time }) ?? true { await Task.yield() }
  }

  /// The left channel, each frame with its instant.
  var frames: [(time: HostTime, level: Float)] {
    heard.withLock { heard in
      heard.flatMap { audio in
        stride(from: 0, to: audio.samples.count, by: 2).map { place in
          let later = Duration.seconds(Double(place / 2) / Double(audio.sampleRate))
          return (audio.hostTime + later, audio.samples[place])
        }
      }
    }
  }
}
