import Clock
import Dispatch
package import Driver
package import House
import Sender
private import Synchronization

package import enum House.Refusal

/// A request for an announcement. Without words and without an address it is the chime: a doorbell.
package struct AnnounceRequest: Codable, Hashable, Sendable {
  /// Words to speak.
  package var text: String?
  /// The path of a file, or an address.
  package var location: String?
  /// None means all that are there.
  package var rooms: [String]
  /// Rooms by their addresses, besides; only from a terminal.
  package var addresses: [String] = []
  /// Within `RoomChange.volumes`; nil: as loud as each room.
  package var volume: Double?
  package var hasChime: Bool

  package init(
    text: String? = nil, location: String? = nil, rooms: [String] = [], volume: Double? = nil,
    hasChime: Bool = true
  ) {
    (self.text, self.location, self.rooms) = (text, location, rooms)
    (self.volume, self.hasChime) = (volume, hasChime)
  }
}

/// The announcements that are made at a time, of each kind: what hangs holds up no other kind.
struct ClipPlaces {
  private enum Kind: Hashable {
    /// Each takes a process.
    case words
    /// Each takes a process, and up to 20 s.
    case items
    case itemsOfGuests
  }

  /// Announcements of each kind that are made at a time; more are refused.
  private static let limit = 2
  private var taken: [Kind: Int] = [:]

  /// The chime needs no place.
  private static func kind(_ sound: ClipMaker.Sound) -> Kind? {
    switch sound {
    case .none: nil
    case .words: .words
    case .item(_, reach: .internet): .itemsOfGuests
    case .item: .items
    }
  }

  /// False if there is no place for it just now.
  mutating func take(for sound: ClipMaker.Sound) -> Bool {
    guard let kind = Self.kind(sound) else { return true }
    guard taken[kind, default: 0] < Self.limit else { return false }
    taken[kind, default: 0] += 1
    return true
  }

  mutating func giveBack(for sound: ClipMaker.Sound) {
    if let kind = Self.kind(sound) { taken[kind, default: 1] -= 1 }
  }
}

/// Turns what is to be announced into sound, on threads of its own.
final class ClipWorkshop: Sendable {
  private let maker: ClipMaker
  private let places = Mutex(ClipPlaces())

  init(_ maker: ClipMaker) { self.maker = maker }

  func make(
    _ sound: ClipMaker.Sound, withChime: Bool
  ) async throws(Refusal) -> ClipMaker.Made {
    guard places.withLock({ $0.take(for: sound) }) else {
      throw .notYet("too much is being announced at once; try again in a moment")
    }
    defer { places.withLock { $0.giveBack(for: sound) } }
    let maker = maker
    let result = await withCheckedContinuation { continuation in
      DispatchQueue.global().async {
        continuation.resume(
          returning: Result { () throws(ClipMaker.Failure) in
            try maker.make(sound, withChime: withChime)
          })
      }
    }
    switch result {
    case .success(let made): return made
    case .failure(.invalid(let line)): throw .invalid(line)
    case .failure(.unavailable(let line)): throw .unavailable(line)
    }
  }
}

extension AnnounceRequest {
  /// Throws if it is not possible, or if this asker may not have it; nil is the user of this machine, who may name files.
  package func sound(for asker: Asker?) throws(Refusal) -> ClipMaker.Sound {
    if let volume, !RoomChange.volumes.contains(volume) {
      throw .invalid("volume is \(RoomChange.volumes.text)")
    }
    guard text == nil || location == nil else {
      throw .invalid("an announcement is a text or something to play, not both")
    }
    if let text { return .words(try Self.plain(text)) }
    guard let location else {
      guard hasChime else { throw .invalid("there is nothing to announce") }
      return .none
    }
    guard let asker else {
      guard LiveLocation(location) == nil else {
        throw .invalid("an announcement is a file or an address, and nothing that goes on for ever")
      }
      return .item(location: location, reach: .all)
    }
    guard let address = WebAddress(location) else {
      throw .invalid("\(location) is no address of http or https")
    }
    if !PublicAddress.isOne(address.text) {
      try asker.need(.household, to: "announce addresses of this network")
    }
    return .item(location: address.text, reach: asker.reach)
  }

  /// One line without anything that a voice might take for a command.
  private static func plain(_ text: String) throws(Refusal) -> String {
    let words = String(
      String.UnicodeScalarView(
        text.unicodeScalars.map { $0.properties.generalCategory == .control ? " " : $0 }))
    guard words.contains(where: { !$0.isWhitespace }) else {
      throw .invalid("there is nothing to say")
    }
    guard words.unicodeScalars.count <= ClipMaker.textLimit else {
      throw .invalid("an announcement has at most \(ClipMaker.textLimit) characters")
    }
    return words + "\n"
  }
}
