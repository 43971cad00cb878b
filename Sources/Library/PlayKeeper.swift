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
  private var places = PlaceWatch()
  /// When the newest state was true that it has seen.
  private var latestMs = -Double.infinity
  /// Addresses of what the groups play, by the groups' ids.
  private var addresses: [String: (entry: Int, uri: String)] = [:]

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
        await take(state.groups, at: state.nowMs)
        for await change in news {
          for id in change.removedGroups {
            watch.forget(id)
            if let place = places.forget(id, at: change.nowMs) { await keep(place) }
            addresses[id] = nil
          }
          await take(change.groups, at: change.nowMs)
        }
      }
      // The stream has ended because this actor was too slow, or because the house is about to end.
      try? await Task.sleep(for: Self.period)
    }
  }

  private func look() async {
    while (try? await Task.sleep(for: Self.period)) != nil {
      guard watch.isWaiting || places.isWaiting, let state = try? await house.state() else {
        continue
      }
      await take(state.groups, at: state.nowMs)
    }
  }

  /// Leaves out what a change has overtaken since it was asked for, or while a place was being kept.
  private func take(_ groups: [HouseState.Group], at nowMs: Double) async {
    latestMs = max(latestMs, nowMs)
    for group in groups {
      guard nowMs >= latestMs else { return }
      watch.take(group, at: nowMs)
      if let place = places.take(group, at: nowMs) { await keep(place) }
      await note(group)
    }
    await keep(at: nowMs)
  }

  private func keep(_ place: PlaceWatch.Place) async {
    let known = addresses[place.groupId]
    let uri = known?.entry == place.item.entryId ? known?.uri : nil
    guard place.item.trackId != nil || uri != nil else { return }
    try? await library.keep(place, uri: uri ?? "")
  }

  /// Finds the address of what a group plays, while its queue still has it.
  private func note(_ group: HouseState.Group) async {
    guard let item = group.item, item.trackId == nil, addresses[group.id]?.entry != item.entryId,
      let uri = await entry(of: group.id, group.queue.index, item)?.uri
    else { return }
    addresses[group.id] = (item.entryId, uri)
  }

  private func entry(
    of group: String, _ index: Int?, _ item: HouseState.Item
  ) async -> QueuePage.Entry? {
    guard let index, let page = try? await house.queue(group: group, offset: index, limit: 1),
      let entry = page.entries.first, entry.id == item.entryId
    else { return nil }
    return entry
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
    guard let entry = await entry(of: heard.groupId, heard.index, item) else { return nil }
    if case .input(let name) = LiveLocation(entry.uri) {
      return .init(kind: .input, name: name, title: name, artist: nil, at: at)
    }
    return .init(kind: .radio, name: entry.uri, title: item.title, artist: item.artist, at: at)
  }
}
