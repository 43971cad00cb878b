import Clock
import Driver
package import House
import LinuxIO
import Sender

/// The answers of a player in the foreground to other terminals. It has one group, which ends with
/// it.
extension PlayerService: OrderNames {
  package func reply(to call: ControlCall) -> ControlReply {
    do throws(Refusal) {
      if let group = call.group { _ = try room(group) }
      return ControlReply(id: call.id, .done(answer: try answer(call.request, call.rooms ?? [])))
    } catch {
      return ControlReply(id: call.id, .refused(error: error))
    }
  }

  func answer(
    _ request: ControlRequest, _ records: [RoomRecord] = []
  ) throws(Refusal) -> ControlAnswer {
    var answer = ControlAnswer()
    switch request {
    case .status, .groups: break
    case .queue: answer.queue = group.shownQueue
    case .order(let order):
      for record in records { driver.host.know(record) }
      answer.done = try perform(try order.resolved(by: self))
      if order.isAboutTheList { answer.queue = group.shownQueue }
    case .silence(let rooms): (answer.done, answer.silenced) = try silence(rooms)
    case .play:
      throw .unavailable(
        "another player is running with this state directory; stop it with: tutti stop")
    case .end: answer.done = try player.transport(.stop)
    case .save, .announce, .alarms, .inputs: throw Self.onlyHouse
    case .access: throw .unavailable("this player has no page; start one with: tutti serve")
    case .pairing: throw .unavailable("only a daemon pairs rooms for others")
    case .library: throw .unavailable("this player has no library; start one with: tutti serve")
    }
    answer.status = statusReport
    return answer
  }

  /// Carries out an order whose names and numbers are identities already. Returns a few words about what was done.
  @discardableResult
  package func perform(_ order: Order) throws(Refusal) -> String? {
    switch order {
    case .transport(_, .stop): return try player.transport(.stop)
    case .transport(_, let transport): return try group.transport(transport)
    // Its group is the only one.
    case .stopEverywhere(nil): return try player.transport(.stop)
    case .stopEverywhere(let sleepInS):
      return try perform(.change(group: Order.meantGroup, .init(sleepInS: sleepInS)))
    case .seek(_, let seconds, let isRelative):
      return try group.seek(seconds, isRelative: isRelative)
    case .edit(_, let edit, _): return try group.edit(edit).said
    case .set(let rooms, let change):
      return try player.set(
        change, in: rooms.map { name throws(Refusal) in .room(try room(name).id) })
    case .join(_, let room, _): return try join(room)
    case .leave(_, let rooms): return try leave(rooms)
    case .change(_, let change):
      guard change.name == nil, change.roomIds == nil else { throw Self.onlyHouse }
      try group.check(change)
      return try group.set(change, at: HostClock.now)
    case .createGroup, .deleteGroup, .merge, .identify, .addAlarm, .changeAlarm, .removeAlarm,
      .endAlarm, .night, .scene, .stereo, .setUp:
      throw Self.onlyHouse
    }
  }

  private static let onlyHouse = Refusal.unavailable(
    "a player in a terminal cannot do that; a daemon can: tutti serve")

  /// Silences the named rooms, or all if none is named. Names of rooms that are not the player's are
  /// left out of the answer.
  private func silence(
    _ names: [String]
  ) throws(Refusal) -> (done: String?, ControlAnswer.Silenced) {
    let receivers = driver.receivers
    let own = names.filter { name in meant(by: name) != nil }
    let ids = Set(own.compactMap(meant))
    var done: String?
    if names.isEmpty || ids.count == status.rooms.count {
      done = try player.transport(.stop)
    } else if !own.isEmpty {
      let rooms = status.rooms.filter { ids.contains($0.id) }
      done = try leave(rooms.map(\.name))
    }
    return (done, .init(rooms: own, receivers: receivers))
  }

  // MARK: - Names

  package func group(_ name: String) throws(Refusal) -> String { name }

  package func room(_ name: String, in group: String?) throws(Refusal) -> String {
    try room(name).name
  }

  package func newRoom(_ name: String) throws(Refusal) -> String { name }

  package func entry(_ number: Int, in group: String) throws(Refusal) -> Int {
    try player.item(number).id
  }

  /// Throws if the entry is an input, because only a daemon has inputs.
  package func input(_ entry: Order.NewEntry) throws(Refusal) -> Order.NewEntry {
    guard case .input(let name) = LiveLocation(entry.location) else { return entry }
    throw .invalid("there is no file called \(name), and inputs play through: tutti serve")
  }

  package func scene(_ name: String) throws(Refusal) -> String { throw Self.onlyHouse }
}

extension GroupDriver: GroupPlayer {}

/// A group as terminals see it: its list with the titles that the household knows, not file names.
extension HouseGroup {
  /// Facts that came with an entry. A title alone is less than the tags say.
  private func known(_ entry: Int) -> Order.NewEntry? {
    player.details[entry].flatMap { $0.isBare ? nil : $0 }
  }

  /// People see this of an item, beside its location.
  private func shown(
    _ item: PlayItem, _ status: GroupStatus
  ) -> (title: String?, artist: String?, durationS: Double?) {
    let opened = player.opened(item, status)
    let known = known(item.id)
    return (
      known?.title ?? opened?.metadata.title ?? item.title,
      known?.artist ?? opened?.metadata.artist,
      known?.durationS ?? opened?.duration?.seconds.rounded(to: 9)
    )
  }

  var shownQueue: [QueueEntry] {
    let status = player.status
    let current = place(status)?.entry
    return items.enumerated().map { index, item in
      let (title, artist, duration) = shown(item, status)
      return QueueEntry(
        number: index + 1, id: item.id, item: item.location, current: item.id == current,
        title: title, artist: artist, durationS: duration,
        problem: player.failedItems[item.id]?.problem)
    }
  }

  /// A group at rest is shown where it goes on, as on the page.
  private func showRest(in report: inout StatusReport, _ status: GroupStatus) {
    let place = place(status)
    let index = items.firstIndex { $0.id == place?.entry }
    let seconds = place?.seconds ?? 0
    (report.state, report.positionS) = (seconds > 0 ? .paused : .stopped, seconds)
    (report.item, report.itemNumber) = (index.map { items[$0].location }, (index ?? -1) + 1)
    let item = index.map { shown(items[$0], status) }
    (report.title, report.artist, report.durationS) = (item?.title, item?.artist, item?.durationS)
  }

  func statusReport(artworkPath: String? = nil) -> StatusReport {
    let status = player.status
    var report = StatusReport(
      status, revision: (player.port as? GroupDriver)?.revision ?? 0, artworkPath: artworkPath)
    if let item = status.item?.item, let known = known(item.id) {
      report.title = known.title ?? report.title
      report.artist = known.artist ?? report.artist
      report.album = known.album ?? report.album
    }
    if let next = status.next?.item {
      (report.nextTitle, report.nextArtist, report.nextDurationS) = shown(next, status)
    }
    report.failed = failed
    report.sleepInS = sleep.end.map { max(0, ($0 - HostClock.now).seconds).rounded(to: 0) }
    if isResting(status), status.state != .finished { showRest(in: &report, status) }
    return report
  }
}
