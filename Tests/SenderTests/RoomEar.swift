import Audio
import Clock
import WireProtocol

@testable import Sender

/// A room that keeps to the protocol and records what it would play: for each frame of the stream, at 8 kHz, the
/// sample that is heard there. Flushes act at once, so nothing may be flushed that was sounding.
struct RoomEar {
  static let frame = AudioFormat(sampleRate: 8000, channelCount: 1).duration(ofFrames: 1).flicks

  private struct Sample {
    var value: Float
    var generation: UInt32
  }

  /// Samples from stream frame 0 on, without flushed ones; nil where nothing was sent.
  private var samples: [Sample?] = []
  private var cuts: [(generation: UInt32, from: Int)] = []
  private(set) var flushes: [Flush] = []
  /// The last frame that was marked as the end of the stream.
  private(set) var end: Int?
  /// Violations of the protocol.
  private(set) var faults: [String] = []

  var heard: [Float?] { samples.map { $0?.value } }

  mutating func hear(_ control: [ControlMessage], _ media: [MediaMessage]) {
    for message in control {
      if case .flush(let flush) = message { take(flush) }
    }
    for message in media {
      if case .packet(let packet) = message { take(packet) }
    }
  }

  static func index(_ time: MediaTime) -> Int { Int((time.flicks + frame - 1) / frame) }

  private mutating func take(_ flush: Flush) {
    flushes.append(flush)
    let from = Self.index(flush.from)
    cuts.append((flush.generation, from))
    if samples.count > from { samples.removeLast(samples.count - from) }
    end = end.flatMap { $0 > from ? nil : $0 }
  }

  private mutating func take(_ packet: AudioPacket) {
    let start = Self.index(packet.mediaTime)
    let limit = cuts.filter { $0.generation > packet.generation }.map(\.from).min() ?? .max
    guard start < limit else { return }
    if packet.generation > cuts.last?.generation ?? 0 {
      faults.append("a generation before its flush")
    }
    let values = Self.values(packet).prefix(limit - start)
    if start < samples.count { faults.append("overlap at \(start), \(samples.count)") }
    while samples.count < start { samples.append(nil) }
    samples += values.map { Sample(value: $0, generation: packet.generation) }
    if packet.endsStream { end = samples.count }
  }

  private static func values(_ packet: AudioPacket) -> [Float] {
    stride(from: 0, to: packet.encoded.payload.count, by: 4).map { place in
      let bytes = packet.encoded.payload[place..<place + 4]
      return Float(bitPattern: bytes.reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) })
    }
  }
}

/// Frames that contain their item and their place in it. A `Float` has 24 bits, so this is exact.
enum ItemSample {
  static func value(item: Int, frame: Int) -> Float {
    Float(item * 65_536 + frame) / Float(1 << 24)
  }

  static func open(_ item: PlayItem) throws(MediaError) -> any MediaSource {
    guard let length = Int64(item.location) else { throw .notFound(path: item.location) }
    return ItemSource(item: item.id, length: length)
  }
}

final class ItemSource: MediaSource {
  let format = AudioFormat(sampleRate: 8000, channelCount: 1)
  let sampleType = SampleType.float32
  let isLossless = true
  let metadata = ItemMetadata()
  let frameCount: Int64?
  private let item: Int
  private var next: Int64 = 0

  init(item: Int, length: Int64) {
    self.item = item
    frameCount = length
  }

  func read(_ count: Int, appendingTo frames: inout [Float]) throws(MediaError) {
    let end = min(next + Int64(count), frameCount ?? 0)
    while next < end {
      frames.append(ItemSample.value(item: item, frame: Int(next)))
      next += 1
    }
  }

  func seek(toFrame frame: Int64) throws(MediaError) { next = frame }
}
