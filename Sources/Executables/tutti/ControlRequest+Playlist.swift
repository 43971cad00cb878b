import Clock
import LinuxIO
import Sender

/// What other terminals ask of the list, as commands of the session: people say numbers, the session wants identities.
extension ControlRequest {
  func listCommands(_ items: [PlayItem]) throws -> [PlayerCommand] {
    switch verb {
    case .add: [.edit(.insert(try named(files, "files"), place))]
    case .remove: [.edit(.remove(try ids(items)))]
    case .move:
      try ids(items).prefix(1).map { .edit(.move($0, place)) }
    case .clear: [.edit(.clear)]
    case .jump: try ids(items).prefix(1).map { .jump(to: $0) }
    case .shuffle: [.edit(.shuffle(seed: try SystemRandom.number()))]
    case .repeat: [.edit(.setRepetition(try repetition))]
    case .queue, .pause, .resume, .stop, .seek, .next, .previous, .volume, .effects, .status: []
    }
  }

  private var place: PlaylistEdit.Place {
    switch to {
    case nil: .end
    case 0: .next
    case .some(let number): .index(number - 1)
    }
  }

  private var repetition: Playlist.Repetition {
    get throws {
      guard let repetition = mode.flatMap(Playlist.Repetition.init(rawValue:)) else {
        throw Failure(.usage, "repeat is off, one or all")
      }
      return repetition
    }
  }

  private func named<Value>(_ value: Value?, _ name: String) throws -> Value {
    guard let value else { throw Failure(.usage, "\(verb.rawValue) needs \(name)") }
    return value
  }

  private func ids(_ items: [PlayItem]) throws -> [Int] {
    try named(numbers, "numbers").map { number in
      guard items.indices.contains(number - 1) else {
        let range = items.isEmpty ? "it is empty" : "it has 1 to \(items.count)"
        throw Failure(.usage, "there is no number \(number) in the list: \(range)")
      }
      return items[number - 1].id
    }
  }
}

extension ControlRequest.Verb {
  var isAboutTheList: Bool {
    switch self {
    case .queue, .add, .remove, .move, .clear, .jump, .shuffle, .repeat: true
    case .pause, .resume, .stop, .seek, .next, .previous, .volume, .effects, .status: false
    }
  }
}

extension PlayerService {
  /// The list as other terminals see it.
  var queue: [QueueEntry] {
    let current = session.status(at: HostClock.now).item?.item.id
    return session.playlist.items.enumerated().map { index, item in
      QueueEntry(
        number: index + 1, id: item.id, item: item.location, current: item.id == current)
    }
  }
}
