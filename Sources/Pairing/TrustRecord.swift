import WireProtocol

/// Everything that a receiver keeps for pairing: the PIN, for its people, and the memory by which its session
/// decides.
package struct TrustRecord: Hashable, Sendable {
  /// Nil before one was made.
  package var pin: PIN?
  package var memory: TrustMemory

  package init(pin: PIN? = nil, memory: TrustMemory = TrustMemory()) {
    self.pin = pin
    self.memory = memory
  }

  /// Replaces the PIN; `salt` is random. Paired senders stay paired, and guesses of the old PIN no longer count.
  package mutating func change(
    to pin: PIN, salt: [UInt8], with arithmetic: some PairingArithmetic
  ) throws(PairingError) {
    memory.verifier = try arithmetic.verifierRecord(pin: pin.digits, salt: salt)
    memory.wrongGuesses = 0
    self.pin = pin
  }
}

// MARK: - As text

extension TrustRecord {
  /// Reads lines of `key value`. A line that cannot be understood trusts nobody.
  package init(text: String) {
    self.init()
    for line in text.split(separator: "\n") {
      take(line.split(separator: " ", maxSplits: 3).map(String.init), line)
    }
    // Neither is of use without the other.
    if pin == nil || memory.verifier == nil { (pin, memory.verifier) = (nil, nil) }
  }

  package var text: String {
    var lines = ["wrong_guesses \(memory.wrongGuesses)"]
    if let pin { lines.append("pin \(pin.digits)") }
    if let verifier = memory.verifier {
      lines.append("verifier \(verifier.salt.hex) \(verifier.w0.hex) \(verifier.l.hex)")
    }
    lines += memory.pairings.all.map { "pairing \($0.line)" }
    return lines.joined(separator: "\n") + "\n"
  }

  private mutating func take(_ words: [String], _ line: Substring) {
    switch words.first {
    case "wrong_guesses":
      // A count that cannot be read may have been any, so it counts as the largest.
      memory.wrongGuesses = words.dropFirst().first.flatMap { Int($0) } ?? .max
    case "pin": pin = words.dropFirst().first.flatMap { try? PIN($0) }
    case "verifier" where words.count == 4:
      guard let salt = [UInt8](hex: words[1], count: PairingMessage.saltByteCount),
        let w0 = [UInt8](hex: words[2], count: 32),
        let l = [UInt8](hex: words[3], count: PairingMessage.shareByteCount)
      else { return }
      memory.verifier = PairingVerifierRecord(salt: salt, w0: w0, l: l)
    case "pairing":
      if let pairing = Pairings.Pairing(line: line.dropFirst("pairing ".count)) {
        memory.pairings.add(pairing)
      }
    default: break
    }
  }
}

extension Pairings {
  /// Reads a file with one pairing per line: the identifier in hex, and the name.
  package init(text: String) {
    self.init(text.split(separator: "\n").compactMap(Pairing.init(line:)))
  }

  package var text: String { all.map { $0.line + "\n" }.joined() }

  /// Returns the pairings of this name or, if there are none, those whose identifier begins with it.
  package func matches(_ wanted: String) -> [Pairing] {
    let wanted = wanted.lowercased()
    let named = all.filter { $0.name.lowercased() == wanted }
    guard named.isEmpty, wanted.utf8.count >= 4 else { return named }
    return all.filter { $0.id.hex.hasPrefix(wanted) }
  }
}

extension Pairings.Pairing {
  /// The name is for people, and comes from outside.
  fileprivate init?(line: Substring) {
    let words = line.split(separator: " ", maxSplits: 1).map(String.init)
    guard let id = words.first.flatMap(Identifier.init(hex:)) else { return nil }
    self.init(id: id, name: words.dropFirst().first.map(Self.clean) ?? "")
  }

  fileprivate var line: String { "\(id.hex) \(Self.clean(name))" }

  private static func clean(_ name: String) -> String { name.plain(atMost: ProtocolLimits.name) }
}

// MARK: - Changed on two sides

extension TrustMemory {
  /// Returns what to keep if a session has changed `base` to `self`, while a person has changed what is kept to
  /// `kept`: both changes. The PIN is the person's.
  package func merged(into kept: TrustMemory, since base: TrustMemory) -> TrustMemory {
    var result = kept
    for pairing in base.pairings.all where !pairings.contains(pairing.id) {
      result.pairings.remove(pairing.id)
    }
    for pairing in pairings.all where !base.pairings.all.contains(pairing) {
      result.pairings.add(pairing)
    }
    if wrongGuesses != base.wrongGuesses { result.wrongGuesses = wrongGuesses }
    return result
  }
}

extension [UInt8] {
  var hex: String {
    map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }

  init?(hex: String, count: Int) {
    let digits = [UInt8](hex.utf8)
    guard digits.count == 2 * count else { return nil }
    var bytes: [UInt8] = []
    for place in stride(from: 0, to: digits.count, by: 2) {
      let pair = String(decoding: digits[place..<place + 2], as: UTF8.self)
      guard let byte = UInt8(pair, radix: 16) else { return nil }
      bytes.append(byte)
    }
    self = bytes
  }
}
