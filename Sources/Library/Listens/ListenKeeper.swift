import Glibc
package import House
import SQLiteStore
package import Service

/// Tells services what a household hears: follows its groups, keeps what counts, and has it sent.
package actor ListenKeeper {
  /// It looks at the clock so often while something plays.
  private static let period = Duration.seconds(5)

  private let house: any HouseControl
  private let library: MediaLibrary?
  private let store: ListenStore
  private nonisolated let senders: [ListenSender]
  private let report: @Sendable (String) -> Void
  private var counter = ListenCounter()
  private var state: HouseState?
  private var seen = ContinuousClock.now
  private var news: [(ListenCounter.News, services: [String])] = []
  private var unsaved = UnsavedListens()
  private var isKeeping = false
  /// True if people were told that listens are dropped, or cannot be kept.
  private var isToldOfDrop = false
  private var isToldOfDisk = false
  /// Addresses of what the groups play, by the groups' identifiers.
  private var addresses: [String: (entry: Int, uri: String)] = [:]

  /// - Parameters:
  ///   - library: nil if there is none: tracks are known by their tags alone.
  ///   - known: services of which people were told before.
  ///   - path: of its file.
  ///   - worker: a program that calls `LibraryWorker.run`.
  /// - Throws: a sentence that says why nothing is told.
  package init(
    _ house: any HouseControl, _ library: MediaLibrary?, _ services: [ListenService],
    known: [ListenService] = [], path: String, worker: [String],
    report: @escaping @Sendable (String) -> Void
  ) throws(Refusal) {
    (self.house, self.library, self.report) = (house, library, report)
    do {
      store = try ListenStore(path: path, services: services.map(\.name), report: report)
    } catch {
      throw .unavailable("nothing is scrobbled: \(error)")
    }
    senders = services.map { [store] service in
      ListenSender(
        service, store, command: worker + [LibraryWorker.awaited], report: report)
    }
    for service in services where !known.contains(service) {
      report(
        service.server.map { "library \($0.name): its server is told which of its songs are heard" }
          ?? "scrobbling \(service.name) is on: what is heard goes to \(service.address.text)")
    }
  }

  /// Works until the task is cancelled.
  package func run() async {
    counter = ListenCounter((try? await store.hearings()) ?? [:])
    await withTaskGroup { group in
      for sender in senders { group.addTask { await sender.run() } }
      group.addTask { await self.follow() }
      group.addTask { await self.look() }
    }
  }

  /// Ends the programs that send. What was not sent is kept.
  package nonisolated func close() { for sender in senders { sender.close() } }

  private func follow() async {
    while !Task.isCancelled {
      if let changes = try? await house.changes(), let state = try? await house.state() {
        take(state)
        await keep()
        for await change in changes {
          take(change)
          await keep()
        }
      }
      // The stream has ended because this actor was too slow, or because the house is about to end.
      try? await Task.sleep(for: Self.period)
    }
  }

  private func look() async {
    while (try? await Task.sleep(for: Self.period)) != nil {
      let passedMs = (ContinuousClock.now - seen) / .milliseconds(1)
      guard let deadline = counter.nextDeadlineMs, let last = state,
        deadline <= last.nowMs + passedMs, let state = try? await house.state()
      else { continue }
      take(state)
      await keep()
    }
  }

  // MARK: - What is heard

  private static func now(_ nowMs: Double) -> ListenCounter.Moment {
    var wall = timespec()
    clock_gettime(CLOCK_REALTIME, &wall)
    return .init(nowMs: nowMs, wallS: Double(wall.tv_sec) + Double(wall.tv_nsec) / 1e9)
  }

  private func take(_ next: HouseState) {
    guard next.revision >= state?.revision ?? 0, next.nowMs >= state?.nowMs ?? 0 else { return }
    let before = state ?? next
    (state, seen) = (next, .now)
    note(counter.take(next.groups, isWhole: true, at: Self.now(next.nowMs)), next, before)
  }

  /// Leaves out what a later state has told already.
  private func take(_ change: HouseChange) {
    guard var next = state, change.revision > next.revision, change.nowMs >= next.nowMs else {
      return
    }
    let before = next
    next.apply(change)
    (state, seen) = (next, .now)
    let now = Self.now(change.nowMs)
    var found = counter.take(change.groups, at: now)
    for group in change.removedGroups { found += counter.forget(group, at: now) }
    note(found, next, before)
  }

  private func note(_ found: [ListenCounter.News], _ state: HouseState, _ before: HouseState) {
    for one in found {
      guard let group = (state.groups + before.groups).first(where: { $0.id == one.groupId }) else {
        continue
      }
      let services = senders.map(\.service).filter { $0.hears(group, state.rooms) }
      if !services.isEmpty { news.append((one, services.map(\.name))) }
    }
  }

  // MARK: - Keeping

  private func keep() async {
    guard !isKeeping else { return }
    isKeeping = true
    defer { isKeeping = false }
    while true {
      let (found, hearings) = (news, counter.takeChanges())
      guard !found.isEmpty || !hearings.isEmpty else { return }
      news = []
      var entries: [ListenStore.Entry] = []
      for (one, services) in found {
        guard let listen = await listen(one) else { continue }
        let takers = senders.filter { sender in
          services.contains(sender.service.name) && sender.service.takes(listen)
        }
        switch one.kind {
        case .plays: for sender in takers { await sender.tell(listen) }
        case .counts:
          entries.append(.init(listen: listen, services: takers.map(\.service.name)))
        }
      }
      unsaved.add(entries, hearings)
      await save()
    }
  }

  private func save() async {
    let entries = unsaved.entries
    do throws(SQLiteError) {
      let dropped = try await store.keep(entries, unsaved.hearings)
      (unsaved, isToldOfDisk) = (UnsavedListens(), false)
      if dropped > 0, !isToldOfDrop {
        isToldOfDrop = true
        report(
          "scrobbling: more than \(ListenStore.limit) listens wait to be sent; the oldest are dropped"
        )
      }
      if dropped == 0, !entries.isEmpty { isToldOfDrop = false }
      if !entries.isEmpty { for sender in senders { sender.wake() } }
    } catch {
      if !isToldOfDisk { report("scrobbling: listens cannot be kept: \(error)") }
      isToldOfDisk = true
    }
  }

  /// Returns nil for what is no music: stations, episodes, audiobooks, and whatever names no artist.
  private func listen(_ news: ListenCounter.News) async -> Listen? {
    guard var listen = Listen(news.item, at: news.atS) else { return nil }
    guard let track = news.item.trackId else {
      guard let uri = await address(news), uri.hasPrefix("/"), !ListenFacts.isSpoken(uri) else {
        return nil
      }
      return listen
    }
    guard let facts = try? await library?.listenFacts(track: track) else { return listen }
    (listen.number, listen.releaseId) = (facts.number, facts.releaseId)
    if senders.contains(where: { $0.service.server?.name == facts.library }) {
      (listen.library, listen.libraryId) = (facts.library, facts.libraryId)
    }
    return facts.isSpoken ? nil : listen
  }

  /// The path or address of what a group plays, or has just played.
  private func address(_ news: ListenCounter.News) async -> String? {
    if let known = addresses[news.groupId], known.entry == news.item.entryId { return known.uri }
    let index = state?.groups.first { $0.id == news.groupId }?.queue.index ?? 0
    guard
      let page = try? await house.queue(group: news.groupId, offset: max(0, index - 1), limit: 3),
      let entry = page.entries.first(where: { $0.id == news.item.entryId })
    else { return nil }
    let groups = Set(state?.groups.map(\.id) ?? [])
    addresses = addresses.filter { groups.contains($0.key) }
    addresses[news.groupId] = (entry.id, entry.uri)
    return entry.uri
  }
}
