import Audio
import Clock
import Sender

/// The audio of exact scenarios: every frame tells its stream position and its generation, so that the position can be
/// read from a card's sound, to a thousandth of a frame, also between frames.
enum TestSignal {
  /// Channels: the coarse position, its cosine and sine, the generation, and full level.
  static let channelCount = 5
  /// The same channels, then the item and the frame within it.
  static let itemChannelCount = 7
  static let sampleRate = 8_000
  private static let period = 64
  private static let positionScale = Float(1 << 22)
  private static let generationScale = Float(64)
  private static let itemScale = Float(1 << 10)
  private static let itemFrameScale = Float(1 << 16)
  private static let table: [(Float, Float)] = (0..<period).map {
    let turns = Double($0) / Double(period)
    return (Float(sine(ofTurns: turns + 0.25)), Float(sine(ofTurns: turns)))
  }

  static func append(_ frame: Int64, generation: UInt32, to samples: inout [Float]) {
    let (cosine, sine) = table[Int(frame % Int64(period))]
    samples.append(Float(frame) / positionScale)
    samples.append(cosine)
    samples.append(sine)
    samples.append(Float(generation % 64) / generationScale)
    samples.append(1)
  }

  /// Appends the two channels that tell the item.
  static func append(item: Int, frame: Int64, to samples: inout [Float]) {
    samples.append(Float(item % 1024) / itemScale)
    samples.append(Float(frame % 65_536) / itemFrameScale)
  }

  /// Returns the stream frame and the generation modulo 64 that samples at full level tell.
  static func place(_ samples: ArraySlice<Float>) -> (frame: Int64, generation: UInt32) {
    let frame = (samples[samples.startIndex] * positionScale).rounded()
    let generation = (samples[samples.startIndex + 3] * generationScale).rounded()
    return (Int64(exactly: frame) ?? 0, UInt32(exactly: generation) ?? 0)
  }

  struct Reading {
    var gain: Double
    /// In stream frames.
    var position: Double
    /// The generation modulo 64, or a value between two of them at a transition.
    var generation: Double
    /// Nil unless samples tell their item.
    var item: ItemReading?
  }

  struct ItemReading {
    /// The item's identity modulo 1024, or a value between two of them.
    var item: Double
    /// The stream frame at which the item's first frame belongs. Unlike `position`, it stays right if frames on one
    /// side are missing.
    var origin: Double
  }

  /// Returns nil in silence, and if a fade has left too little to read.
  static func read(_ samples: ArraySlice<Float>) -> Reading? {
    let base = samples.startIndex
    let gain = samples[base + 4]
    guard gain > 0.01 else { return nil }
    let coarse = (Double(samples[base] / gain) * Double(positionScale)).rounded()
    guard coarse > -1e6, coarse < 1e9 else { return nil }
    let place = ((Int(coarse) % period) + period) % period
    let (cosine, sine) = table[place]
    let error = Double((samples[base + 2] * cosine - samples[base + 1] * sine) / gain)
    let angle = error * (1 + error * error / 6 * (1 + 0.45 * error * error))
    return Reading(
      gain: Double(gain), position: coarse + angle * Double(period) / (2 * Double.pi),
      generation: Double(samples[base + 3] / gain * generationScale), item: readItem(samples))
  }

  private static func readItem(_ samples: ArraySlice<Float>) -> ItemReading? {
    guard samples.count == itemChannelCount else { return nil }
    let base = samples.startIndex
    let gain = Double(samples[base + 4])
    let place = Double(samples[base]) * Double(positionScale)
    let frame = Double(samples[base + 6]) * Double(itemFrameScale)
    return ItemReading(
      item: Double(samples[base + 5]) / gain * Double(itemScale), origin: (place - frame) / gain)
  }
}

