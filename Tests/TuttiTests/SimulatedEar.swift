import Audio
import Clock
import WireProtocol

/// A room that keeps to the protocol, and can be asked what it plays. Everything arrives at once.
struct SimulatedEar {
  private struct Sound {
    var packet: AudioPacket
    var format: StreamFormat
    var end: MediaTime
  }

  /// In order of media time.
  private var sounds: [Sound] = []
  private var cuts: [Flush] = []
  private var anchors: [Anchor] = []
  private var formats: [UInt16: StreamFormat] = [:]
  private var framers = (
    control: MessageFramer(limit: ProtocolLimits.mediaMessage),
    media: MessageFramer(limit: ProtocolLimits.mediaMessage)
  )
  /// Violations of the protocol.
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

  mutating func heard(media bytes: [UInt8]) {
    framers.media.append(bytes)
    while let raw = try? framers.media.next() {
      switch try? MediaMessage.decode(raw) {
      case .format(let id, let format)?: formats[id] = format
      case .packet(let packet)?: take(packet)
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
    sounds.append(Sound(packet: packet, format: format, end: limit.map { min($0, end) } ?? end))
    if sounds.count > 4_096 { sounds.removeFirst(1_024) }
  }

  /// Returns the value of the frame that sounds; nil for silence.
  func sound(at time: GroupTime) -> Float? {
    guard let anchor = anchors.last(where: { $0.groupTime <= time }), anchor.rate == .playing
    else { return nil }
    let place = anchor.mediaTime(at: time)
    guard let sound = sounds.last(where: { $0.packet.mediaTime <= place }), place < sound.end
    else { return nil }
    let audio = sound.format.audio
    let frame = (place - sound.packet.mediaTime).flicks / audio.duration(ofFrames: 1).flicks
    let index = sound.format.codec == .pcm ? Int(frame) * audio.channelCount * 4 : 0
    let value = Self.value(sound.packet.encoded.payload, at: index)
    return value == 0 ? nil : value
  }

  static func value(_ bytes: [UInt8], at index: Int) -> Float {
    guard index + 4 <= bytes.count else { return 0 }
    return bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: index, as: Float.self) }
  }
}
