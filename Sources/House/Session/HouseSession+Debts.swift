import Sender
import WireProtocol

/// Owes rooms the loudness that was answered, until they have it: a process that ends leaves it to the next.
extension HouseSession {
  /// Makes rooms as loud as they are to be, once no alarm rings there and they can be told.
  func payDebts() {
    let before = alarms.debts
    for room in before.keys.sorted() where ring(in: room) == nil {
      guard let debt = before[room] else { continue }
      if let link = connection(to: room), let settings = link.settings, isSet(settings, to: debt) {
        guard link.hasTakenSettings else { continue }
        alarms.debts[room] = nil
        alarms.left.remove(room)
      } else if isPayable(room) {
        _ = try? setNow(debt, of: room)
      }
    }
    guard alarms.debts != before else { return }
    desk.hasNews = true
    saveEdits()
  }

  /// A killed process would forget what it has begun before the disk had it.
  private func isPayable(_ room: String) -> Bool {
    let isKept = disk.problem != nil || disk.kept.debts.contains { $0.id == room }
    let isVisited = plan.group(ofRoom: room) == nil && rooms[room]?.visit != nil
    return isKept && !isVisited && rooms[room]?.sign == nil
  }

  private func connection(to room: String) -> GroupStatus.Room? {
    group(ofRoom: room).flatMap { $0.playerRoom(room, $0.player.status) }
      ?? rooms[room]?.visit?.link
  }

  /// Connected rooms are owed what they were told until it has reached them: this process may end before.
  func owe(_ change: RoomChange, to rooms: [String]) {
    guard !change.level.isEmpty else { return }
    for room in rooms where ring(in: room) == nil {
      guard let settings = connection(to: room)?.settings else { continue }
      var level = change.level
      // A step, a limit and the night have made another volume of it.
      (level.volume, level.isStep) = (level.volume.map { _ in Double(settings.volume) / 10 }, false)
      var debt = alarms.debts[room] ?? RoomChange()
      debt.merge(level)
      debt.volume = debt.volume.map { min($0, level.volumeLimit ?? $0) }
      alarms.debts[room] = debt
    }
  }

  /// True if the room is to be told yet how loud it is to be.
  func isOwed(_ room: String) -> Bool {
    guard let debt = alarms.debts[room] else { return false }
    return connection(to: room)?.settings.map { !isSet($0, to: debt) } ?? true
  }

  private func isSet(_ settings: RoomSettings, to change: RoomChange) -> Bool {
    let cap = Self.tenths(night.volumeCap)
    let limit = min(settings.volumeLimit?.volume ?? cap, cap)
    let isLimited =
      settings.volumeLimit.map { known in
        known.isFixed || change.volumeLimit.map { Self.tenths($0) == known.volume } ?? true
      } ?? true
    return isLimited && change.muted ?? settings.isMuted == settings.isMuted
      && change.volume.map { min(Self.tenths($0), limit) == settings.volume } ?? true
  }

  private static func tenths(_ volume: Double) -> UInt16 { UInt16((volume * 10).rounded()) }
}
