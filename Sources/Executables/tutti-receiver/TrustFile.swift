import LinuxIO
import Pairing
import WireProtocol

/// Who may play here, and what the PIN is checked with: lines of `key value` in the state directory. A line that is not
/// understood trusts nobody.
struct TrustFile: Sendable {
  private static let limit = 64 << 10

  let file: StateFile

  init(directory: String) { file = StateFile(path: directory + "/trust") }

  func read() throws(IOError) -> TrustMemory {
    var trust = TrustMemory()
    let bytes = try file.read(limit: Self.limit) ?? []
    for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") {
      trust.take(line.split(separator: " ", maxSplits: 3).map(String.init))
    }
    return trust
  }

  func write(_ trust: TrustMemory) throws(IOError) {
    try file.write(Array((trust.lines.joined(separator: "\n") + "\n").utf8))
  }
}

extension TrustMemory {
  fileprivate var lines: [String] {
    var lines = ["wrong_guesses \(wrongGuesses)"]
    if let verifier {
      lines.append("verifier \(verifier.salt.hex) \(verifier.w0.hex) \(verifier.l.hex)")
    }
    return lines + pairings.all.map { "pairing \($0.id.hex) \($0.name)" }
  }

  fileprivate mutating func take(_ words: [String]) {
    switch words.first {
    case "wrong_guesses":
      // A count that cannot be read may have been any.
      wrongGuesses = words.dropFirst().first.flatMap { Int($0) } ?? Int.max
    case "verifier" where words.count == 4:
      guard let salt = [UInt8](hex: words[1]), let w0 = [UInt8](hex: words[2]),
        let l = [UInt8](hex: words[3]), salt.count == PairingMessage.saltByteCount,
        w0.count == 32, l.count == PairingMessage.shareByteCount
      else { return }
      verifier = PairingVerifierRecord(salt: salt, w0: w0, l: l)
    case "pairing" where words.count >= 2:
      guard let id = Identifier(hex: words[1]) else { return }
      let name = words.dropFirst(2).joined(separator: " ")
      pairings.add(.init(id: id, name: name.plain(atMost: ProtocolLimits.name)))
    default: break
    }
  }
}

extension [UInt8] {
  fileprivate var hex: String {
    map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }

  fileprivate init?(hex: String) {
    let digits = [UInt8](hex.utf8)
    guard digits.count % 2 == 0 else { return nil }
    var bytes: [UInt8] = []
    for place in stride(from: 0, to: digits.count, by: 2) {
      guard let byte = UInt8(String(decoding: digits[place..<place + 2], as: UTF8.self), radix: 16)
      else { return nil }
      bytes.append(byte)
    }
    self = bytes
  }
}
