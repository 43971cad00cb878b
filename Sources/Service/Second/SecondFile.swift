package import LinuxIO
package import Sender
import WireProtocol

/// A daemon's part in a household that has two, as it keeps it.
package struct SecondRecord: Hashable, Sendable {
  package var memory: Leadership.Memory
  /// The place of the other daemon; nil before one has joined.
  package var address: DaemonPlace?
  /// The household's name.
  package var name: String?

  package init(memory: Leadership.Memory, address: DaemonPlace?, name: String?) {
    (self.memory, self.address, self.name) = (memory, address, name)
  }

  /// Nil for what is no such record.
  package init?(text: String) {
    var values: [Substring: Substring] = [:]
    // A name may begin with a mark that would join the space before it.
    for line in text.utf8.split(separator: UInt8(ascii: "\n")) {
      guard let space = line.firstIndex(of: UInt8(ascii: " ")) else { return nil }
      values[Substring(line[..<space])] = Substring(line[line.index(after: space)...])
    }
    guard let term = values["term"].flatMap({ Term($0) }), let leads = values["leads"],
      let first = values["first"], ["yes", "no"].contains(leads), ["yes", "no"].contains(first)
    else { return nil }
    memory = .init(term: term, leads: leads == "yes", isFirst: first == "yes")
    address = try? values["address"].map { try DaemonPlace(String($0)) }
    if !memory.isFirst, address == nil { return nil }
    name = values["name"].map { String($0) }
  }

  package var text: String {
    let answer = { (isSo: Bool) in isSo ? "yes" : "no" }
    var lines = [
      "first \(answer(memory.isFirst))", "term \(memory.term)", "leads \(answer(memory.leads))",
    ]
    if let address { lines.append("address \(address.text)") }
    // A name has no line breaks from here on.
    if let name { lines.append("name " + name.filter { !$0.isNewline }) }
    return lines.map { $0 + "\n" }.joined()
  }
}

/// The file with a `SecondRecord`.
package struct SecondFile: Sendable {
  private static let limit = 4 << 10

  private let file: StateFile

  /// - Parameter directory: the state directory.
  package init(directory: String) { file = StateFile(path: directory + "/second") }

  /// Nil if there is none: the household has one daemon.
  package func read() throws(IOError) -> SecondRecord? {
    guard let bytes = try file.read(limit: Self.limit) else { return nil }
    guard let record = SecondRecord(text: String(decoding: bytes, as: UTF8.self)) else {
      throw IOError(
        call: "read", code: 0,
        text:
          "\(file.path) is damaged: delete it where this is the household's first daemon; otherwise join it again with: tutti join-household"
      )
    }
    return record
  }

  package func write(_ record: SecondRecord) throws(IOError) {
    try file.write(Array(record.text.utf8))
  }
}
