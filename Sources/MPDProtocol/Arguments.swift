/// Reads the numbers of clients.
package enum Argument {
  /// Beyond any position and any number of seconds.
  private static let limit = 0xffff_ffff

  package static func number(_ text: String, most: Int = limit) throws(Ack) -> Int {
    guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
      throw .argument("Integer expected: \(text)")
    }
    guard let number = Int(text), number <= most else {
      throw .argument("Number too large: \(text)")
    }
    return number
  }

  package static func signed(_ text: String) throws(Ack) -> Int {
    let digits = text.drop { "+-".contains($0) }
    guard text.count - digits.count < 2 else { throw .argument("Integer expected: \(text)") }
    let number = try number(String(digits))
    return text.hasPrefix("-") ? -number : number
  }

  package static func flag(_ text: String) throws(Ack) -> Bool {
    guard let flag = ["0": false, "1": true][text] else {
      throw .argument("Boolean (0/1) expected: \(text)")
    }
    return flag
  }

  /// A decimal fraction, maybe with a sign.
  package static func seconds(_ text: String) throws(Ack) -> Double {
    guard text.utf8.count < 40, text.utf8.allSatisfy({ "+-.0123456789".utf8.contains($0) }),
      let seconds = Double(text), seconds.isFinite, abs(seconds) < 1e9
    else { throw .argument("Float expected: \(text)") }
    return seconds
  }

  /// `3`, `3:7` or `3:`; the end is left out of the range.
  package static func range(_ text: String) throws(Ack) -> Range<Int> {
    let sides = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    let start = try number(String(sides[0]))
    guard sides.count == 2 else { return start..<start + 1 }
    let end = sides[1].isEmpty ? limit : try number(String(sides[1]))
    guard start <= end else { throw .argument("Bad range") }
    return start..<end
  }

  /// A place in the queue: a position from 0, or one after (`+0`) or before (`-0`) the current song.
  ///
  /// - Parameter count: how many songs the queue has without those that move.
  package static func place(_ text: String, current: Int?, count: Int) throws(Ack) -> Int {
    guard let sign = text.first, "+-".contains(sign) else { return try number(text, most: count) }
    guard let current else { throw .notPlaying }
    let offset = try number(String(text.dropFirst()), most: limit)
    let place = sign == "+" ? current + 1 + offset : current - offset
    guard (0...count).contains(place) else { throw .badIndex }
    return place
  }
}
