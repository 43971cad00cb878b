import Clock
import Pairing
import TestSupport
import Testing

@Suite struct PINTests {
  @Test func `a PIN is read however its digits are grouped`() throws {
    let pin = PIN(random: 42)
    for text in [
      pin.digits, pin.written, " \(pin.written) ",
      "\(pin.digits.prefix(4))-\(pin.digits.suffix(4))",
    ] {
      #expect(try PIN(text) == pin)
    }
    #expect(pin.written.count == 9)
  }

  @Test func `what has not eight digits is no PIN`() {
    for text in [
      "", "1234567", "123456789", "1234567a", "١٢٣٤٥٦٧٨", "1234/5678",
      String(repeating: "1", count: 10_000),
    ] {
      #expect(throws: PIN.Mistake.malformed) { try PIN(text) }
    }
  }

  /// The example of Damm's thesis: 4 is the check digit of 572.
  @Test func `the check digit is that of the published example`() throws {
    #expect(try PIN("0000 5724").digits == "00005724")
    #expect(throws: PIN.Mistake.typo) { try PIN("0000 5725") }
  }

  @Test func `the check digit is that of the table in the document`() throws {
    let lines = try Specification.text(of: "pairing.md").split(separator: "\n")
    let rows = lines.compactMap { line -> [Int]? in
      let numbers = line.split(separator: " ").map { Int($0) }
      guard line.hasPrefix("  "), numbers.count == 11, !numbers.contains(nil) else { return nil }
      return numbers.compactMap { $0 }
    }
    try #require(rows.map { $0.first } == Array(0...9))
    var random = SplitMix64(seed: 7)
    for _ in 0..<500 {
      let digits = PIN(random: random.next()).digits.compactMap(\.wholeNumberValue)
      #expect(digits.reduce(0) { rows[$0][$1 + 1] } == 0, "\(digits)")
    }
  }

  @Test(arguments: UInt64(1)...20)
  func `each wrong digit and each pair of swapped neighbours is noticed`(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let digits = Array(PIN(random: random.next()).digits)
    for place in digits.indices {
      for other in "0123456789" where other != digits[place] {
        var changed = digits
        changed[place] = other
        #expect(throws: PIN.Mistake.typo) { try PIN(String(changed)) }
      }
      guard place > 0, digits[place] != digits[place - 1] else { continue }
      var swapped = digits
      swapped.swapAt(place, place - 1)
      #expect(throws: PIN.Mistake.typo) { try PIN(String(swapped)) }
    }
  }

  @Test func `random numbers make all digits in all places, and always a PIN`() throws {
    var random = SplitMix64(seed: 3)
    var seen = Array(repeating: Set<Character>(), count: PIN.digitCount)
    for _ in 0..<500 {
      let pin = PIN(random: random.next())
      #expect(try PIN(pin.digits) == pin)
      for (place, digit) in pin.digits.enumerated() { seen[place].insert(digit) }
    }
    #expect(seen.allSatisfy { $0.count == 10 })
  }
}
