import Clock
import Driver
package import House
import LinuxIO
import Sender

/// Says what files are that terminals name by their places alone. From any thread.
package protocol FileTitles: Sendable {
  /// Returns entries for the files of the library, by their places; the others are missing.
  func known(_ places: [String]) async -> [String: Order.NewEntry]
  /// Returns entries with the tags of other files.
  func tagged(_ places: [String]) async -> [String: Order.NewEntry]
}

/// The questions about files of terminals, and their answers.
struct Titles {
  /// Requests that wait; more are carried out without titles.
  static let waitingLimit = 32
  /// Music does not wait longer for the library.
  static let timeout = Nanoseconds.milliseconds(500)
  /// Files of one request of which the tags are read; the others are named when they play.
  static let taggedLimit = 200

  var files: (any FileTitles)?
  var timeout = Self.timeout
  /// The entries of the request that is carried out just now.
  var known: [String: Order.NewEntry] = [:]
  var waiting: [UInt64: (deadline: LocalTime, body: () -> Void)] = [:]
  var count: UInt64 = 0

  var deadline: LocalTime? { waiting.values.map(\.deadline).min() }

  /// The entry with what is known of the file.
  func titled(_ entry: PlaylistEntry) -> Order.NewEntry {
    var new = known[entry.location] ?? Order.NewEntry(location: entry.location)
    (new.title, new.reach) = (new.title ?? entry.title, entry.reach)
    return new
  }
}

/// Titles and covers of what terminals play by its place: as the library has it, else as the file says itself.
extension House {
  package func ask(_ files: any FileTitles) { titles.files = files }

  /// Calls `body` when the library has said what the files are, and without it where that takes long.
  func withTitles(ofFilesIn request: ControlRequest, _ body: @escaping () -> Void) {
    let places = request.places.filter { $0.hasPrefix("/") }
    guard !places.isEmpty, let files = titles.files, titles.waiting.count < Titles.waitingLimit
    else { return body() }
    titles.count += 1
    let number = titles.count
    titles.waiting[number] = (HostClock.now + titles.timeout, body)
    let mailbox = mailbox
    Task {
      let known = await files.known(places)
      mailbox.post { house in house.learn(known, for: number) }
      let others = places.filter { known[$0] == nil }.prefix(Titles.taggedLimit)
      guard !others.isEmpty else { return }
      let tagged = await files.tagged(Array(others))
      mailbox.post { house in house.describe(tagged) }
    }
  }

  private func learn(_ known: [String: Order.NewEntry], for number: UInt64) {
    guard let waiting = titles.waiting.removeValue(forKey: number) else { return describe(known) }
    titles.known = known
    waiting.body()
  }

  private func describe(_ files: [String: Order.NewEntry]) { handle(.described(files)) }

  func endWaitingForTitles(at now: LocalTime) {
    for (number, waiting) in titles.waiting where waiting.deadline <= now {
      titles.waiting[number] = nil
      waiting.body()
    }
  }
}

extension ControlRequest {
  /// The places of what it adds to a list.
  fileprivate var places: [String] {
    switch self {
    case .play(let request): request.entries.map(\.location)
    case .order(.edit(_, .add(let entries, _), _)): entries.map(\.location)
    case .order(.addAlarm(let change)), .order(.changeAlarm(_, let change)): change.places
    case .status, .groups, .queue, .alarms, .inputs, .order, .silence, .end, .save, .announce,
      .access, .pairing, .library:
      []
    }
  }
}

extension AlarmChange {
  fileprivate var places: [String] {
    if case .entries(let entries) = music { entries.map(\.location) } else { [] }
  }
}
