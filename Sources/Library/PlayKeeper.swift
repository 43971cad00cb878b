import Glibc
import House
import Sender
package import Service

/// Writes what a household plays into the library's history, until the task is cancelled.
package actor PlayKeeper {
  /// How often it looks while something plays that does not count yet.
  private static let period = Duration.seconds(5)

  private let house: any HouseControl
  private let library: MediaLibrary
  private var watch = PlayWatch()

  package init(_ house: any HouseControl, _ library: MediaLibrary) {
    (self.house, self.library) = (house, library)
  }

  package func run() async {
    await withTaskGroup { group in
      group.addTask { await self.follow() }
      group.addTask { await self.look() }
    }
  }

  private func follow() async {
    while !Task.isCancelled {
      if let news = try? await house.changes(), let state = try? await house.state() {
        for group in state.groups { watch.take(group, at: state.nowMs) }
        for await change in news {
          for id in change.removedGroups { watch.forget(id) }
          for group in change.groups { watch.take(group, at: change.nowMs) }
          await keep(at: change.nowMs)
        }
      }
      // The stream has ended because this actor was too slow, or because the house is about to end.
      try? await Task.sleep(for: Self.period)
    }
  }

  private func look() async {
    while (try? await Task.sleep(for: Self.period)) != nil {
      guard watch.isWaiting, let state = try? await house.state() else { continue }
      for group in state.groups { watch.take(group, at: state.nowMs) }
      await keep(at: state.nowMs)
    }
  }

  private func keep(at nowMs: Double) async {
    for heard in watch.heard(at: nowMs) {
      guard let play = await play(heard) else { continue }
      // A full disk forgets what was played; the music itself says that the disk is full.
      try? await library.note(play)
    }
  }

  private func play(_ heard: PlayWatch.Heard) async -> Keepsakes.Play? {
    let (item, at) = (heard.item, Int64(time(nil)) - Int64(heard.agoMs / 1_000))
    if let track = item.trackId {
      return .init(kind: .track, name: track, title: item.title, artist: item.artist, at: at)
    }
    guard let index = heard.index,
      let page = try? await house.queue(group: heard.groupId, offset: index, limit: 1),
      let entry = page.entries.first, entry.id == item.entryId
    else { return nil }
    if case .input(let name) = LiveLocation(entry.uri) {
      return .init(kind: .input, name: name, title: name, artist: nil, at: at)
    }
    return .init(kind: .radio, name: entry.uri, title: item.title, artist: item.artist, at: at)
  }
}
