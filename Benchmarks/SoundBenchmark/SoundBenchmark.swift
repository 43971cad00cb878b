import Audio

/// How much of a core a room's sound takes: TUTTI_BENCHMARKS=1 swift run -c release sound-benchmark
///
/// It filters a minute of noise in memory, in turns of 10 ms, and prints the processor time by the time of the music.
@main enum SoundBenchmark {
  private static let seconds = 60

  static func main() {
    for rate in [48_000, 192_000] {
      print("8 bands, bass and treble at \(rate) Hz: \(percent(bands(rate)))")
      for taps in [8_192, 65_536] {
        print("FIR filter of \(taps) taps at \(rate) Hz: \(percent(filter(rate, taps)))")
      }
    }
  }

  private static func percent(_ time: Duration) -> String {
    let share = time / .seconds(seconds) * 100
    return "\((share * 100).rounded() / 100) % of a core"
  }

  private static func bands(_ rate: Int) -> Duration {
    var setting = SoundSetting()
    setting.bands = (0..<8).map { SoundBand(.peak, frequency: Double(60 << $0), gain: 3, q: 2) }
    (setting.bass, setting.treble) = (3, 3)
    let program = SoundProgram(setting, rate: rate, attenuation: 0)
    var (state, frames) = (SoundState(), rate / 100)
    var left = (0..<frames).map { _ in Double.random(in: -1...1) }
    var right = left
    return ContinuousClock().measure {
      for _ in 0..<100 * seconds {
        left.withUnsafeMutableBufferPointer { left in
          right.withUnsafeMutableBufferPointer { right in
            state.run(program, left.baseAddress!, right.baseAddress!, frames: frames)
          }
        }
      }
    }
  }

  private static func filter(_ rate: Int, _ taps: Int) -> Duration {
    let values = (0..<taps).map { $0 == taps / 2 ? 1 : Float.random(in: -1e-3...1e-3) }
    guard let response = ImpulseResponse(rate: rate, channels: [values, values]) else {
      return .zero
    }
    var convolver = Convolver(response, rewindFrames: rate * 3 / 4, channelCount: 2)
    let noise = (0..<2 * Convolver.block).map { _ in Float.random(in: -1...1) }
    let change = CrossFade(sampleRate: rate, share: 1)
    var (out, next) = ([Float](repeating: 0, count: 2 * rate / 100), Int64(0))
    return ContinuousClock().measure {
      for _ in 0..<100 * seconds {
        let frames = rate / 100
        let end = next + Int64(frames) + convolver.reach + Int64(Convolver.block)
        while convolver.next < end {
          let room = convolver.room
          for i in 0..<2 * room { convolver.place[i] = noise[i] }
          convolver.wrote(room, isSilent: false)
        }
        out.withUnsafeMutableBufferPointer {
          convolver.read(from: next, into: $0.baseAddress!, frames: frames, change)
        }
        next += Int64(frames)
      }
    }
  }
}
