import Driver
import House
import LinuxIO
import Sender

import struct WireProtocol.StreamRecord

/// Makes the players of a household, on its host.
final class HousePlayerMaker: HousePlayers {
  /// Called with the identity of a group to which something has happened, also in the middle of a call.
  var hears: (String, SenderEvent) -> Void = { _, _ in }
  var onEvent: (String, GroupEvent.Change) -> Void = { _, _ in }
  /// Called with the identity of a group, and what another process must know to go on with it.
  var keeps: (String, StreamRecord?) -> Void = { _, _ in }
  /// Called with the identity of a group, and a command that its player has carried out.
  var carried: (String, PlayerCommand) -> Void = { _, _ in }
  private let host: GroupHost
  private let settings: House.Settings
  private let inputs: LiveInputs

  init(_ host: GroupHost, _ settings: House.Settings, _ inputs: LiveInputs) {
    (self.host, self.settings, self.inputs) = (host, settings, inputs)
  }

  func open(_ purpose: PlayerPurpose) throws(Refusal) -> any GroupPlayer {
    do {
      switch purpose {
      case .group(let record, let succession): return try player(of: record, after: succession)
      case .visit: return try player(of: Playlist())
      case .sign:
        return try player(
          of: Playlist([PlaylistEntry(RoomTones.path(beside: settings.path))]),
          endsWithPlaylist: true)
      case .alarm(let id, let entries): return try player(ofAlarm: id, entries)
      }
    } catch {
      throw .unavailable("no player can be made: \(error)")
    }
  }

  private func player(
    of record: HouseRecord.Group, after succession: StreamSuccession?
  ) throws -> GroupDriver {
    let id = record.id
    let driver = try player(
      of: record.playlist, inputs: inputs, places: settings.places, isKept: true,
      after: succession)
    driver.keeps = { [unowned self] in keeps(id, $0) }
    driver.hears = { [unowned self] in hears(id, $0) }
    driver.carried = { [unowned self] in carried(id, $0) }
    driver.onEvent = { [unowned self] in onEvent(id, $0.change) }
    return driver
  }

  /// It takes rooms for a while: another sender gets them back.
  private func player(ofAlarm id: String, _ entries: [Order.NewEntry]) throws -> GroupDriver {
    let tone = PlaylistEntry(AlarmTone.path(beside: settings.path))
    let playlist = Playlist(entries.map(\.listed), repetition: .all, otherwise: tone)
    let driver = try player(of: playlist, startsHeld: true, givesBack: true)
    driver.hears = { [unowned self] in hears(id, $0) }
    return driver
  }

  private func player(
    of playlist: Playlist, inputs: LiveInputs? = nil, places: KeptPlaces = KeptPlaces(),
    endsWithPlaylist: Bool = false,
    startsHeld: Bool = false, givesBack: Bool = false, isKept: Bool = false,
    after succession: StreamSuccession? = nil
  ) throws -> GroupDriver {
    let sources = try PlaybackSources(
      settings.encoding, inputs: inputs, served: settings.served, measured: settings.loudness,
      places: places)
    let driver = try GroupDriver(
      host: host,
      settings: .init(
        senderName: settings.name, endsWithPlaylist: endsWithPlaylist, startsHeld: startsHeld,
        claim: .init(givesBack: givesBack), isKept: isKept, succession: succession,
        small: sources.small),
      playlist: playlist, reads: sources.reads, makeSerializer: sources.makeSerializer)
    driver.holds = sources.hold
    return driver
  }
}
