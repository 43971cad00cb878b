import Driver
import House
import LinuxIO
import Sender

/// Makes the players of a household, on its host.
final class HousePlayerMaker: HousePlayers {
  /// Called with the identity of a group to which something has happened, also in the middle of a call.
  var hears: (String, SenderEvent) -> Void = { _, _ in }
  var onEvent: (String, GroupEvent.Change) -> Void = { _, _ in }
  private let host: GroupHost
  private let settings: House.Settings
  private let inputs: LiveInputs

  init(_ host: GroupHost, _ settings: House.Settings, _ inputs: LiveInputs) {
    (self.host, self.settings, self.inputs) = (host, settings, inputs)
  }

  func open(_ purpose: PlayerPurpose) throws(Refusal) -> any GroupPlayer {
    do {
      switch purpose {
      case .group(let record): return try player(of: record)
      case .visit: return try player(of: Playlist())
      case .sign:
        return try player(
          of: Playlist([PlaylistEntry(RoomTones.path(beside: settings.path))]),
          endsWithPlaylist: true)
      }
    } catch {
      throw .unavailable("no player can be made: \(error)")
    }
  }

  private func player(of record: HouseRecord.Group) throws -> GroupDriver {
    let (id, driver) = (record.id, try player(of: record.playlist, inputs: inputs))
    driver.hears = { [unowned self] in hears(id, $0) }
    driver.onEvent = { [unowned self] in onEvent(id, $0.change) }
    return driver
  }

  private func player(
    of playlist: Playlist, inputs: LiveInputs? = nil, endsWithPlaylist: Bool = false
  ) throws -> GroupDriver {
    let sources = try PlaybackSources(settings.encoding, inputs: inputs)
    let driver = try GroupDriver(
      host: host,
      settings: .init(senderName: settings.name, endsWithPlaylist: endsWithPlaylist),
      playlist: playlist, reads: sources.reads, makeSerializer: sources.makeSerializer)
    driver.holds = sources.hold
    return driver
  }
}
