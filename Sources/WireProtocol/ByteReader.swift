/// Reads big-endian fields from untrusted bytes, one after the other, and never past their end. The
/// name of a field appears only in errors.
package struct ByteReader {
  private var rest: ArraySlice<UInt8>

  package init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

  package var remaining: Int { rest.count }

  package mutating func uint8(_ field: String) throws(DecodeError) -> UInt8 {
    guard let byte = rest.popFirst() else { throw .truncated(field: field) }
    return byte
  }

  package mutating func uint16(_ field: String) throws(DecodeError) -> UInt16 {
    try integer(field)
  }

  package mutating func uint32(_ field: String) throws(DecodeError) -> UInt32 {
    try integer(field)
  }

  package mutating func uint64(_ field: String) throws(DecodeError) -> UInt64 {
    try integer(field)
  }

  package mutating func int64(_ field: String) throws(DecodeError) -> Int64 {
    Int64(bitPattern: try integer(field))
  }

  package mutating func int32(_ field: String) throws(DecodeError) -> Int32 {
    Int32(bitPattern: try integer(field))
  }

  package mutating func bytes(_ count: Int, _ field: String) throws(DecodeError)
    -> ArraySlice<UInt8>
  {
    guard count >= 0, count <= rest.count else { throw .truncated(field: field) }
    defer { rest = rest.dropFirst(count) }
    return rest.prefix(count)
  }

  package mutating func skip(_ count: Int, _ field: String) throws(DecodeError) {
    _ = try bytes(count, field)
  }

  /// Reads UTF-8 after a 16-bit length. Refuses control characters, because such text ends up on
  /// terminals.
  package mutating func text(atMost limit: Int, _ field: String) throws(DecodeError) -> String {
    let count = Int(try uint16(field))
    guard count <= limit else { throw .tooLong(field: field, byteCount: count, limit: limit) }
    let bytes = try bytes(count, field)
    guard let text = String(validating: bytes, as: UTF8.self), text.isPlain else {
      throw .malformedText(field: field)
    }
    return text
  }

  private mutating func integer<Value: FixedWidthInteger & UnsignedInteger>(_ field: String)
    throws(DecodeError) -> Value
  {
    var value: Value = 0
    for byte in try bytes(Value.bitWidth / 8, field) { value = value << 8 | Value(byte) }
    return value
  }
}

extension ByteReader {
  package mutating func uint16(in range: ClosedRange<UInt16>, _ field: String)
    throws(DecodeError) -> UInt16
  {
    try check(uint16(field), in: range, field)
  }

  package mutating func uint32(in range: ClosedRange<UInt32>, _ field: String)
    throws(DecodeError) -> UInt32
  {
    try check(uint32(field), in: range, field)
  }

  package mutating func uint64(in range: ClosedRange<UInt64>, _ field: String)
    throws(DecodeError) -> UInt64
  {
    try check(uint64(field), in: range, field)
  }

  package mutating func int64(in range: ClosedRange<Int64>, _ field: String)
    throws(DecodeError) -> Int64
  {
    try check(int64(field), in: range, field)
  }

  private func check<Value: FixedWidthInteger>(
    _ value: Value, in range: ClosedRange<Value>, _ field: String
  ) throws(DecodeError) -> Value {
    guard range.contains(value) else {
      throw .outOfRange(field: field, value: Int64(clamping: value))
    }
    return value
  }
}
