import Audio
import Clock
import WireProtocol

/// A frame of the sound in simulations: the left channel tells the feed and the buffer, the right one the frame's own time.
struct SimulatedFrame {
  /// Ticks of the right channel in a second: a multiple of most sample rates. A float counts 170 seconds of them.
  static let ticks = 96_000.0

  var value: Float
  var tick: Float

  static func tick(_ time: Double) -> Float { Float((time * ticks).rounded()) }

  /// In seconds of the timeline.
  var time: Double { Double(tick) / Self.ticks }
}

/// A room that keeps to the protocol, and can be asked what it plays. Everything arrives at once. It looks at each frame of each
/// packet: sound goes on from one to the next, and none is missing or there twice.
struct SimulatedEar {
  private struct Sound {
    var packet: AudioPacket
    var format: StreamFormat
    var end: MediaTime
  }

  /// In order of media time.
  private var sounds: [Sound] = []
  /// The generations that sound faster or slower than time, in which filters take frames together.
  private var stretched: Set<UInt32> = []
  private var cuts: [Flush] = []
  private var anchors: [Anchor] = []
  private var formats: [UInt16: StreamFormat] = [:]
  private var framers = (
    control: MessageFramer(limit: ProtocolLimits.mediaMessage),
    media: MessageFramer(limit: ProtocolLimits.mediaMessage)
  )
  /// Violations of the protocol, and frames that do not follow each other.
  private(set) var faults: [String] = []

  mutating func heard(control bytes: [UInt8]) {
    framers.control.append(bytes)
    while let raw = try? framers.control.next() {
      switch try? ControlMessage.decode(raw) {
      case .anchor(let anchor)?:
        anchors.removeAll { $0.groupTime >= anchor.groupTime }
        anchors.append(anchor)
      case .flush(let flush)?:
        cuts.append(flush)
        while let last = sounds.last, last.packet.mediaTime >= flush.from { sounds.removeLast() }
        if let last = sounds.indices.last { sounds[last].end = min(sounds[last].end, flush.from) }
      default: break
      }
    }
  }

  /// - Parameter rate: of what the sender makes now.
  mutating func heard(media bytes: [UInt8], at rate: Double) {
    framers.media.append(bytes)
    while let raw = try? framers.media.next() {
      switch try? MediaMessage.decode(raw) {
      case .format(let id, let format)?: formats[id] = format
      case .packet(let packet)?:
        if rate != 1 { stretched.insert(packet.generation) }
        take(packet)
      default: break
      }
    }
  }

  private mutating func take(_ packet: AudioPacket) {
    guard let format = formats[packet.formatID] else { return faults.append("no format") }
    let limit = cuts.filter { $0.generation > packet.generation }.map(\.from).min()
    let end =
      packet.mediaTime
      + MediaDuration(
        frames: Int64(packet.encoded.frameCount), at: format.audio.sampleRate)
    if let limit, packet.mediaTime >= limit { return }
    if let last = sounds.last, last.packet.mediaTime > packet.mediaTime { faults.append("order") }
    let sound = Sound(packet: packet, format: format, end: limit.map { min($0, end) } ?? end)
    check(sound, after: sounds.last)
    sounds.append(sound)
    if sounds.count > 4_096 { sounds.removeFirst(1_024) }
  }

  /// Within one feed each frame follows the one before.
  private mutating func check(_ sound: Sound, after last: Sound?) {
    if stretched.contains(sound.packet.generation) { return }
    let audio = sound.format.audio
    let isNext =
      last.map { last in
        last.end == sound.packet.mediaTime && last.packet.generation == sound.packet.generation
          && last.format.audio == audio && last.packet.encoded.frameCount > 0
      } ?? false
    var before = SimulatedFrame(value: 0, tick: 0)
    if let last, isNext { before = Self.frame(Int64(last.packet.encoded.frameCount - 1), of: last) }
    // A frame, and rounded ticks.
    let most = Float(SimulatedFrame.ticks / Double(audio.sampleRate) + 1)
    guard sound.format.codec == .pcm else {
      return check(before, Self.frame(0, of: sound), most)
    }
    let (channels, count) = (audio.channelCount, sound.packet.encoded.frameCount)
    sound.packet.encoded.payload.withUnsafeBytes { bytes in
      let samples = bytes.bindMemory(to: Float.self)
      for frame in 0..<min(count, samples.count / channels) {
        let next = SimulatedFrame(
          value: samples[frame * channels], tick: samples[frame * channels + 1])
        let moved = next.tick - before.tick
        if moved < -1 || moved > most { check(before, next, most) }
        before = next
      }
    }
  }

  /// Frames of two feeds, and silence, follow each other as they like.
  private mutating func check(_ one: SimulatedFrame, _ next: SimulatedFrame, _ most: Float) {
    let moved = next.tick - one.tick
    guard moved < -1 || moved > most, one.value != 0, next.value != 0,
      (one.value / 16_384).rounded(.down) == (next.value / 16_384).rounded(.down)
    else { return }
    faults.append("\(next.time) follows \(one.time)")
  }

  private static func frame(_ frame: Int64, of sound: Sound) -> SimulatedFrame {
    let bytes = sound.packet.encoded.payload
    guard sound.format.codec == .pcm else {
      let rate = Double(sound.format.audio.sampleRate)
      let frame = frame + Int64(sound.packet.encoded.skippedFrames)
      let first = SimulatedFrame(value: value(bytes, at: 0), tick: value(bytes, at: 4))
      return .init(
        value: first.value, tick: SimulatedFrame.tick(first.time + Double(frame) / rate))
    }
    let index = Int(frame) * sound.format.audio.channelCount * 4
    return .init(value: value(bytes, at: index), tick: value(bytes, at: index + 4))
  }

  /// Returns the frame that sounds; nil for silence.
  func sound(at time: GroupTime) -> SimulatedFrame? {
    guard let anchor = anchors.last(where: { $0.groupTime <= time }), anchor.rate == .playing
    else { return nil }
    let place = anchor.mediaTime(at: time)
    guard let sound = sounds.last(where: { $0.packet.mediaTime <= place }), place < sound.end
    else { return nil }
    let audio = sound.format.audio
    let frame = (place - sound.packet.mediaTime).flicks / audio.duration(ofFrames: 1).flicks
    let heard = Self.frame(frame, of: sound)
    return heard.value == 0 ? nil : heard
  }

  static func value(_ bytes: [UInt8], at index: Int) -> Float {
    guard index + 4 <= bytes.count else { return 0 }
    return bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: index, as: Float.self) }
  }
}
