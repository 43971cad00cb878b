import WireProtocol

/// A record that cannot be played.
package struct RecordError: Error, Hashable, Sendable {
  package enum Problem: Hashable, Sendable {
    case tooLarge
    case noRecord
    case otherVersion
    /// Nobody knows this line.
    case unknown(String)
    /// Rooms and groups are first named in the order of their numbers.
    case outOfOrder(String)
    /// More rooms or groups than there may be.
    case tooMany(String)
  }

  /// From 1.
  package var line: Int
  package var problem: Problem

  package init(line: Int, problem: Problem) { (self.line, self.problem) = (line, problem) }
}

extension RecordError: CustomStringConvertible {
  package var description: String {
    switch problem {
    case .tooLarge:
      "it has more than \(DisturbanceRecord.byteLimit) bytes; take lines out of it"
    case .noRecord:
      "it is no record: its first line is not: \(DisturbanceRecord.firstLine)"
    case .otherVersion:
      "it is of another version; this one reads: \(DisturbanceRecord.firstLine)"
    case .unknown(let text):
      "line \(line): nobody knows this line: \(text); docs/testing.md lists those that there are"
    case .outOfOrder(let text):
      "line \(line): rooms and groups are named in the order of their numbers, from 0: \(text)"
    case .tooMany(let text):
      "line \(line): there are at most \(DisturbanceRecord.roomLimit) rooms, and as many groups: \(text)"
    }
  }
}

extension DisturbanceRecord {
  /// Reads a whole file.
  package init(parsing bytes: [UInt8]) throws(RecordError) {
    (self, _) = try Self.read(bytes, isCutOff: false)
  }

  /// Reads a file that is to be continued. Power may have failed in the middle of its end: what is no line there is left out.
  ///
  /// - Returns: The record, and the number of bytes before the lines that are to be written anew.
  package static func continued(
    _ bytes: [UInt8]
  ) throws(RecordError) -> (record: DisturbanceRecord, kept: Int) {
    try read(bytes, isCutOff: true)
  }

  private static func read(
    _ bytes: [UInt8], isCutOff: Bool
  ) throws(RecordError) -> (record: DisturbanceRecord, kept: Int) {
    guard bytes.count <= byteLimit else { throw RecordError(line: 0, problem: .tooLarge) }
    var record = DisturbanceRecord()
    var (number, start, kept) = (0, 0, 0)
    // The first line that is none, where it may be the end.
    var fault: RecordError?
    while start < bytes.count {
      let end = bytes[start...].firstIndex(of: UInt8(ascii: "\n"))
      let words = String(decoding: bytes[start..<(end ?? bytes.count)], as: UTF8.self)
        .split { $0 == " " || $0 == "\t" || $0 == "\r" }
      (number, start) = (number + 1, end.map { $0 + 1 } ?? bytes.count)
      if record.takeRunning(words[...]) { continue }
      let problem = isCutOff && end == nil ? .unknown("") : record.take(words[...], number)
      switch (problem, fault) {
      case (let problem?, nil):
        let found = RecordError(line: number, problem: problem)
        guard isCutOff, number > 1 else { throw found }
        fault = found
      case (nil, let fault?): if !words.isEmpty { throw fault }
      case (nil, nil): kept = start
      case (_?, _?): break
      }
    }
    guard number > 0 else { throw RecordError(line: 1, problem: .noRecord) }
    return (record, kept)
  }

  /// Returns true if the line says that it reached until then.
  private mutating func takeRunning(_ words: ArraySlice<Substring>) -> Bool {
    guard words.count == 3, words.last == "running", let time = Disturbance.time(in: words) else {
      return false
    }
    end = max(end, time)
    return true
  }

  /// Returns the reason why it is no line; nil if it is one.
  private mutating func take(
    _ words: ArraySlice<Substring>, _ number: Int
  ) -> RecordError.Problem? {
    let line = words.joined(separator: " ")
    let shown = line.plain(atMost: 80).shownPlainly
    if number == 1 {
      if line == Self.firstLine { return nil }
      return words.starts(with: ["tutti", "record"]) ? .otherVersion : .noRecord
    }
    guard let first = words.first, !first.hasPrefix("#") else { return nil }
    if let disturbance = Disturbance(words: words) {
      let isWithin = (disturbance.kind.room ?? 0) < Self.roomLimit
      guard isWithin, disturbance.group < Self.groupLimit else { return .tooMany(shown) }
      end = max(end, disturbance.at)
      disturbances.append(disturbance)
      return nil
    }
    return takeHead(words, shown)
  }

  private mutating func takeHead(
    _ words: ArraySlice<Substring>, _ shown: String
  ) -> RecordError.Problem? {
    let rest = words.dropFirst().joined(separator: " ")
    switch words.first {
    case "program": program = rest
    case "began": began = rest
    case "scenario": simulated = .init(scenario: rest, seed: 0, roomCount: 0, cards: [])
    case "seed":
      guard let seed = UInt64(rest), simulated != nil else { return .unknown(shown) }
      simulated?.seed = seed
    case "rooms":
      guard let count = Int(rest), simulated != nil else { return .unknown(shown) }
      guard (1...Self.roomLimit).contains(count) else { return .tooMany(shown) }
      simulated?.roomCount = count
    case "cards":
      guard simulated != nil else { return .unknown(shown) }
      simulated?.cards = rest.split(separator: ",").map(String.init)
    case "room": return Self.name(words, shown, into: &rooms, atMost: Self.roomLimit)
    case "group": return Self.name(words, shown, into: &groups, atMost: Self.groupLimit)
    default: return .unknown(shown)
    }
    return nil
  }

  /// Takes a line such as `room 0 is Kitchen`, also one that gives it another name.
  private static func name(
    _ words: ArraySlice<Substring>, _ shown: String, into names: inout [String], atMost limit: Int
  ) -> RecordError.Problem? {
    let words = Array(words)
    guard words.count >= 3, words[2] == "is", let number = WholeText.number(words[1]) else {
      return .unknown(shown)
    }
    guard number < limit else { return .tooMany(shown) }
    guard number <= names.count else { return .outOfOrder(shown) }
    let name = words[3...].joined(separator: " ")
    if number < names.count { names[number] = name } else { names.append(name) }
    return nil
  }
}
