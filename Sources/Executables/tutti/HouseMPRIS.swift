import Clock
import House
import LinuxIO
import MPD
import MPDProtocol
import MPRIS
import MPRISProtocol
import Service

extension MediaPlayerBus {
  /// Requests that wait at most; more are refused.
  static let requestLimit = 32
}

/// A daemon's groups on the session bus of its user.
final class HouseMPRIS {
  private let bus: MediaPlayerBus
  private let tasks: [Task<Void, Never>]

  /// Nil where the configuration does not ask for it.
  ///
  /// - Parameters:
  ///   - port: of the page, where pictures are.
  ///   - numbers: the book of slugs. Clients of MPD have the same, and whoever answers them keeps it.
  init?(
    _ configuration: HouseConfiguration, port: Int, numbers: KeptNumbers, house: HouseClient,
    library: any LibraryControl, report: @escaping @Sendable (String) -> Void
  ) throws {
    guard configuration.mpris else { return nil }
    let (requests, waiting) = AsyncStream.makeStream(
      of: PlayerRequest.self, bufferingPolicy: .bufferingOldest(MediaPlayerBus.requestLimit))
    let bus = try MediaPlayerBus(
      .init(
        nowMs: { HostClock.milliseconds },
        ask: { if case .enqueued = waiting.yield($0) { true } else { false } }, report: report))
    self.bus = bus
    let slugs = Slugs(numbers, isKeeper: configuration.mpd == nil)
    tasks = Self.begin(bus, requests, house, library, slugs, port: port)
  }

  private static func begin(
    _ bus: MediaPlayerBus, _ requests: AsyncStream<PlayerRequest>, _ house: HouseClient,
    _ library: any LibraryControl, _ slugs: Slugs, port: Int
  ) -> [Task<Void, Never>] {
    [
      Task.detached { await follow(house, slugs, port: port, bus) },
      Task.detached { await carryOut(requests, house, library, bus) },
    ]
  }

  func end() {
    for task in tasks { task.cancel() }
    bus.finish(withinMs: 300)
  }

  // MARK: - Showing

  /// Follows the household until the task is cancelled.
  private static func follow(
    _ house: HouseClient, _ slugs: Slugs, port: Int, _ bus: MediaPlayerBus
  ) async {
    var slugs = slugs
    while !Task.isCancelled {
      if let news = try? await house.changes(), var state = try? await house.state() {
        bus.show(players(of: state, port: port, &slugs))
        for await change in news {
          state.apply(change)
          bus.show(players(of: state, port: port, &slugs))
        }
      }
      // It has dropped a reader that was too slow.
      try? await Task.sleep(for: .seconds(1))
    }
  }

  private static func players(
    of state: HouseState, port: Int, _ slugs: inout Slugs
  ) -> [MediaPlayer.Shown] {
    slugs.note(state)
    return state.groups.map { group in
      MediaPlayer.Shown(
        slug: slugs.book.group(group.id)?.slug ?? group.id, name: "Tutti: \(group.name)",
        group: group,
        art: group.item?.artwork.map {
          "http://localhost:\(port)/api/v1/artwork/\($0)?size=300"
        })
    }
  }

  // MARK: - Carrying out

  /// One after another, in the order in which they came.
  private static func carryOut(
    _ requests: AsyncStream<PlayerRequest>, _ house: HouseClient, _ library: any LibraryControl,
    _ bus: MediaPlayerBus
  ) async {
    for await request in requests {
      let refusal = await refusal(of: request, house, library)
      if let number = request.number { bus.answer(number, refusal: refusal?.description) }
    }
  }

  /// Nil if it was done.
  private static func refusal(
    of request: PlayerRequest, _ house: HouseClient, _ library: any LibraryControl
  ) async -> Refusal? {
    do throws(Refusal) {
      switch request.wish {
      case .order(let order): _ = try await house.perform(order)
      case .open(let text):
        let entries = try await house.entries(
          of: [.address(try WebAddress(opening: text))], for: .machine, in: library)
        _ = try await house.perform(
          .edit(group: request.group, .add(entries, at: .nowAndKeep), expected: nil))
      }
      return nil
    } catch {
      return error
    }
  }
}

/// The slugs of groups, as clients of MPD know them.
private struct Slugs {
  private(set) var book: NumberBook
  private let numbers: KeptNumbers
  /// True if nobody else keeps the book.
  private let isKeeper: Bool
  private var text: String

  init(_ numbers: KeptNumbers, isKeeper: Bool) {
    (self.numbers, self.isKeeper, text) = (numbers, isKeeper, numbers.text)
    book = NumberBook(text: text)
  }

  mutating func note(_ state: HouseState) {
    let kept = numbers.text
    if kept != text { (text, book) = (kept, NumberBook(text: kept)) }
    // A group that is not in the book yet gets the slug that it will have there, as all that decides it is the book.
    book.note(groups: state.namedGroups, base: nil)
    guard isKeeper, book.text != text else { return }
    text = book.text
    numbers.keep(text)
  }
}

extension HostClock {
  /// As positions of groups have it.
  static var milliseconds: Double { Double(now.nanoseconds) / 1e6 }
}

extension WebAddress {
  init(opening text: String) throws(Refusal) {
    guard let address = WebAddress(text) else {
      throw .invalid("An address is one such as http://host/path; files play through the library.")
    }
    self = address
  }
}
