import Audio
import Clock
package import Driver
package import House
package import Sender
package import Service

private struct Greenwich: CivilTime {
  func offset(at time: WallTime) -> Int64 { 0 }
}

/// A household of three rooms and a group that carries out orders, and reports the changes.
package actor FakeHouse: HouseControl {
  struct Queue {
    var revision: UInt64 = 1
    var entries: [QueuePage.Entry] = []
    var index: Int?
    var cleared: [QueuePage.Entry]?
    var isShuffled = false
  }

  private(set) var groups: [HouseState.Group] = []
  private var rooms: [HouseState.Room] = []
  var queues: [String: Queue] = [:]
  private var revision: UInt64 = 100
  private var lastGroup = 0
  private var lastEntry = 0
  var listeners: [AsyncStream<HouseChange>.Continuation] = []
  private let start = ContinuousClock.now
  private var history = SyncHistory()
  private static let noon = LocalTime(nanoseconds: 43_200_000_000_000)
  private var alarms = AlarmBook(
    restoring: [], lastNumber: 0, in: Greenwich(), lead: .zero, at: FakeHouse.noon)
  private var night: NightHours?
  private var scenes: [Scene] = []
  private var setUp = SetUp()
  /// The rooms of pairs, by their identities.
  private var halves: [String: [HouseState.Room]] = [:]
  /// The orders so far, in order.
  package private(set) var requests: [Order] = []

  package init() {
    rooms = ["Kitchen", "Bath", "Bedroom"].enumerated().map { number, name in
      var room = HouseState.Room(
        id: String(repeating: "\(number + 1)", count: 32), name: name, state: .free,
        isPaired: true, isPresent: true)
      (room.volume, room.muted, room.delayMs, room.channels) = (50, false, 0, "stereo")
      (room.volumeLimit, room.isVolumeLimitFixed) = (100, false)
      room.sound = SoundReport(.plain, hasFIR: number == 0)
      return room
    }
  }

  // MARK: - What surfaces see

  package func state() throws(Refusal) -> HouseState {
    let elapsed = ContinuousClock.now - start
    var server = HouseState.Server(id: "5a", name: "study </script>", version: "1.0.0")
    server.night = night.map { .init($0, isNow: false) }
    (server.dates, server.fixed) = (setUp.dates, ["library"])
    var state = HouseState(
      revision: revision, nowMs: elapsed / .milliseconds(1), server: server, groups: groups,
      rooms: rooms, inputs: [.init(name: "Turntable", kind: "card")], alarms: shownAlarms,
      library: .init(trackCount: 3, albumCount: 1))
    state.scenes = scenes
    return state
  }

  package func inputs() throws(Refusal) -> [HouseState.Input] {
    var inputs = try state().inputs
    inputs[0].levelDb = -31.5
    return inputs
  }

  package func queue(group: String, offset: Int, limit: Int) throws(Refusal) -> QueuePage {
    guard let queue = queues[group] else { throw .noSuch("There is no group \(group).") }
    return QueuePage(
      revision: queue.revision, count: queue.entries.count, index: queue.index,
      entries: Array(queue.entries.dropFirst(offset).prefix(limit)))
  }

  package func changes() throws(Refusal) -> AsyncStream<HouseChange> {
    let (stream, continuation) = AsyncStream.makeStream(
      of: HouseChange.self, bufferingPolicy: .bufferingOldest(10_000))
    listeners.append(continuation)
    return stream
  }

  package func hold(sync: RoomSync, room: Int) { rooms[room].sync = sync }

  package func syncHistory() -> SyncHistory { history }

  /// Records the present state as that of another time of the household's clock.
  package func remember(atMs time: Double) throws {
    var state = try state()
    state.nowMs = time
    history.note(state)
  }

  // MARK: - What is asked

  /// The announcements so far, in order.
  package private(set) var announced: [(AnnounceRequest, ClipMaker.Sound)] = []

  package func announce(
    _ request: AnnounceRequest, for asker: Asker?
  ) throws(Refusal) -> Answer {
    let sound = try request.sound(for: asker)
    for room in request.rooms { _ = try index(room: room) }
    announced.append((request, sound))
    var answer = Answer(revision: revision)
    answer.said = "Kitchen: announced"
    return answer
  }

  package func perform(_ request: Order) throws(Refusal) -> Answer {
    requests.append(request)
    switch request {
    case .createGroup(let ids, let name):
      lastGroup += 1
      let id = "g\(lastGroup)"
      for room in ids { _ = try index(room: room) }
      groups.append(Self.group(id, named: name))
      queues[id] = Queue()
      return try setRooms(ids, of: id)
    case .deleteGroup(let id):
      _ = try index(group: id)
      remove(group: id)
      return Answer(revision: revision)
    case .change(group: let id, let change): return try apply(change, to: id)
    case .transport(group: let id, let transport):
      return try edit(group: id) {
        $0.state = transport == .play ? .playing : transport == .stop ? .stopped : .paused
      }
    case .stopEverywhere(let sleepInS):
      var answer = Answer(revision: revision)
      answer.said = sleepInS == nil ? "1 group stops" : "1 group pauses"
      return answer
    case .seek(group: let id, let seconds, let isRelative):
      return try edit(group: id) {
        $0.positionS = max(0, isRelative ? $0.positionS + seconds : seconds)
      }
    case .join(group: let id, let room, takes: _):
      _ = try index(room: room)
      return try setRooms(groups[index(group: id)].roomIds + [room], of: id)
    case .leave(group: let id, let left):
      let others = try groups[index(group: id)].roomIds.filter { !left.contains($0) }
      return try setRooms(others, of: id)
    case .merge(group: let id, let other):
      guard id != other else { throw .invalid("A group cannot join itself.") }
      let all = try groups[index(group: id)].roomIds + groups[index(group: other)].roomIds
      return try setRooms(all, of: id)
    case .edit(group: let id, let edit, let expected):
      return try perform(edit, on: id, expected: expected)
    case .set(let ids, let change):
      var answer = Answer(revision: revision)
      for id in ids { answer.room = try apply(change, to: id) }
      answer.revision = revision
      return answer
    case .identify(room: let id):
      _ = try index(room: id)
      return Answer(revision: revision)
    case .addAlarm(let change): return tell(alarm: try alarms.add(change, at: Self.noon))
    case .changeAlarm(let id, let change):
      try alarms.change(id, change, at: Self.noon)
      return tell(alarm: id)
    case .night(let night):
      if case .set(let hours) = night {
        self.night = hours
      } else if night == .off {
        self.night = nil
      }
      return Answer(revision: revision)
    case .scene(let order): return try perform(order)
    case .setUp(let order): return try setUp(order)
    case .stereo(let order): return try perform(order)
    case .removeAlarm(let id):
      try alarms.remove(id)
      return tell(alarm: id)
    case .endAlarm(let id?, snoozes: _):
      guard alarms.alarm(id) != nil else { throw .noSuch("There is no alarm \(id).") }
      throw .unavailable("This alarm does not ring.")
    case .endAlarm(nil, snoozes: _): throw .unavailable("No alarm rings.")
    }
  }

  private func perform(_ order: Order.SceneOrder) throws(Refusal) -> Answer {
    var answer = Answer(revision: revision)
    switch order {
    case .show: break
    case .save(let group, let name):
      let rooms = try groups[index(group: group)].roomIds
      let scene = Scene(
        id: "s\(scenes.count + 1)", name: name, rooms: rooms.map { .init(id: $0, volume: 50) })
      scenes.append(scene)
      answer.scene = scene
    case .recall(let id, let group):
      let scene = try scene(id)
      guard let group = group ?? groups.first?.id else { throw .unavailable("Nothing plays.") }
      return try setRooms(scene.rooms.map(\.id), of: group)
    case .remove(let id):
      _ = try scene(id)
      scenes.removeAll { $0.id == id }
    }
    return answer
  }

  private func perform(_ order: Order.StereoOrder) throws(Refusal) -> Answer {
    var answer = Answer(revision: revision)
    switch order {
    case .show: break
    case .make(let left, let right, let name):
      let rooms = try [self.rooms[index(room: left)], self.rooms[index(room: right)]]
      guard left != right else { throw .invalid("A pair is made of two rooms.") }
      halves[left] = rooms
      try remake(left, as: name ?? "\(rooms[0].name) + \(rooms[1].name)")
      self.rooms.removeAll { $0.id == right }
    case .swap(let id):
      guard let rooms = halves[id] else { throw .noSuch("There is no pair \(id).") }
      halves[id] = rooms.reversed()
      try remake(id, as: self.rooms[index(room: id)].name)
    case .separate(let id):
      guard let rooms = halves.removeValue(forKey: id) else {
        throw .noSuch("There is no pair \(id).")
      }
      self.rooms.removeAll { $0.id == id }
      self.rooms += rooms
      return answer
    }
    if case .make(let id, _, _) = order { answer.room = try rooms[index(room: id)] }
    if case .swap(let id) = order { answer.room = try rooms[index(room: id)] }
    return answer
  }

  private func remake(_ id: String, as name: String) throws(Refusal) {
    guard let both = halves[id] else { return }
    let index = try index(room: id)
    rooms[index].name = name
    rooms[index].stereo = HouseState.Stereo(
      leftId: both[0].id, leftName: both[0].name, rightId: both[1].id, rightName: both[1].name)
  }

  private func setUp(_ order: Order.SetUp) throws(Refusal) -> Answer {
    var home = ChosenServer(name: "Home", kind: .subsonic, address: "https://music.example")
    (home.user, home.secret) = ("anna", "sesame")
    let fixed = SetUp.Fixed(
      keys: ["library"], folders: ["/srv/Music"], servers: [try home.server()])
    var answer = Answer(revision: revision)
    switch order {
    case .addFolder(let path): try setUp.add(folder: path, fixed)
    case .removeFolder(let path): try setUp.remove(folder: path, fixed)
    case .addServer(let server):
      try setUp.add(server: server, fixed)
      if server.secret == "wrong" {
        throw .unavailable("music.example gives no library: it refuses the password")
      }
    case .removeServer(let name): try setUp.remove(server: name, fixed)
    case .dates(let language): try setUp.set(dates: language)
    case .nameRoom(let id, let name):
      let index = try index(room: id)
      try setUp.name(room: id, name)
      rooms[index].name = name ?? "Room"
      tell(rooms: [rooms[index]])
      answer = Answer(revision: revision)
      answer.room = rooms[index]
    }
    return answer
  }

  private func scene(_ id: String) throws(Refusal) -> Scene {
    guard let scene = scenes.first(where: { $0.id == id }) else {
      throw .noSuch("There is no scene \(id).")
    }
    return scene
  }

  package func check(server name: String) throws(Refusal) {
    throw .noSuch("\(name) is no server of the library")
  }

  package func foundServers() -> [FoundServer] {
    let address = ListenAddress("http://192.168.1.5:8200/rootDesc.xml")
    return address.map { [FoundServer(called: "Loft", at: $0)] } ?? []
  }

  package func stationName(_ uri: String, reach: SourceReach) throws(Refusal) -> String? {
    if uri.hasSuffix("/page") { throw .invalid("no station can be heard there: not audio") }
    return uri.hasSuffix("/named") ? "Radio Fake" : nil
  }

  package func folderChoices(in path: String?) throws(Refusal) -> FolderChoices {
    switch path {
    case nil: FolderChoices(path: nil, folders: [.init(name: "/srv", path: "/srv")])
    case "/srv": FolderChoices(path: "/srv", folders: [.init(name: "Jazz", path: "/srv/Jazz")])
    default: throw .noSuch("There is no such folder.")
    }
  }

  private var shownAlarms: [HouseState.Alarm] {
    alarms.alarms.map { alarm in
      var shown = HouseState.Alarm(alarm, state: alarm.isOn ? .waiting : .off)
      shown.nextAtS = alarms.next(alarm.id).map { Double($0.seconds) }
      shown.skipsNext = alarms.skipsNext(alarm.id, at: Self.noon)
      return shown
    }
  }

  private func tell(alarm id: String) -> Answer {
    revision += 1
    var change = HouseChange(
      revision: revision, nowMs: 0, groups: [], rooms: [], removedGroups: [], removedRooms: [],
      library: nil)
    change.alarms = shownAlarms
    for listener in listeners { listener.yield(change) }
    var answer = Answer(revision: revision)
    answer.alarm = shownAlarms.first { $0.id == id }
    return answer
  }

  private func answer(_ group: HouseState.Group?) -> Answer {
    var answer = Answer(revision: revision)
    answer.group = group
    return answer
  }

  private static func group(_ id: String, named name: String?) -> HouseState.Group {
    HouseState.Group(
      id: id, name: name ?? "", isNamed: name != nil, roomIds: [], state: .stopped, volume: 50,
      muted: false, repeat: .off, effects: EffectsReport(Effects()),
      queue: .init(revision: 1, count: 0, index: nil, canUndo: nil))
  }

  private func index(group: String) throws(Refusal) -> Int {
    guard let index = groups.firstIndex(where: { $0.id == group }) else {
      throw .noSuch("There is no group \(group).")
    }
    return index
  }

  private func index(room: String) throws(Refusal) -> Int {
    guard let index = rooms.firstIndex(where: { $0.id == room }) else {
      throw .noSuch("There is no room \(room).")
    }
    return index
  }

  func edit(group: String, _ change: (inout HouseState.Group) -> Void)
    throws(Refusal) -> Answer
  {
    let index = try index(group: group)
    change(&groups[index])
    tell(group: group)
    return answer(groups[index])
  }

  private func apply(_ change: Order.GroupChange, to id: String) throws(Refusal)
    -> Answer
  {
    if let roomIds = change.roomIds {
      for room in roomIds { _ = try index(room: room) }
      _ = try setRooms(roomIds, of: id)
    }
    return try edit(group: id) {
      if let name = change.name { ($0.name, $0.isNamed) = (name, true) }
      $0.volume = change.rooms.volume ?? $0.volume
      $0.muted = change.rooms.muted ?? $0.muted
      $0.repeat = change.repeat ?? $0.repeat
      guard let effects = change.effects else { return }
      var before = Effects()
      (before.rate, before.pitch) = ($0.effects.rate, $0.effects.pitch)
      (before.loudness, before.filters) = ($0.effects.loudness, $0.effects.filters)
      before.crossfade = $0.effects.crossfadeS ?? 0
      $0.effects = EffectsReport((try? effects.applied(to: before)) ?? before)
    }
  }

  private func apply(_ change: RoomChange, to id: String)
    throws(Refusal) -> HouseState.Room
  {
    let index = try index(room: id)
    rooms[index].volume = change.volume ?? rooms[index].volume
    rooms[index].muted = change.muted ?? rooms[index].muted
    rooms[index].delayMs = change.delayMs ?? rooms[index].delayMs
    rooms[index].channels = change.channels?.name ?? rooms[index].channels
    rooms[index].volumeLimit = change.volumeLimit ?? rooms[index].volumeLimit
    if let sound = change.sound { rooms[index].sound = rooms[index].sound?.changed(by: sound) }
    tell(rooms: [rooms[index]])
    return rooms[index]
  }

  /// Moves rooms from their groups; a group without rooms ends.
  private func setRooms(_ ids: [String], of group: String) throws(Refusal) -> Answer {
    let ids = ids.reduce(into: [String]()) { if !$0.contains($1) { $0.append($1) } }
    for place in groups.indices { groups[place].roomIds.removeAll { ids.contains($0) } }
    let own = try index(group: group)
    groups[own].roomIds = ids
    if !groups[own].isNamed {
      groups[own].name = rooms.filter { ids.contains($0.id) }.map(\.name).joined(separator: " + ")
    }
    for place in rooms.indices {
      let id = rooms[place].id
      rooms[place].groupId = groups.first { $0.roomIds.contains(id) }?.id
    }
    let group = groups[own]
    for empty in groups.filter(\.roomIds.isEmpty) { remove(group: empty.id) }
    tell(group: group.id, rooms: rooms)
    return answer(ids.isEmpty ? nil : group)
  }

  private func remove(group: String) {
    groups.removeAll { $0.id == group }
    queues[group] = nil
    for place in rooms.indices where rooms[place].groupId == group { rooms[place].groupId = nil }
    tell(removed: [group], rooms: rooms)
  }

  // MARK: - Queue

  private func perform(_ edit: Order.QueueEdit, on group: String, expected: UInt64?)
    throws(Refusal) -> Answer
  {
    guard var queue = queues[group] else { throw .noSuch("There is no group \(group).") }
    if let expected, expected != queue.revision { throw .outdated(revision: queue.revision) }
    var added: [Int] = []
    switch edit {
    case .add(let entries, let place):
      let new = entries.map(entry)
      added = new.map(\.id)
      if place == .now { (queue.cleared, queue.entries) = (queue.entries, []) }
      queue.entries.insert(contentsOf: new, at: try index(of: place, in: queue))
    case .clear: (queue.cleared, queue.entries) = (queue.entries, [])
    case .clearOthers:
      guard let index = queue.index else { throw .unavailable("Nothing plays.") }
      (queue.entries, queue.index) = ([queue.entries[index]], 0)
    case .undo:
      guard let cleared = queue.cleared else { throw .unavailable("Nothing can be undone.") }
      (queue.entries, queue.cleared) = (cleared, nil)
    case .shuffle, .unshuffle:
      queue.entries.reverse()
      queue.isShuffled = edit == .shuffle
    case .remove(let ids):
      for id in ids { queue.entries.remove(at: try place(of: id, in: queue)) }
    case .move(let id, let place):
      let entry = queue.entries.remove(at: try self.place(of: id, in: queue))
      queue.entries.insert(entry, at: try index(of: place, in: queue))
    case .play(let id): queue.index = try place(of: id, in: queue)
    }
    queue.revision += 1
    queues[group] = queue
    var answer = try self.edit(group: group) {
      $0.queue = .init(
        revision: queue.revision, count: queue.entries.count, index: queue.index, canUndo: nil)
      $0.queue.isShuffled = queue.isShuffled
    }
    answer.queue = .init(revision: queue.revision, added: added)
    return answer
  }

  private func index(
    of place: Order.Place, in queue: Queue
  ) throws(Refusal) -> Int {
    switch place {
    case .now, .end, .waiting: queue.entries.count
    case .next, .nowAndKeep: min(1, queue.entries.count)
    case .before(let id): try self.place(of: id, in: queue)
    case .number(let number): min(number - 1, queue.entries.count)
    }
  }

  private func place(of id: Int, in queue: Queue) throws(Refusal) -> Int {
    guard let place = queue.entries.firstIndex(where: { $0.id == id }) else {
      throw .noSuch("There is no entry \(id).")
    }
    return place
  }

  private func entry(_ new: Order.NewEntry) -> QueuePage.Entry {
    lastEntry += 1
    return QueuePage.Entry(
      id: lastEntry, title: new.title ?? new.location, uri: new.location, isCurrent: false)
  }

  // MARK: - News

  func tell(
    group: String? = nil, removed: [String] = [], rooms: [HouseState.Room] = []
  ) {
    revision += 1
    let change = HouseChange(
      revision: revision, nowMs: 0, groups: groups.filter { $0.id == group }, rooms: rooms,
      removedGroups: removed, removedRooms: [], library: nil)
    for listener in listeners { listener.yield(change) }
  }
}
