import Clock

extension Disturbance: CustomStringConvertible {
  /// Its line, such as `12.3 s: room 2 has no network for 4.2 s`.
  package var description: String {
    let (sentence, numbers) = kind.said
    let place = kind.concernsGroup && group != 0 ? " in group \(group)" : ""
    return "\(SecondsText.text(at)) s: \(sentence.text(numbers))\(place)"
  }

  /// Reads such a line; nil if it is none.
  package init?(_ line: String) {
    self.init(words: line.split(separator: " ")[...])
  }

  init?(words: ArraySlice<Substring>) {
    guard let at = Self.time(in: words) else { return nil }
    var words = words.dropFirst(2)
    var group: Int?
    if words.dropLast().suffix(2).elementsEqual(["in", "group"]) {
      guard let number = words.last.flatMap(WholeText.number) else { return nil }
      (group, words) = (number, words.dropLast(3))
    }
    for sentence in Sentence.allCases {
      guard let numbers = sentence.numbers(in: words) else { continue }
      let kind = Kind(sentence, numbers)
      guard kind.concernsGroup || group == nil else { return nil }
      self.init(at: at, kind: kind, group: group ?? 0)
      return
    }
    return nil
  }

  /// The time with which a line begins; nil if it begins with something else.
  static func time(in words: ArraySlice<Substring>) -> Double? {
    guard words.count > 2, words[words.startIndex + 1] == "s:" else { return nil }
    return words.first.flatMap(SecondsText.number).flatMap { $0 < 0 ? nil : $0 }
  }

  /// As its line says it: times in whole milliseconds, and rates in whole bytes a second. So the line plays the same.
  package var asWritten: Disturbance { Disturbance(description) ?? self }
}

extension Disturbance.Kind: CustomStringConvertible {
  package var description: String {
    let (sentence, numbers) = said
    return sentence.text(numbers)
  }

  fileprivate var said: (Sentence, Sentence.Numbers) {
    switch self {
    case .command(let command): command.said
    case .join(let room): (.join, .init(room))
    case .leave(let room): (.leave, .init(room))
    case .partition(let room, let seconds): (.partition, .init(room, seconds: seconds))
    case .stall(let room, let seconds): (.stall, .init(room, seconds: seconds))
    case .suspend(let room, let seconds): (.suspend, .init(room, seconds: seconds))
    case .clockStep(let room, let seconds): (.clockStep, .init(room, seconds: seconds))
    case .unplug(let room, let seconds): (.unplug, .init(room, seconds: seconds))
    case .restart(let room, let seconds): (.restart, .init(room, seconds: seconds))
    case .killSender: (.killSender, .init())
    case .restartSender(let seconds): (.restartSender, .init(seconds: seconds))
    case .slowLink(let room, let rate, let seconds):
      (.slowLink, .init(room, Int(min(max(rate, 0), 999_999_999)), seconds: seconds))
    case .suspendSender(let seconds): (.suspendSender, .init(seconds: seconds))
    case .visit(let room, let seconds): (.visit, .init(room, seconds: seconds))
    case .distrust(let room, let seconds): (.distrust, .init(room, seconds: seconds))
    case .daemon(let number, let fault, let seconds):
      (fault.sentence, .init(number, seconds: seconds, rooms: fault.rooms))
    }
  }

  fileprivate init(_ sentence: Sentence, _ numbers: Sentence.Numbers) {
    if let command = Disturbance.Command(sentence, numbers) {
      self = .command(command)
      return
    }
    // The sentence has brought as many numbers as it has places.
    let (whole, seconds) = (numbers.whole.first ?? 0, numbers.seconds.first ?? 0)
    switch sentence {
    case .join: self = .join(whole)
    case .leave: self = .leave(whole)
    case .partition: self = .partition(whole, seconds: seconds)
    case .stall: self = .stall(whole, seconds: seconds)
    case .suspend: self = .suspend(whole, seconds: seconds)
    case .clockStep: self = .clockStep(whole, seconds: seconds)
    case .unplug: self = .unplug(whole, seconds: seconds)
    case .restart: self = .restart(whole, seconds: seconds)
    case .restartSender: self = .restartSender(seconds: seconds)
    case .slowLink:
      self = .slowLink(whole, rate: Double(numbers.whole.last ?? 0), seconds: seconds)
    case .suspendSender: self = .suspendSender(seconds: seconds)
    case .visit: self = .visit(whole, seconds: seconds)
    case .distrust: self = .distrust(whole, seconds: seconds)
    case .daemonKilled: self = .daemon(whole, .killed, seconds: seconds)
    case .daemonUnplugged: self = .daemon(whole, .unplugged, seconds: seconds)
    case .daemonCutOff: self = .daemon(whole, .cutOff, seconds: seconds)
    case .daemonSplit, .daemonAlone:
      let isAlone = sentence == .daemonAlone
      self = .daemon(whole, .split(from: numbers.rooms, alone: isAlone), seconds: seconds)
    case .killSender, .pause, .resume, .seek, .seekBy, .next, .previous, .another, .halt:
      self = .killSender
    }
  }
}

extension Disturbance.Command {
  fileprivate var said: (Sentence, Sentence.Numbers) {
    switch self {
    case .pause: (.pause, .init())
    case .resume: (.resume, .init())
    case .seek(let position): (.seek, .init(seconds: max(0, position.seconds)))
    case .seekBy(let span): (.seekBy, .init(seconds: span.seconds))
    case .next: (.next, .init())
    case .previous: (.previous, .init())
    case .another: (.another, .init())
    case .halt: (.halt, .init())
    }
  }

  /// Nil if the sentence is about something else.
  fileprivate init?(_ sentence: Sentence, _ numbers: Sentence.Numbers) {
    let milliseconds = ((numbers.seconds.first ?? 0) * 1000).rounded()
    switch sentence {
    case .pause: self = .pause
    case .resume: self = .resume
    case .seek: self = .seek(to: .milliseconds(Int64(milliseconds)))
    case .seekBy: self = .seekBy(.milliseconds(Int64(milliseconds)))
    case .next: self = .next
    case .previous: self = .previous
    case .another: self = .another
    case .halt: self = .halt
    case .join, .leave, .partition, .stall, .suspend, .clockStep, .unplug, .restart, .killSender,
      .restartSender, .slowLink, .suspendSender, .visit, .distrust, .daemonKilled,
      .daemonUnplugged, .daemonCutOff, .daemonSplit, .daemonAlone:
      return nil
    }
  }
}

extension Disturbance.DaemonFault {
  fileprivate var sentence: Sentence {
    switch self {
    case .killed: .daemonKilled
    case .unplugged: .daemonUnplugged
    case .cutOff: .daemonCutOff
    case .split(_, let isAlone): isAlone ? .daemonAlone : .daemonSplit
    }
  }

  fileprivate var rooms: Set<Int> {
    if case .split(let rooms, _) = self { rooms } else { [] }
  }
}
