/// Remembers which of the last numbers have arrived, so that replayed datagrams have no effect.
struct ReplayWindow {
  /// Count of the remembered numbers.
  static let size = 1_024

  private var newest: UInt64?
  /// One bit for each number, at its place modulo `size`.
  private var seen = [UInt64](repeating: 0, count: size / 64)

  enum Place {
    case fresh
    case seen
    /// More than `size` beyond the newest number.
    case ahead
    case behind
  }

  func place(of number: UInt64) -> Place {
    guard let newest else { return .fresh }
    guard number <= newest else { return number - newest <= UInt64(Self.size) ? .fresh : .ahead }
    guard newest - number < UInt64(Self.size) else { return .behind }
    return has(number) ? .seen : .fresh
  }

  mutating func note(_ number: UInt64) {
    if let newest, number > newest {
      for passed in (newest + 1)...min(number, newest + UInt64(Self.size)) { forget(passed) }
    }
    newest = max(newest ?? number, number)
    let place = Int(number % UInt64(Self.size))
    seen[place / 64] |= 1 << UInt64(place % 64)
  }

  private func has(_ number: UInt64) -> Bool {
    let place = Int(number % UInt64(Self.size))
    return seen[place / 64] & 1 << UInt64(place % 64) != 0
  }

  private mutating func forget(_ number: UInt64) {
    let place = Int(number % UInt64(Self.size))
    seen[place / 64] &= ~(1 << UInt64(place % 64))
  }
}
