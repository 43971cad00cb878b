/// Converts names of files, which are bytes and not always UTF-8: on old disks and in archives they are Latin-1. In a
/// location, a private character, U+EF80 to U+EFFF, stands for each byte that is not UTF-8, so that the file can be
/// found again.
package enum FileName {
  private static let base: UInt32 = 0xef00

  /// Returns the name as it stands in a location.
  package static func text(_ name: some Sequence<UInt8>) -> String {
    let bytes = Array(name)
    if let text = String(validating: bytes, as: UTF8.self), !hasStandIns(text) { return text }
    var scalars = String.UnicodeScalarView()
    var rest = bytes[...]
    while let first = rest.first {
      if let (scalar, length) = character(at: rest) {
        scalars.append(scalar)
        rest = rest.dropFirst(length)
      } else {
        if let standIn = Unicode.Scalar(base + UInt32(first)) { scalars.append(standIn) }
        rest = rest.dropFirst()
      }
    }
    return String(scalars)
  }

  /// Returns the first character and its length in bytes; nil if `rest` does not begin with a character of UTF-8, or
  /// begins with one that stands for a byte.
  private static func character(at rest: ArraySlice<UInt8>) -> (Unicode.Scalar, Int)? {
    for length in 1...4 where length <= rest.count {
      guard let text = String(validating: rest.prefix(length), as: UTF8.self),
        let scalar = text.unicodeScalars.first
      else { continue }
      return byte(scalar) == nil ? (scalar, length) : nil
    }
    return nil
  }

  /// Returns the bytes of the name, ended by a zero.
  package static func bytes(of text: String) -> [CChar] {
    var bytes: [UInt8] = []
    for scalar in text.unicodeScalars {
      if let byte = byte(scalar) {
        bytes.append(byte)
      } else {
        bytes += Array(UTF8.encode(scalar) ?? .init())
      }
    }
    return (bytes + [0]).map { CChar(bitPattern: $0) }
  }

  /// Returns the name for people to read: bytes that are not UTF-8 are shown as Latin-1.
  package static func shown(_ text: String) -> String {
    guard hasStandIns(text) else { return text }
    return String(
      String.UnicodeScalarView(
        text.unicodeScalars.map { scalar in byte(scalar).map { Unicode.Scalar($0) } ?? scalar }))
  }

  private static func hasStandIns(_ text: String) -> Bool {
    text.unicodeScalars.contains { byte($0) != nil }
  }

  /// Returns the byte for which the character stands; nil if it stands for none.
  private static func byte(_ scalar: Unicode.Scalar) -> UInt8? {
    (base + 0x80...base + 0xff).contains(scalar.value) ? UInt8(scalar.value - base) : nil
  }
}
