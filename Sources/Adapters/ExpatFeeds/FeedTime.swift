/// Times and lengths as feeds write them.
enum FeedTime {
  private static let months = [
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
  ]

  /// Returns the seconds since 1970 of `Tue, 10 Jun 2003 04:00:00 +0200` or `2003-06-10T04:00:00Z`; nil for anything else.
  static func seconds(_ text: String) -> Int64? {
    text.first?.isNumber == true && text.utf8.dropFirst(4).first == UInt8(ascii: "-")
      ? atom(text) : mail(text)
  }

  /// RFC 822, in which the day of the week and the seconds may be missing.
  private static func mail(_ text: String) -> Int64? {
    var words = text.lowercased().split { $0 == " " || $0 == "," }
    if words.first?.first?.isLetter == true { words.removeFirst() }
    guard words.count >= 4, let day = Int64(words[0]),
      let month = months.firstIndex(where: { words[1].hasPrefix($0) }), var year = Int64(words[2]),
      let time = clock(words[3])
    else { return nil }
    if year < 100 { year += year < 70 ? 2_000 : 1_900 }
    return moment(year, Int64(month) + 1, day, time, zone: words.count > 4 ? words[4] : "gmt")
  }

  /// RFC 3339.
  private static func atom(_ text: String) -> Int64? {
    let parts = text.split(maxSplits: 1) { $0 == "T" || $0 == "t" || $0 == " " }
    let date = parts[0].split(separator: "-").map { Int64($0) }
    guard date.count == 3, let year = date[0], let month = date[1], let day = date[2] else {
      return nil
    }
    let rest = parts.count > 1 ? parts[1] : "00:00Z"
    let digits = rest.prefix { $0.isNumber || $0 == ":" || $0 == "." }
    guard let time = clock(digits.prefix { $0 != "." }) else { return nil }
    let zone = rest[digits.endIndex...].filter { $0 != ":" }
    return moment(year, month, day, time, zone: zone[...])
  }

  /// Seconds of the day.
  private static func clock(_ text: Substring) -> Int64? {
    let parts = text.split(separator: ":").map { Int64($0) ?? -1 }
    guard (2...3).contains(parts.count), (0...23).contains(parts[0]),
      parts.dropFirst().allSatisfy({ (0...60).contains($0) })
    else { return nil }
    return parts[0] * 3_600 + parts[1] * 60 + (parts.count > 2 ? parts[2] : 0)
  }

  private static func moment(
    _ year: Int64, _ month: Int64, _ day: Int64, _ time: Int64, zone: Substring
  ) -> Int64? {
    guard (1_900...9_999).contains(year), (1...12).contains(month), (1...31).contains(day) else {
      return nil
    }
    // Days since 1970, counted from a March in which a cycle of leap years begins.
    let shifted = month > 2 ? year : year - 1
    let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
    let days = shifted * 365 + shifted / 4 - shifted / 100 + shifted / 400 + dayOfYear - 719_468
    return days * 86_400 + time - offset(zone)
  }

  /// Seconds by which a zone such as `+0200` or `pst` is ahead of UTC; zero where it is not known.
  private static func offset(_ zone: Substring) -> Int64 {
    if zone.hasSuffix("st") || zone.hasSuffix("dt"),
      let west = ["e", "c", "m", "p"].firstIndex(of: zone.prefix(1))
    {
      return Int64(-4 - west - (zone.hasSuffix("st") ? 1 : 0)) * 3_600
    }
    guard let number = Int64(zone), zone.count == 5, abs(number) <= 1_400 else { return 0 }
    return number / 100 * 3_600 + number % 100 * 60
  }

  /// The longest length that is believed, in seconds: two days.
  private static let longest = 172_800.0

  /// Returns the seconds of `1:02:03`, `62:03` or `3723`; nil for anything else.
  static func duration(_ text: String) -> Double? {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false).map {
      Double($0) ?? -1
    }
    guard (1...3).contains(parts.count), parts.allSatisfy({ $0 >= 0 && $0 <= longest }) else {
      return nil
    }
    let seconds = parts.reduce(0) { $0 * 60 + $1 }
    return seconds > 0 && seconds <= longest ? seconds : nil
  }
}
