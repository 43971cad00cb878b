import Clock

/// The sentences of all kinds of disturbances, for writing and for reading: `#` stands for a whole number, `~` for seconds,
/// `±` for seconds of either sign, and `[]` for a list of rooms.
enum Sentence: String, CaseIterable {
  case pause = "somebody pauses"
  case resume = "somebody resumes"
  case seek = "somebody seeks to ~ s"
  case seekBy = "somebody seeks by ± s"
  case next = "somebody goes to the next item"
  case previous = "somebody goes to the previous item"
  case another = "somebody goes to another item"
  case halt = "somebody stops"
  case join = "room # joins"
  case leave = "room # leaves"
  case partition = "room # has no network for ~ s"
  case stall = "room # stands still for ~ s"
  case suspend = "room # sleeps for ~ s"
  case clockStep = "the clock of room # steps by ± s"
  case unplug = "room # has no sound card for ~ s"
  case restart = "the receiver of room # is killed, and starts again after ~ s"
  case killSender = "the sender is killed"
  case restartSender = "the sender is killed, and starts again after ~ s"
  case slowLink = "the link of room # carries # bytes a second for ~ s"
  case suspendSender = "the sender sleeps for ~ s"
  case visit = "another sender plays in room # for ~ s"
  case distrust = "room # trusts no sender for ~ s"
  case daemonKilled = "daemon # is killed for ~ s"
  case daemonUnplugged = "daemon # has no power for ~ s"
  case daemonCutOff = "daemon # has no network for ~ s"
  case daemonSplit = "daemon # cannot reach rooms [] for ~ s"
  case daemonAlone = "daemon # cannot reach rooms [] nor the other for ~ s"

  /// The numbers that stand in a sentence, each kind in its order.
  struct Numbers: Equatable {
    var whole: [Int] = []
    var seconds: [Double] = []
    var rooms: Set<Int> = []

    init() {}

    init(_ whole: Int..., seconds: Double..., rooms: Set<Int> = []) {
      (self.whole, self.seconds, self.rooms) = (whole, seconds, rooms)
    }
  }

  /// Returns the sentence with its numbers.
  func text(_ numbers: Numbers) -> String {
    var (whole, seconds) = (numbers.whole[...], numbers.seconds[...])
    return rawValue.split(separator: " ").map { word in
      switch word {
      case "#": "\(whole.popFirst() ?? 0)"
      case "~", "±": SecondsText.text(seconds.popFirst() ?? 0)
      case "[]": RoomsText.text(numbers.rooms)
      default: String(word)
      }
    }.joined(separator: " ")
  }

  /// Returns the numbers of a text; nil if it is another sentence.
  func numbers(in words: ArraySlice<Substring>) -> Numbers? {
    let own = rawValue.split(separator: " ")
    guard own.count == words.count else { return nil }
    var numbers = Numbers()
    for (own, word) in zip(own, words) {
      switch own {
      case "#":
        guard let number = WholeText.number(word) else { return nil }
        numbers.whole.append(number)
      case "~", "±":
        guard let number = SecondsText.number(word), number >= 0 || own == "±" else { return nil }
        numbers.seconds.append(number)
      case "[]":
        guard let rooms = RoomsText.rooms(word) else { return nil }
        numbers.rooms = rooms
      default: guard own == word else { return nil }
      }
    }
    return numbers
  }
}

/// Seconds as lines have them: to the millisecond, and without zeros at the end.
enum SecondsText {
  static func text(_ seconds: Double) -> String {
    let bounded = min(max(seconds, -Disturbance.longest), Disturbance.longest)
    let milliseconds = Int64((bounded * 1000).rounded())
    let (whole, rest) = milliseconds.magnitude.quotientAndRemainder(dividingBy: 1000)
    var text = "\(milliseconds < 0 ? "-" : "")\(whole)"
    guard rest > 0 else { return text }
    text += ".\(String(1000 + rest).dropFirst())"
    while text.last == "0" { text.removeLast() }
    return text
  }

  /// Nil if it is no number, one with more digits than `text` writes, or beyond `Disturbance.longest`.
  static func number(_ text: Substring) -> Double? {
    let digits = text.hasPrefix("-") ? text.dropFirst() : text
    let parts = digits.split(separator: ".", omittingEmptySubsequences: false)
    guard (1...2).contains(parts.count), let whole = WholeText.number(parts[0]) else { return nil }
    var thousandths = 0
    if parts.count == 2 {
      guard (1...3).contains(parts[1].utf8.count), let rest = WholeText.number(parts[1]) else {
        return nil
      }
      thousandths = rest * [100, 10, 1][parts[1].utf8.count - 1]
    }
    let seconds = Double(whole * 1000 + thousandths) / 1000
    guard seconds <= Disturbance.longest else { return nil }
    return text.hasPrefix("-") ? -seconds : seconds
  }
}

enum WholeText {
  /// Nil if it is not one of up to nine digits.
  static func number(_ text: Substring) -> Int? {
    let isNumber = text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    return isNumber && (1...9).contains(text.utf8.count) ? Int(text) : nil
  }
}

/// Rooms as `[0,2]`.
enum RoomsText {
  static func text(_ rooms: Set<Int>) -> String {
    "[" + rooms.sorted().map { "\($0)" }.joined(separator: ",") + "]"
  }

  static func rooms(_ text: Substring) -> Set<Int>? {
    guard text.hasPrefix("["), text.hasSuffix("]"), text.utf8.count > 1 else { return nil }
    let numbers = text.dropFirst().dropLast().split(
      separator: ",", omittingEmptySubsequences: false)
    if numbers.count == 1, numbers[0].isEmpty { return [] }
    let rooms = numbers.compactMap(WholeText.number)
    return rooms.count == numbers.count ? Set(rooms) : nil
  }
}
