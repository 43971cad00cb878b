import Audio
import Clock
import WireProtocol

/// The fuzzer's input as a sequence of instructions. Beyond its end all bytes are zero.
struct Script {
  private let bytes: [UInt8]
  private var next = 0

  init(bytes: [UInt8]) { self.bytes = bytes }

  var isOver: Bool { next >= bytes.count }

  mutating func byte() -> UInt8 {
    guard next < bytes.count else { return 0 }
    defer { next += 1 }
    return bytes[next]
  }

  mutating func take(_ count: Int) -> [UInt8] { (0..<count).map { _ in byte() } }

  mutating func word() -> UInt64 { take(8).reduce(0) { $0 << 8 | UInt64($1) } }

  /// Returns a small number, or one anywhere in the range.
  mutating func number(in range: ClosedRange<Int64>) -> Int64 {
    let choice = byte()
    switch choice {
    case 0: return range.lowerBound
    case 1: return range.upperBound
    case 2:
      let width = range.upperBound.subtractingReportingOverflow(range.lowerBound).partialValue
      return range.lowerBound + Int64(word() % UInt64(width))
    default: return min(max(Int64(choice) * 100_000_000, range.lowerBound), range.upperBound)
    }
  }

  mutating func mediaTime() -> MediaTime {
    let time = number(in: ProtocolLimits.mediaTime)
    return MediaTime(flicks: byte() % 8 == 0 ? time : time / 88_200 * 88_200)
  }

  mutating func groupTime() -> GroupTime {
    GroupTime(nanoseconds: number(in: ProtocolLimits.clockTime))
  }

  mutating func generation() -> UInt32 {
    let number = byte()
    return number < 250 ? UInt32(number % 8) : UInt32(self.number(in: 0...(1 << 31 - 1)))
  }

  mutating func sound() -> SoundSetting {
    var sound = SoundSetting()
    let flags = byte()
    (sound.isOn, sound.hasLoudness) = (flags & 1 == 0, flags & 2 != 0)
    (sound.hasCrossfeed, sound.usesFIR) = (flags & 4 != 0, flags & 8 != 0)
    sound.distance = Double(byte()) / 10
    if flags & 16 != 0 { sound.crossover = Crossover(.low, frequency: Double(byte()) * 4) }
    sound.bands = (0..<Int(flags >> 5)).map { _ in
      SoundBand(.peak, frequency: Double(byte()) * 80, gain: Double(byte()) / 10 - 12, q: 1)
    }
    return sound
  }

  mutating func settings() -> RoomSettings {
    RoomSettings(
      volume: UInt16(byte()) * 3, isMuted: byte() % 2 == 0,
      delay: Nanoseconds(number(in: ProtocolLimits.roomDelay)), channelMap: .stereo)
  }
}

func fuzzIdentifier(_ number: UInt8) -> Identifier {
  guard let identifier = Identifier([UInt8](repeating: number, count: 16)) else {
    preconditionFailure("sixteen bytes")
  }
  return identifier
}

func fuzzPeer(_ number: UInt8) -> SecuredPeer {
  let id = fuzzIdentifier(number)
  return SecuredPeer(id: id, clockKey: id.bytes, binding: id.bytes + id.bytes)
}
