/// Eight digits that a receiver shows and its user types once. The last one is a check digit by Damm's method: it
/// detects each single wrong digit and each swap of two neighbours, so that a typing mistake costs no guess.
package struct PIN: Hashable, Sendable {
  package static let digitCount = 8

  package enum Mistake: Error, Hashable, Sendable {
    /// Not eight digits.
    case malformed
    /// The check digit does not fit the others.
    case typo
  }

  /// Eight ASCII digits, without a space.
  package let digits: String

  /// Ignores spaces and hyphens.
  package init(_ text: String) throws(Mistake) {
    // The text may be of any length, so look at no more than anybody types.
    let typed = text.utf8.prefix(64).filter { $0 != 0x20 && $0 != 0x2d }
    guard typed.count == Self.digitCount, typed.allSatisfy({ (0x30...0x39).contains($0) }) else {
      throw .malformed
    }
    let values = typed.map { Int($0) - 0x30 }
    guard Self.checkDigit(of: values) == 0 else { throw .typo }
    digits = String(decoding: typed, as: UTF8.self)
  }

  /// Makes a new PIN from a random number, which must come from a generator that nobody can predict.
  package init(random: UInt64) {
    var rest = random
    var values: [Int] = []
    for _ in 1..<Self.digitCount {
      values.append(Int(rest % 10))
      rest /= 10
    }
    values.append(Self.checkDigit(of: values))
    digits = values.map(String.init).joined()
  }

  /// The form in which it is shown: `1234 5678`.
  package var written: String { "\(digits.prefix(4)) \(digits.suffix(4))" }

  /// Returns the check digit of `values`; 0 for digits that end with their check digit.
  private static func checkDigit(of values: [Int]) -> Int {
    values.reduce(0) { interim, value in quasigroup[interim][value] }
  }

  /// H. M. Damm, Total anti-symmetrische Quasigruppen, 2004: the one of order 10 that is used most.
  private static let quasigroup = [
    [0, 3, 1, 7, 5, 9, 8, 6, 4, 2],
    [7, 0, 9, 2, 1, 5, 4, 8, 6, 3],
    [4, 2, 0, 6, 8, 7, 1, 3, 5, 9],
    [1, 7, 5, 0, 9, 8, 3, 4, 2, 6],
    [6, 1, 2, 3, 0, 4, 5, 9, 7, 8],
    [3, 6, 7, 4, 2, 0, 9, 5, 8, 1],
    [5, 8, 6, 9, 7, 2, 0, 1, 3, 4],
    [8, 9, 4, 5, 3, 6, 2, 0, 1, 7],
    [9, 4, 3, 8, 6, 1, 7, 2, 0, 5],
    [2, 5, 8, 1, 4, 3, 6, 7, 9, 0],
  ]
}
