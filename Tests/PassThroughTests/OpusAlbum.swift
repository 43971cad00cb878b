import Foundation
import TestSupport

/// An Ogg Opus file whose packets all cover 20 ms, and cuts of it that go on where the one before ends: sample-exact, by
/// what RFC 7845 says of the pre-skip and of the position of the last page.
struct OpusAlbum {
  private static let step = 960
  /// 240 ms, until a decoder sounds as if it had decoded all before: after 80 ms, as RFC 7845 asks for, it is 4 % off.
  private static let lead = 12

  private let head: [UInt8]
  private let tags: [UInt8]
  private let packets: [[UInt8]]
  private let delay: Int

  init(_ file: [UInt8]) {
    var all = Self.packets(of: file)
    head = all.removeFirst()
    tags = all.removeFirst()
    packets = all
    delay = Int(head[10]) | Int(head[11]) << 8
  }

  /// A file that sounds these frames of the whole.
  func track(_ frames: Range<Int>) -> [UInt8] {
    let first = max(0, (frames.lowerBound + delay) / Self.step - Self.lead)
    let end = min(packets.count, (frames.upperBound + delay + Self.step - 1) / Self.step)
    let skipped = frames.lowerBound + delay - first * Self.step
    var head = head
    (head[10], head[11]) = (UInt8(skipped & 255), UInt8(skipped >> 8))
    var file = Self.page(head, 0, number: 0, flags: 2) + Self.page(tags, 0, number: 1)
    for (number, packet) in packets[first..<end].enumerated() {
      let isLast = first + number + 1 == end
      let position = isLast ? skipped + frames.count : (number + 1) * Self.step
      file += Self.page(packet, position, number: number + 2, flags: isLast ? 4 : 0)
    }
    return file
  }

  /// Those of all pages.
  private static func packets(of file: [UInt8]) -> [[UInt8]] {
    var (packets, packet, place) = ([[UInt8]](), [UInt8](), 0)
    while place + 27 <= file.count {
      let lengths = file[place + 27..<place + 27 + Int(file[place + 26])]
      place = lengths.endIndex
      for length in lengths {
        packet += file[place..<place + Int(length)]
        place += Int(length)
        guard length < 255 else { continue }
        packets.append(packet)
        packet = []
      }
    }
    return packets
  }

  /// A page of one packet, which ends at `position`.
  private static func page(
    _ packet: [UInt8], _ position: Int, number: Int, flags: UInt8 = 0
  ) -> [UInt8] {
    func little(_ value: Int, _ count: Int) -> [UInt8] {
      (0..<count).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
    }
    let lengths = [UInt8](repeating: 255, count: packet.count / 255) + [UInt8(packet.count % 255)]
    var page = Array("OggS".utf8) + [0, flags]
    page += little(position, 8) + little(7, 4) + little(number, 4) + little(0, 4)
    page += [UInt8(lengths.count)] + lengths + packet
    let sum = page.reduce(UInt32(0)) { sum, byte in
      (0..<8).reduce(sum ^ UInt32(byte) << 24) { sum, _ in
        sum >> 31 == 1 ? sum << 1 ^ 0x04c1_1db7 : sum << 1
      }
    }
    page.replaceSubrange(22..<26, with: little(Int(sum), 4))
    return page
  }
}
