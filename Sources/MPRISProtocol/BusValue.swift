/// A value of a property, as the bus has types for it.
package enum BusValue: Hashable, Sendable {
  case flag(Bool)
  case number(Double)
  /// In microseconds.
  case span(Int64)
  case text(String)
  case path(String)
  case texts([String])
  case fields([Field])

  package struct Field: Hashable, Sendable {
    package let name: String
    package let value: BusValue

    package init(_ name: String, _ value: BusValue) { (self.name, self.value) = (name, value) }
  }
}

/// A name of one of the bus's errors.
package enum BusError: String, Hashable, Sendable {
  case failed = "org.freedesktop.DBus.Error.Failed"
  case invalid = "org.freedesktop.DBus.Error.InvalidArgs"
  case notSupported = "org.freedesktop.DBus.Error.NotSupported"
  case tooMany = "org.freedesktop.DBus.Error.LimitsExceeded"
}

package enum BusText {
  /// Longer than any title that is read, in bytes.
  package static let limit = 1 << 10

  /// A text that the bus takes: no zero, none of the code points that stand for no character, and not too long. A text with one of
  /// these would be refused whole.
  package static func clean(_ text: String, limit: Int = limit) -> String {
    var clean = String.UnicodeScalarView()
    var size = 0
    for scalar in text.unicodeScalars {
      let taken = isPlain(scalar) ? scalar : "\u{fffd}"
      size += UTF8.width(taken)
      guard size <= limit else { break }
      clean.append(taken)
    }
    return String(clean)
  }

  /// The address of a file, for programs that show pictures.
  package static func address(ofFile path: String) -> String {
    "file://"
      + path.utf8.map { byte in
        if kept.contains(byte) { return String(Unicode.Scalar(byte)) }
        let digits = String(byte, radix: 16, uppercase: true)
        return digits.count < 2 ? "%0\(digits)" : "%\(digits)"
      }.joined()
  }

  private static let kept = Set(
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~/".utf8)

  private static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
    let value = scalar.value
    return value >= 0x20 && !(0x7f...0x9f).contains(value) && !(0xfdd0...0xfdef).contains(value)
      && value & 0xfffe != 0xfffe
  }
}

/// A name under which a player is found on the bus.
package enum BusName {
  package static let prefix = "org.mpris.MediaPlayer2.tutti"

  /// - Parameter slug: letters and figures with dashes; nil for a player that is no group of a household.
  package static func player(_ slug: String?) -> String {
    guard let slug else { return prefix }
    let word = slug.utf8.map { letters.contains($0) ? Character(Unicode.Scalar($0)) : "_" }
    // A part of a name does not begin with a figure.
    let start = word.first.map { $0.isNumber } ?? true ? "_" : ""
    return "\(prefix).\(start)\(String(word.prefix(slugLimit)))"
  }

  /// The name for when another program has the usual one, as the specification wants it.
  package static func instance(_ name: String, process: Int32) -> String {
    "\(name).instance\(process)"
  }

  /// A whole name has 255 bytes.
  private static let slugLimit = 128
  private static let letters = Set(
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_".utf8)
}
