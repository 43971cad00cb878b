import Driver
package import House
package import Pairing
package import Sender

/// The household for other threads. Each request is carried out on the loop's thread, and answered when it is on the
/// disk.
package struct HouseClient: HouseControl, PairingHousehold {
  static let isOver = Refusal.unavailable("the daemon is ending; try again")
  private static let isBusy = Refusal.unavailable("too much is asked for at once; try again")

  let mailbox: Mailbox<House>
  let workshop: ClipWorkshop
  let browser: FolderBrowser
  let visits: ServerVisits
  let stations: StationNames

  package func state() async throws(Refusal) -> HouseState {
    try await ask { house, answer in answer(.success(house.publish())) }
  }

  package func perform(_ request: Order) async throws(Refusal) -> Answer {
    try await ask { house, answer in house.perform(request, answer) }
  }

  /// - Parameter group: its name; nil is the group of the rooms.
  func play(
    _ request: PlayRequest, _ entries: [Order.NewEntry], in group: String?
  ) async throws(Refusal) -> Answer {
    try await ask { house, answer in house.play(request, entries, in: group, answer) }
  }

  package func announce(
    _ request: AnnounceRequest, for asker: Asker?
  ) async throws(Refusal) -> Answer {
    let sound = try request.sound(for: asker)
    let made = try await workshop.make(sound, withChime: request.hasChime)
    let wish = AnnouncementWish(
      rooms: request.rooms, made.clip, length: made.length, volume: request.volume)
    return try await ask { house, answer in house.perform(.announce(wish), answer) }
  }

  package func queue(
    group: String, offset: Int, limit: Int
  ) async throws(Refusal) -> QueuePage {
    try await ask { house, answer in
      answer(
        Result { () throws(Refusal) in
          try house.session.page(of: group, offset: offset, limit: limit)
        })
    }
  }

  package func narrow(among addresses: Set<String>) async throws(Refusal) -> Set<String> {
    try await ask { house, answer in answer(.success(house.session.narrow(among: addresses))) }
  }

  package func folderChoices(in path: String?) async throws(Refusal) -> FolderChoices {
    try await browser.choices(in: path)
  }

  package func check(server name: String) async throws(Refusal) {
    let server: MediaServer? = try await ask { house, answer in
      answer(.success(house.servers.first { $0.name == name }))
    }
    guard let server else { throw .noSuch("\(name) is no server of the library") }
    try await visits.found(server).get()
  }

  package func foundServers() async throws(Refusal) -> [FoundServer] {
    try await visits.servers()
  }

  package func stationName(
    _ uri: String, reach: SourceReach
  ) async throws(Refusal) -> String? {
    try await stations.name(of: uri, reach: reach)
  }

  /// The configuration's file has changed.
  package func configured(_ fixed: SetUp.Fixed, roots: [String]) {
    mailbox.post { house in house.configured(fixed, roots: roots) }
  }

  package func inputs() async throws(Refusal) -> [HouseState.Input] {
    try await ask { house, answer in answer(.success(house.measuredInputs)) }
  }

  package func syncHistory() async throws(Refusal) -> SyncHistory {
    try await ask { house, answer in answer(.success(house.session.syncHistory)) }
  }

  package func changes() async throws(Refusal) -> AsyncStream<HouseChange> {
    try await ask { house, answer in
      answer(Result { () throws(Refusal) in try house.addReader() })
    }
  }

  /// Tells the surfaces how far the library is.
  package func show(_ library: HouseState.LibraryFigures) {
    mailbox.post { house in house.show(library) }
  }

  package func pairingRoom(_ id: String) async throws(Refusal) -> PairingRoom {
    try await ask { house, answer in
      answer(Result { () throws(Refusal) in try house.pairingRoom(id) })
    }
  }

  package func paired(_ pairings: Pairings) {
    mailbox.post { house in house.trust(pairings) }
  }

  private func ask<Value: Sendable>(
    _ body: @escaping @Sendable (House, @escaping (Result<Value, Refusal>) -> Void) -> Void
  ) async throws(Refusal) -> Value {
    let result = await withCheckedContinuation { continuation in
      let refusal = mailbox.offer { house in
        body(house) { continuation.resume(returning: $0) }
      }
      switch refusal {
      case .closed: continuation.resume(returning: Result<Value, _>.failure(Self.isOver))
      case .busy: continuation.resume(returning: .failure(Self.isBusy))
      case nil: break
      }
    }
    return try result.get()
  }
}
