/// Where audio comes from that is heard as it happens.
package enum LiveLocation: Hashable, Sendable, CustomStringConvertible {
  /// `-`
  case standardInput
  /// `alsa:hw:1`: what a sound card records.
  case card(String)
  /// `pipe:/run/x.fifo`: what programs write into a named pipe, one after the other.
  case pipe(String)
  /// `input:Turntable`: what the daemon's configuration calls so.
  case input(String)

  /// Nil for everything else, such as a file.
  package init?(_ location: String) {
    if location == "-" {
      self = .standardInput
      return
    }
    guard let colon = location.firstIndex(of: ":") else { return nil }
    let rest = String(location[location.index(after: colon)...])
    guard !rest.isEmpty, !rest.hasPrefix("//") else { return nil }
    switch location[..<colon] {
    case "alsa": self = .card(rest)
    case "pipe" where rest.hasPrefix("/"): self = .pipe(rest)
    case "input": self = .input(rest)
    default: return nil
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

  /// Whether it can be named beside files, and by a program that runs elsewhere.
  package static func isNamed(_ location: String) -> Bool {
    switch LiveLocation(location) {
    case .card, .pipe, .input: true
    case .standardInput, nil: false
    }
  }
}
