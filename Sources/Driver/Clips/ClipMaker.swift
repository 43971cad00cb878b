import Audio
package import Clock
import Codecs
import Dispatch
import FFmpegSource
import LinuxIO
package import Sender
package import WireProtocol

/// Makes clips: of words, by the user's command that speaks, and of what can be played. It blocks, so it has threads of its
/// own.
package struct ClipMaker: Sendable {
  package enum Sound: Hashable, Sendable {
    /// The chime alone.
    case none
    case words(String)
    case item(location: String, reach: SourceReach)
  }

  package enum Failure: Error, Hashable, Sendable, CustomStringConvertible {
    /// The request cannot be carried out: a sentence.
    case invalid(String)
    /// A part of this system is missing, or too slow: a sentence.
    case unavailable(String)

    package var description: String {
      switch self {
      case .invalid(let line), .unavailable(let line): line
      }
    }
  }

  package struct Made: Sendable {
    package var clip: Clip
    package var length: Nanoseconds
  }

  /// The command that is used where the configuration names none.
  package static let usualVoice = ["espeak-ng", "--stdout", "--stdin"]
  /// Characters that are spoken: a minute of speech has about a thousand.
  package static let textLimit = 1_000
  /// Bytes of a voice's sound: a minute of two channels at 48 kHz with 32 bits.
  private static let voiceLimit = 23 << 20
  /// Time for the voice to speak: programs make speech many times as fast as people.
  private static let voiceTime = Nanoseconds.seconds(10)
  /// A minute of sound is read faster than this, or not at all.
  private static let readTime = Nanoseconds.seconds(20)
  private static let rate = 48_000
  /// In bits per second: speech sounds as the original from about half of it on.
  private static let bitrate = 64_000
  /// Silence at the end, within which rooms fade out.
  private static let tail = rate / 50

  private let voice: [String]

  /// - Parameter voice: a program and its arguments. It gets the words on its standard input, and writes WAV.
  package init(voice: [String] = usualVoice) { self.voice = voice }

  /// Makes a clip of one channel. Blocks for as long as the sound takes to read.
  package func make(_ sound: Sound, withChime: Bool) throws(Failure) -> Made {
    let chime = withChime ? Chime.sound(sampleRate: Self.rate) : []
    let samples = chime + (try samples(of: sound)) + [Float](repeating: 0, count: Self.tail)
    guard samples.count <= ProtocolLimits.clipSpan.frames(at: Self.rate) else { throw Self.tooLong }
    do throws(CodecError) {
      let clip = try Self.encode(samples)
      guard clip.bytes.count <= ProtocolLimits.clip else { throw .unsupported("too many bytes") }
      return Made(
        clip: clip,
        length: Nanoseconds(Int64(samples.count) * 1_000_000_000 / Int64(Self.rate)))
    } catch {
      throw .unavailable("the announcement cannot be encoded: \(error)")
    }
  }

  private static let tooLong = Failure.invalid(
    "an announcement is \(Int(ProtocolLimits.clipSpan.seconds)) seconds long at most")

  private static func encode(_ samples: [Float]) throws(CodecError) -> Clip {
    let encoder = try OpusEncoder(channelCount: 1, settings: OpusSettings(bitrate: bitrate))
    var packets: [EncodedPacket] = []
    try encoder.encode(samples, appendingTo: &packets)
    try encoder.finish(appendingTo: &packets)
    return Clip(format: encoder.format, packets: packets)
  }

  private func samples(of sound: Sound) throws(Failure) -> [Float] {
    switch sound {
    case .none: []
    case .words(let text): try spoken(text)
    case .item(let location, let reach): try read(location, reach)
    }
  }

  // MARK: - Words

  private func spoken(_ text: String) throws(Failure) -> [Float] {
    let name = voice.first ?? ""
    let wave: [UInt8]
    do throws(SpokenCommand.Failure) {
      wave = try SpokenCommand.run(
        voice, text: text, limit: Self.voiceLimit, within: Self.voiceTime.count / 1_000_000,
        narrowed: Self.limit)
    } catch {
      switch error {
      case .notStarted(let reason):
        throw .unavailable(
          "the voice \(name) cannot be started: \(reason); install espeak-ng, or set voice in the configuration"
        )
      case .tooSlow: throw .unavailable("the voice \(name) took too long")
      case .tooLong: throw Self.tooLong
      }
    }
    switch WaveHeader.read(Array(wave.prefix(WaveHeader.limit))) {
    case .found(let header):
      guard wave.count > header.length else {
        throw .unavailable("the voice \(name) said nothing")
      }
      return Self.mono(wave, header)
    case .incomplete: throw .unavailable("the voice \(name) said nothing")
    case .refused(let reason):
      throw .unavailable("the sound of the voice \(name) cannot be used: \(reason)")
    }
  }

  /// Bytes of the longest announcement in this wave; nil where its header has not come yet.
  private static func limit(of wave: [UInt8]) -> Int? {
    guard case .found(let header) = WaveHeader.read(wave) else { return nil }
    return header.length
      + ProtocolLimits.clipSpan.frames(at: header.format.sampleRate) * frameSize(header)
  }

  private static func frameSize(_ header: WaveHeader.Found) -> Int {
    header.format.channelCount * header.sampleType.format.byteCount
  }

  private static func mono(_ wave: [UInt8], _ header: WaveHeader.Found) -> [Float] {
    var mix = MonoMix(of: header.format)
    let block = frameSize(header) << 14
    for place in stride(from: header.length, to: wave.count, by: block) {
      var frames: [Float] = []
      header.sampleType.format.decode(
        Array(wave[place..<min(place + block, wave.count)]), appendingTo: &frames)
      mix.add(frames)
    }
    return mix.finished()
  }

  // MARK: - Files and addresses

  private func read(_ location: String, _ reach: SourceReach) throws(Failure) -> [Float] {
    let deadline = HostClock.now + Self.readTime
    do throws(MediaError) {
      let interruption = try ReadInterruption()
      let opener = SourceOpener(interruption: interruption) { _ in }
      // A source that delivers nothing is left then. One that has ended keeps no pipe until then.
      let time = DispatchTime.now() + .nanoseconds(Int(Self.readTime.count))
      DispatchQueue.global().asyncAfter(deadline: time) { [weak interruption] in
        interruption?.interrupt()
      }
      let source = try opener.open(PlayItem(id: 0, location: location, reach: reach))
      return try Self.mono(source, location, by: deadline)
    } catch {
      if error == Self.endless { throw Self.tooLong }
      throw .unavailable(error.description)
    }
  }

  private static let endless = MediaError.unsupported(path: "", reason: "too long")

  private static func mono(
    _ source: any MediaSource, _ location: String, by deadline: LocalTime
  ) throws(MediaError) -> [Float] {
    var mix = MonoMix(of: source.format)
    while HostClock.now < deadline {
      var frames: [Float] = []
      try source.read(source.format.sampleRate / 4, appendingTo: &frames)
      if frames.isEmpty { return mix.finished() }
      mix.add(frames)
      guard mix.samples.count <= ProtocolLimits.clipSpan.frames(at: rate) else { throw endless }
    }
    throw .unsupported(path: location, reason: "it comes too slowly")
  }

  /// Mixes the channels, and converts to the rate of clips, block by block.
  private struct MonoMix {
    private(set) var samples: [Float] = []
    private let channelCount: Int
    private var converter: RateConverter

    init(of format: AudioFormat) {
      channelCount = format.channelCount
      converter = RateConverter(
        from: format.sampleRate, to: ClipMaker.rate, channelCount: 1, startingAt: 0)
    }

    /// - Parameter frames: whole ones; a rest is dropped.
    mutating func add(_ frames: [Float]) {
      let count = channelCount
      let mixed = stride(from: 0, to: frames.count - count + 1, by: count).map { place in
        frames[place..<place + count].reduce(0, +) / Float(count)
      }
      converter.convert(mixed, appendingTo: &samples)
    }

    mutating func finished() -> [Float] {
      converter.finish(appendingTo: &samples)
      return samples
    }
  }
}
