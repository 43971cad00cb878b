/// Numbers as people read them.
package enum NumberText {
  /// Formats a number with so many digits after the point, at most 6, and never as a negative zero.
  package static func fixed(_ value: Double, _ digits: Int) -> String {
    var scale: Int64 = 1
    for _ in 0..<min(max(digits, 0), 6) { scale *= 10 }
    let scaled = (value * Double(scale)).rounded()
    guard scaled.magnitude < 9e15 else { return value.isNaN ? "–" : "\(value)" }
    let (whole, rest) = Int64(scaled.magnitude).quotientAndRemainder(dividingBy: scale)
    let sign = scaled < 0 ? "-" : ""
    guard scale > 1 else { return "\(sign)\(whole)" }
    let tail = "\(rest)"
    return "\(sign)\(whole)." + String(repeating: "0", count: digits - tail.count) + tail
  }

  /// Formats a number in as few digits as possible: 1, 1.5, -12.25.
  package static func short(_ value: Double) -> String {
    let text = fixed(value, 3)
    guard text.contains(".") else { return text }
    var digits = text[...]
    while digits.last == "0" { digits = digits.dropLast() }
    return String(digits.last == "." ? digits.dropLast() : digits)
  }

  /// Formats like `short`, with a plus if the number is positive.
  package static func signed(_ value: Double) -> String { (value > 0 ? "+" : "") + short(value) }
}

/// Times as people write them.
package enum TimeText {
  package static func parse(_ text: String) -> (seconds: Double, isRelative: Bool)? {
    let isRelative = text.hasPrefix("+") || text.hasPrefix("-")
    let parts = (isRelative ? text.dropFirst() : text[...]).split(
      separator: ":", omittingEmptySubsequences: false)
    guard (1...3).contains(parts.count) else { return nil }
    var seconds = 0.0
    for part in parts {
      guard part.first?.isNumber ?? false, let value = Double(part), value.isFinite, value >= 0
      else { return nil }
      seconds = seconds * 60 + value
    }
    return (text.hasPrefix("-") ? -seconds : seconds, isRelative)
  }

  package static func format(_ seconds: Double) -> String {
    let whole = Int(max(0, min(seconds, 1e9)))
    let (hours, minutes, rest) = (whole / 3600, whole / 60 % 60, whole % 60)
    let tail = (rest < 10 ? "0" : "") + "\(rest)"
    return hours > 0
      ? "\(hours):" + (minutes < 10 ? "0" : "") + "\(minutes):\(tail)"
      : "\(minutes):\(tail)"
  }
}
