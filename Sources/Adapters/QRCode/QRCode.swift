internal import CQRencode

/// An address as a square of dark and light modules that a phone's camera reads.
package struct QRCode: Hashable, Sendable {
  /// Modules of one side, without the margin.
  package let size: Int
  private let dark: [Bool]

  /// Returns nil if the text is empty, contains U+0000, or is longer than `lengthLimit`.
  package init?(_ text: String) {
    guard !text.isEmpty, text.utf8.count <= Self.lengthLimit, !text.utf8.contains(0),
      let code = QRcode_encodeString(text, 0, QR_ECLEVEL_L, QR_MODE_8, 1)
    else { return nil }
    defer { QRcode_free(code) }
    let width = Int(code.pointee.width)
    guard let modules = code.pointee.data else { return nil }
    size = width
    dark = (0..<width * width).map { modules[$0] & 1 == 1 }
  }

  /// In bytes. Longer texts make modules too small for a terminal and a camera.
  package static let lengthLimit = 300

  /// Returns false outside the square too.
  package func isDark(x: Int, y: Int) -> Bool {
    (0..<size).contains(x) && (0..<size).contains(y) && dark[y * size + x]
  }

  /// One text per row, with `1` for dark and `0` for light.
  package var rows: [String] {
    (0..<size).map { y in String((0..<size).map { isDark(x: $0, y: y) ? "1" : "0" }) }
  }

  /// Lines for a terminal: two rows per line, white on black whatever its colours are, with a margin.
  package var lines: [String] {
    let places = -Self.margin..<size + Self.margin
    return stride(from: places.lowerBound, to: places.upperBound, by: 2).map { y in
      let halves = places.map { x in
        switch (isDark(x: x, y: y), isDark(x: x, y: y + 1)) {
        case (false, false): "█"
        case (false, true): "▀"
        case (true, false): "▄"
        case (true, true): " "
        }
      }
      return "\u{1B}[97;40m" + halves.joined() + "\u{1B}[0m"
    }
  }

  /// Width of the light margin in a terminal, in modules. The standard says four; readers need no more than two,
  /// and a code with its address then fits into 24 lines.
  private static let margin = 2
}
