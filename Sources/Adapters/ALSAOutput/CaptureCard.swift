package import Audio
import CALSA
package import Clock
import Glibc
package import Output
import Receiver

/// A sound card that records: gives frames, and when it took them. Used by one thread.
package struct CaptureCard: ~Copyable {
  /// The result of one look at the card.
  package struct Look: Sendable {
    /// Interleaved; none where none has come.
    package var frames: [Float] = []
    /// Frames that the card had taken since it was opened, and when; nil where that is not known well enough.
    package var position: (frame: Int64, at: LocalTime, uncertainty: Nanoseconds)?
    /// It was started anew: nobody had read it for too long, or the machine slept.
    package var wasRestarted = false
  }

  /// How often the card interrupts.
  private static let period = Nanoseconds.microseconds(2_500)
  /// The card holds this much while nobody reads.
  private static let ring = Nanoseconds.milliseconds(500)

  package let device: DeviceDescription
  private let pcm: PCMDevice
  private var positions: PositionReader
  private var bytes: [UInt8]
  /// Frames read since it was opened.
  private var taken: Int64 = 0

  /// Opens and starts it.
  ///
  /// - Parameter clock: CLOCK_MONOTONIC_RAW.
  package init(
    opening name: String, sampleRate: Int = 48_000, clock: @escaping @Sendable () -> LocalTime
  ) throws(ALSAError) {
    var settings = OutputSettings(device: name)
    (settings.sampleRate, settings.period, settings.ring) = (sampleRate, Self.period, Self.ring)
    settings.usesRewind = false
    let setup = try DeviceSetup(settings)
    let pcm = try PCMDevice(opening: name, stream: SND_PCM_STREAM_CAPTURE)
    var device = try setup.applyCapture(to: pcm)
    try pcm.check(pcm.start(), "snd_pcm_start")
    _ = DeviceProbe.refine(&device, watching: pcm)
    self.device = device
    self.pcm = pcm
    positions = PositionReader(device, clock: clock)
    bytes = Array(
      repeating: 0,
      count: device.ringFrames * device.channelCount * device.format.bytesPerSample)
  }

  package var format: AudioFormat {
    AudioFormat(sampleRate: device.sampleRate, channelCount: device.channelCount)
  }

  /// How its positions scatter.
  package var clockClass: RenderClock.DeviceClass { device.traits.clockClass }

  /// Waits for about a period, but no longer than 50 ms, then takes what has come.
  ///
  /// - Throws: where the card is gone.
  package mutating func next() throws(ALSAError) -> Look {
    let reading = positions.next(pcm, waiting: waitMilliseconds)
    switch reading.code < 0 ? SND_PCM_STATE_XRUN : reading.status.state {
    case SND_PCM_STATE_RUNNING: break
    case SND_PCM_STATE_DISCONNECTED: throw lost(-ENODEV)
    default: return try restart(after: reading.code)
    }
    var look = Look()
    if reading.isPrecise {
      look.position = (taken + Int64(reading.status.delay), reading.at, reading.uncertainty)
    }
    let count = pcm.read(&bytes, frames: device.ringFrames)
    guard count >= 0 || count == -Int(EAGAIN) else {
      return try restart(after: Int32(count))
    }
    guard count > 0 else { return look }
    taken += Int64(count)
    let size = count * device.channelCount * device.format.bytesPerSample
    device.format.samples.decode(Array(bytes.prefix(size)), appendingTo: &look.frames)
    return look
  }

  private var waitMilliseconds: Int32 {
    Int32(min(max(2, device.periodFrames * 2000 / device.sampleRate), 50))
  }

  private func lost(_ code: Int32) -> ALSAError {
    ALSAError(device: device.device, call: "snd_pcm_readi", code: code)
  }

  private mutating func restart(after failure: Int32) throws(ALSAError) -> Look {
    guard failure != -ENODEV else { throw lost(failure) }
    // While the machine sleeps neither works.
    if failure == -ESTRPIPE, pcm.resume() == -EAGAIN { pause(for: .milliseconds(10)) }
    // A card that stops over and over must not keep this thread busy.
    pause(for: .milliseconds(5))
    let code = pcm.prepare()
    guard code >= 0 || code == -ESTRPIPE else { throw lost(code) }
    if code >= 0 { try pcm.check(pcm.start(), "snd_pcm_start") }
    positions.restart()
    var look = Look()
    look.wasRestarted = true
    return look
  }
}

extension DeviceFormat {
  fileprivate var samples: SampleFormat {
    switch self {
    case .int32: .int32
    case .int24: .int24in32
    case .packed24: .int24
    case .float32: .float32
    case .int16: .int16
    }
  }
}
