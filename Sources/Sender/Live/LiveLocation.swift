/// A place from which audio comes that is heard as it happens.
package enum LiveLocation: Hashable, Sendable, CustomStringConvertible {
  /// `-`
  case standardInput
  /// `alsa:hw:1`: a sound card that records.
  case card(String)
  /// `pipe:/run/x.fifo`: a named pipe, into which programs write one after the other.
  case pipe(String)
  /// `input:Turntable`: the input to which the daemon's configuration gives this name.
  case input(String)

  /// Returns nil for every other location, such as a file.
  package init?(_ location: String) {
    if location == "-" {
      self = .standardInput
      return
    }
    guard let colon = location.firstIndex(of: ":") else { return nil }
    let rest = String(location[location.index(after: colon)...])
    guard !rest.isEmpty, !rest.hasPrefix("//") else { return nil }
    switch location[..<colon] {
    case "alsa" where Self.isCard(rest): self = .card(rest)
    case "pipe" where rest.hasPrefix("/"): self = .pipe(rest)
    case "input": self = .input(rest)
    default: return nil
    }
  }

  /// ALSA reads more than names: `file:` writes files, and text in braces is a configuration that loads libraries. So a
  /// name may hold only letters, digits and `_.-`, or be one of a card: `hw:CARD=USB,DEV=0`.
  private static func isCard(_ name: String) -> Bool {
    let parts = name.split(separator: ":", omittingEmptySubsequences: false)
    let isNamed = parts.allSatisfy { part in !part.isEmpty && part.utf8.allSatisfy(isOfName) }
    switch parts.count {
    case 1: return isNamed && !name.utf8.contains { "=,".utf8.contains($0) }
    case 2:
      return isNamed
        && ["hw", "plughw", "dsnoop", "sysdefault", "default"].contains { $0 == parts[0] }
    default: return false
    }
  }

  private static func isOfName(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    default: "_.=,-".utf8.contains(byte)
    }
  }

  package var description: String {
    switch self {
    case .standardInput: "standard input"
    case .card(let device): "alsa:\(device)"
    case .pipe(let path): "pipe:\(path)"
    case .input(let name): name
    }
  }

  /// True if the location can be named beside files, and by a program that runs elsewhere.
  package static func isNamed(_ location: String) -> Bool {
    switch LiveLocation(location) {
    case .card, .pipe, .input: true
    case .standardInput, nil: false
    }
  }
}
