/// An answer that says why a command was not done, with the codes of the protocol.
package struct Ack: Error, Hashable, Sendable {
  package enum Code: Int, Sendable {
    case argument = 2
    case password = 3
    case permission = 4
    case unknown = 5
    case noExist = 50
    case tooLong = 51
    case system = 52
    case notPlaying = 55
    case exists = 56
  }

  package var code: Code
  package var text: String

  package init(_ code: Code, _ text: String) { (self.code, self.text) = (code, text) }

  package static func argument(_ text: String) -> Ack { Ack(.argument, text) }
  package static func noExist(_ text: String) -> Ack { Ack(.noExist, text) }
  package static let badIndex = Ack.argument("Bad song index")
  package static let noSong = Ack.noExist("No such song")
  package static let notPlaying = Ack(.notPlaying, "Not playing")

  /// Returns the line for clients.
  ///
  /// - Parameters:
  ///   - place: the command's number in its list, from 0.
  ///   - command: empty if the command is not known.
  package func line(place: Int, command: String) -> String {
    "ACK [\(code.rawValue)@\(place)] {\(command)} \(Reply.plain(text))\n"
  }
}
