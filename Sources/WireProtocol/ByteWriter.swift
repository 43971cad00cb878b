/// Writes big-endian fields. Values outside a field's range are clamped, so that nothing this side sends is refused
/// as malformed.
package struct ByteWriter {
  package private(set) var bytes: [UInt8] = []

  package init() {}

  /// Appends one message to `bytes`: length, type, and what `body` writes. Copies nothing that is there.
  package static func message(
    _ type: UInt16, appendingTo bytes: inout [UInt8], body: (inout ByteWriter) -> Void
  ) {
    var writer = ByteWriter()
    swap(&writer.bytes, &bytes)
    let start = writer.bytes.count
    writer.uint32(0)
    writer.uint16(type)
    body(&writer)
    writer.patchLength(at: start)
    swap(&writer.bytes, &bytes)
  }

  package mutating func uint8(_ value: UInt8) { bytes.append(value) }
  package mutating func uint16(_ value: UInt16) { integer(value) }
  package mutating func uint32(_ value: UInt32) { integer(value) }
  package mutating func uint64(_ value: UInt64) { integer(value) }
  package mutating func int32(_ value: Int32) { integer(UInt32(bitPattern: value)) }
  package mutating func int64(_ value: Int64) { integer(UInt64(bitPattern: value)) }

  package mutating func int64(_ value: Int64, clampedTo range: ClosedRange<Int64>) {
    int64(min(max(value, range.lowerBound), range.upperBound))
  }

  package mutating func uint64(_ value: UInt64, clampedTo range: ClosedRange<UInt64>) {
    uint64(min(max(value, range.lowerBound), range.upperBound))
  }

  package mutating func bytes(_ value: [UInt8]) { bytes.append(contentsOf: value) }

  package mutating func zeros(_ count: Int) {
    bytes.append(contentsOf: repeatElement(0, count: count))
  }

  /// Writes UTF-8 after a 16-bit length, made fit by `String.plain(atMost:)`.
  package mutating func text(_ value: String, atMost limit: Int) {
    let plain = value.plain(atMost: limit)
    uint16(UInt16(clamping: plain.utf8.count))
    bytes.append(contentsOf: plain.utf8)
  }

  private mutating func integer<Value: FixedWidthInteger & UnsignedInteger>(_ value: Value) {
    var shift = Value.bitWidth
    while shift > 0 {
      shift -= 8
      bytes.append(UInt8(truncatingIfNeeded: value >> shift))
    }
  }

  private mutating func patchLength(at start: Int) {
    let length = UInt32(clamping: bytes.count - start - 4)
    for i in 0..<4 { bytes[start + i] = UInt8(truncatingIfNeeded: length >> (24 - 8 * i)) }
  }
}
