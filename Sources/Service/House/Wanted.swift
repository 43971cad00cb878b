package import House
package import Sender

/// Something that somebody asks to be played, as everybody may name it. Only the library leads to files: else anybody in the network
/// could play and read any of this machine.
package enum Wanted: Hashable, Sendable {
  case library(LibraryItem)
  /// The input of this name.
  case input(String)
  case address(WebAddress)

  /// Entries that one request adds: an artist may have many.
  package static let addLimit = 20_000
}

extension HouseControl {
  /// The entries that it stands for, as far as this asker may have it played.
  package func entries(
    of wanted: [Wanted], for asker: Asker, in library: any LibraryControl
  ) async throws(Refusal) -> [Order.NewEntry] {
    var entries: [Order.NewEntry] = []
    let narrow = try await narrow(wanted, for: asker, in: library)
    for item in wanted {
      entries += try await self.entries(of: item, narrow, for: asker, in: library)
      guard entries.count <= Wanted.addLimit else {
        throw .invalid("These are more than \(Wanted.addLimit) items; add fewer.")
      }
    }
    return entries
  }

  /// The addresses that a guest has added, as far as a queue or a playlist has them still. A page or a client of MPD that
  /// adds such an entry again names it by its address, and must not give it more reach than the guest had.
  private func narrow(
    _ wanted: [Wanted], for asker: Asker, in library: any LibraryControl
  ) async throws(Refusal) -> Set<String> {
    var addresses: Set<String> = []
    for case .address(let address) in wanted { addresses.insert(address.text) }
    guard asker.reach != .internet, !addresses.isEmpty else { return [] }
    let inQueues = try await narrow(among: addresses)
    let others = addresses.subtracting(inQueues)
    // A library that cannot tell keeps nobody from the radio, and gives no address of a guest's more reach.
    return inQueues.union((try? await library.narrow(among: others)) ?? others)
  }

  private func entries(
    of wanted: Wanted, _ narrow: Set<String>, for asker: Asker, in library: any LibraryControl
  ) async throws(Refusal) -> [Order.NewEntry] {
    switch wanted {
    case .library(.folder(let path)) where !LibraryItem.isInside(path):
      throw .noSuch("There is no folder \(path) in the library.")
    case .library(let item): return try await library.entries(of: item)
    case .input(let name):
      try asker.need(.household, to: "play inputs")
      guard try await state().inputs.contains(where: { $0.name == name }) else {
        throw .noSuch("There is no input \(name); see the list of inputs.")
      }
      return [Order.NewEntry(input: name)]
    case .address(let address):
      if !PublicAddress.isOne(address.text) {
        try asker.need(.household, to: "play addresses of this network")
      }
      var entry = Order.NewEntry(location: address.text)
      entry.reach = narrow.contains(address.text) ? .internet : asker.reach
      return [entry]
    }
  }

  /// Keeps a group's queue as a playlist; also returns how long the queue was, for files outside the library are left out.
  package func save(
    _ group: String, as name: String, in library: any LibraryControl
  ) async throws(Refusal) -> (list: StoredPlaylist, queueCount: Int) {
    var entries: [QueuePage.Entry] = []
    while true {
      let page = try await queue(group: group, offset: entries.count, limit: 1_000)
      entries += page.entries
      if page.entries.isEmpty || entries.count >= page.count { break }
    }
    return (try await library.savePlaylist(name, entries), entries.count)
  }
}

extension LibraryItem {
  /// Relative to the library's folders, and not out of them. The library itself looks again, with the links of the disk.
  package static func isInside(_ path: String) -> Bool {
    path.utf8.count <= 4_096 && !path.hasPrefix("/")
      && !path.split(separator: "/").contains { $0 == ".." || $0 == "." }
  }
}

extension Asker {
  /// For a part of a request that not everybody may ask for who may send the rest.
  package func need(_ permission: Permission, to what: String) throws(Refusal) {
    if !may(permission) { throw .forGuests(what) }
  }

  /// Where an address that it names may lead, whatever its text says: by a name, a list or a redirect.
  package var reach: SourceReach { may(.household) ? .network : .internet }
}

extension Refusal {
  package static func forGuests(_ what: String) -> Refusal {
    .forbidden("Guests may not \(what); pair this browser with the household first.")
  }
}