/// An item of the test signal, or of silence in scenarios without samples.
final class SignalSource: MediaSource {
  let format: AudioFormat
  let sampleType: SampleType
  let isLossless = true
  let frameCount: Int64?
  var isSeekable: Bool { live == nil }
  let live: LiveTiming?
  /// The latency that a live item holds.
  private(set) var held = Nanoseconds.zero
  var heldGoal = Nanoseconds.zero
  var heldLatency: Nanoseconds? { live == nil ? nil : held }
  let metadata = ItemMetadata()
  private var next: Int64 = 0
  let supply: Supply
  /// Frames read since the item was opened.
  private(set) var framesRead: Int64 = 0
  var openedAt: TrueTime?
  private let item: Int
  private let isExact: Bool
  private let tellsItems: Bool
  /// The stream frame at which this item's frame 0 sounds or would sound, and its generation; set once they are known.
  var start: (frame: Int64, generation: UInt32) = (0, 0)

  init(
    item: Int, frameCount: Int64?, _ configuration: SimulatedGroup.Configuration,
    live: LiveTiming? = nil
  ) {
    self.live = live
    held = live?.latency ?? .zero
    heldGoal = held
    self.item = item
    self.frameCount = frameCount
    supply = live == nil ? configuration.delivery?.supply ?? .stored : .live
    isExact = configuration.isExact
    tellsItems = configuration.tellsItems
    sampleType = isExact ? .float32 : .int16
    format = AudioFormat(
      sampleRate: TestSignal.sampleRate, channelCount: configuration.channelCount)
  }

  func read(_ count: Int, appendingTo frames: inout [Float]) throws(MediaError) {
    let left = frameCount.map { max(0, $0 - next) } ?? .max
    let count = min(Int64(count), left)
    if isExact {
      for i in 0..<count {
        TestSignal.append(start.frame + next + i, generation: start.generation, to: &frames)
        if tellsItems { TestSignal.append(item: item, frame: next + i, to: &frames) }
      }
    } else {
      frames.append(contentsOf: repeatElement(0, count: Int(count)))
    }
    next += count
    framesRead += count
    let span = Nanoseconds(MediaDuration(frames: count, at: TestSignal.sampleRate))
    held = held + LiveIntake.step(from: held, to: heldGoal, in: span)
  }

  func seek(toFrame frame: Int64) throws(MediaError) { next = frame }

  func packets() throws(PassObstacle) -> any PacketSource { SignalPackets(self) }

  var position: Int64 { next }
}

/// Encodes only a number of frames, for rooms that make no samples. Its packets are longer than those of music, because
/// nobody hears them.
final class SilenceEncoder: AudioEncoder {
  let format: StreamFormat
  static let packetsPerSecond = 5
  private let packetFrames: Int
  private let packetBytes: Int
  private var held = 0

  init(_ shape: SourceShape, packetBytes: Int) {
    packetFrames = shape.format.sampleRate / (shape.isLive ? 200 : Self.packetsPerSecond)
    // No datagram of a live stream holds so much.
    self.packetBytes = shape.isLive ? 2 : packetBytes
    format = StreamFormat(codec: .pcm, audio: shape.format, sampleType: shape.sampleType)
  }

  func encode(
    _ frames: [Float], appendingTo packets: inout [EncodedPacket]
  ) throws(CodecError) {
    held += frames.count / format.audio.channelCount
    while held >= packetFrames {
      packets.append(packet(packetFrames))
      held -= packetFrames
    }
  }

  func finish(appendingTo packets: inout [EncodedPacket]) throws(CodecError) {
    if held > 0 { packets.append(packet(held)) }
    held = 0
  }

  private func packet(_ frames: Int) -> EncodedPacket {
    let count = [UInt8(truncatingIfNeeded: frames >> 8), UInt8(truncatingIfNeeded: frames)]
    let rest = repeatElement(UInt8(0), count: packetBytes - count.count)
    return EncodedPacket(payload: count + rest, frameCount: frames)
  }
}

final class SilenceDecoder: AudioDecoder {
  private let channelCount: Int

  init(_ format: StreamFormat) { channelCount = format.audio.channelCount }

  func decode(_ payload: [UInt8], appendingTo frames: inout [Float]) throws(CodecError) {
    guard payload.count >= 2 else { throw .malformed("not a number of frames") }
    let count = Int(payload[0]) << 8 | Int(payload[1])
    frames.append(contentsOf: repeatElement(0, count: count * channelCount))
  }
}
