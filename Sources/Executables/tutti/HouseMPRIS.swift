import Clock
import House
import LinuxIO
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
  /// - Parameter port: of the page, where pictures are.
  init?(
    _ configuration: HouseConfiguration, port: Int, house: HouseClient,
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
    tasks = Self.begin(bus, requests, house, library, port: port)
  }

  private static func begin(
    _ bus: MediaPlayerBus, _ requests: AsyncStream<PlayerRequest>, _ house: HouseClient,
    _ library: any LibraryControl, port: Int
  ) -> [Task<Void, Never>] {
    [
      Task.detached { await follow(house, port: port, bus) },
      Task.detached { await carryOut(requests, house, library, bus) },
    ]
  }

  func end() {
    for task in tasks { task.cancel() }
    bus.finish(withinMs: 300)
  }

  // MARK: - Showing

  /// Follows the household until the task is cancelled.
  private static func follow(_ house: HouseClient, port: Int, _ bus: MediaPlayerBus) async {
    var book = NumberBook()
    while !Task.isCancelled {
      if let news = try? await house.changes(), var state = try? await house.state() {
        bus.show(players(of: state, port: port, &book))
        for await change in news {
          state.apply(change)
          bus.show(players(of: state, port: port, &book))
        }
      }
      // It has dropped a reader that was too slow.
      try? await Task.sleep(for: .seconds(1))
    }
  }

  /// Groups keep their slugs as they do for clients of MPD.
  private static func players(
    of state: HouseState, port: Int, _ book: inout NumberBook
  ) -> [MediaPlayer.Shown] {
    book.note(
      groups: state.groups.map {
        ($0.id, $0.name, $0.isNamed ? .user : state.isCalledByAddress($0) ? .address : .rooms)
      }, base: 1)
    return state.groups.map { group in
      MediaPlayer.Shown(
        slug: book.group(group.id)?.slug ?? group.id, name: "Tutti: \(group.name)", group: group,
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
