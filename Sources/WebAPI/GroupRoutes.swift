import Driver
import House
import Sender
import Service
import WebServer

extension WebAPI {
  static let groupRoutes: [Route] =
    [
      Route("GET", "/api/v1/state", .guest) { api, _ in try json(await api.house.state()) },
      Route("GET", "/api/v1/inputs", .household) { api, _ in
        try await json(["inputs": api.house.inputs()])
      },
      Route("GET", "/api/v1/sync", .guest) { api, call in
        let most = SyncHistory.seconds
        let last = try call.integer("lastS", in: 1...most, default: most)
        return try await json(api.house.syncHistory().report(last: last))
      },
      Route("GET", "/api/v1/events", .guest) { api, call in try await api.events(call) },
      Route("POST", "/api/v1/groups", .guest) { api, call in
        var fields = try call.fields()
        let rooms = try fields.strings("roomIds", count: 1...roomLimit)
        let name = try fields.string("name", lengths: 1...100)
        try fields.end()
        if name != nil { try call.need(.household, to: "name groups") }
        guard let rooms else { throw APIProblem.missing("roomIds") }
        try await api.check(rooms, for: call)
        return try await api.group(.createGroup(rooms: rooms, name: name), status: 201)
      },
      Route("PATCH", "/api/v1/groups/{id}", .guest) { api, call in
        let change = try groupChange(call)
        try await api.check(change.roomIds ?? [], for: call)
        return try await api.group(.change(group: call["id"], change))
      },
      Route("DELETE", "/api/v1/groups/{id}", .household) { api, call in
        try call.noFields()
        return done(at: try await api.house.perform(.deleteGroup(call["id"])).revision)
      },
      Route("POST", "/api/v1/groups/{id}/seek", .guest) { api, call in
        var fields = try call.fields()
        let place = try fields.number("positionS", in: 0...10_000_000)
        let step = try fields.number("byS", in: -10_000_000...10_000_000)
        try fields.end()
        guard let seconds = place ?? step, place == nil || step == nil else {
          throw APIProblem.invalid("Exactly one of positionS and byS must be there.")
        }
        return try await api.group(
          .seek(group: call["id"], seconds: seconds, isRelative: place == nil))
      },
      Route("POST", "/api/v1/groups/{id}/rooms", .guest) { api, call in
        var fields = try call.fields()
        let room = try fields.string("roomId")
        let takes = try fields.bool("take") ?? false
        try fields.end()
        if takes { try call.need(.household, to: "take rooms from other senders") }
        guard let room else { throw APIProblem.missing("roomId") }
        try await api.check([room], for: call)
        return try await api.group(.join(group: call["id"], room: room, takes: takes))
      },
      Route("DELETE", "/api/v1/groups/{id}/rooms/{roomId}", .guest) { api, call in
        try call.noFields()
        return try await api.group(.leave(group: call["id"], rooms: [call["roomId"]]))
      },
      Route("POST", "/api/v1/groups/{id}/merge", .guest) { api, call in
        var fields = try call.fields()
        let other = try fields.string("groupId")
        try fields.end()
        guard let other else { throw APIProblem.missing("groupId") }
        return try await api.group(.merge(group: call["id"], other: other))
      },
      Route("GET", "/api/v1/groups/{id}/presentation", .guest) { api, call in
        try await json(api.presentation(call["id"]))
      },
      // Without a body it stops at once. Guests stop groups one by one.
      Route("POST", "/api/v1/stop", .household) { api, call in
        var fields = try JSONFields(call.request.body)
        let sleepInS = try sleep(&fields)
        try fields.end()
        let answer = try await api.house.perform(.stopEverywhere(sleepInS: sleepInS))
        return try done(["said": answer.said ?? ""], at: answer.revision)
      },
    ]
    + Order.Transport.allCases.map { transport in
      Route("POST", "/api/v1/groups/{id}/\(transport.rawValue)", .guest) { api, call in
        try call.noFields()
        return try await api.group(.transport(group: call["id"], transport))
      }
    }

  /// Maximum number of rooms in one request.
  static let roomLimit = 64

  func group(_ order: Order, status: Int = 200) async throws -> WebResponse {
    let answer = try await house.perform(order)
    // A group ceases to exist when its last room leaves.
    guard let group = answer.group else { return Self.done(at: answer.revision) }
    return try Self.done(group, at: answer.revision, status: status)
  }

  func groupState(_ id: String) async throws -> (state: HouseState, group: HouseState.Group) {
    let state = try await house.state()
    guard let group = state.groups.first(where: { $0.id == id }) else {
      throw APIProblem.noSuch("There is no group \(id) any more; see the list of groups.")
    }
    return (state, group)
  }

  /// Refuses addresses that no room of the household has: this machine would connect to whatever is there. The household
  /// itself may name one where it lasts, as in a group.
  func check(_ rooms: [String], mayBeNew: Bool = true, for call: RouteCall) async throws {
    let addresses = rooms.filter(HouseSession.isAddress)
    guard !addresses.isEmpty, !(mayBeNew && call.asker.may(.household)) else { return }
    let known = Set(try await house.state().rooms.map(\.id))
    guard !addresses.allSatisfy(known.contains) else { return }
    try call.need(.household, to: "name rooms by their addresses")
    throw Refusal.noSuch("there is no such room; add it to a group first")
  }

  private static func groupChange(_ call: RouteCall) throws -> Order.GroupChange {
    var fields = try call.fields()
    var change = Order.GroupChange()
    change.name = try fields.string("name", lengths: 1...100)
    if change.name != nil { try call.need(.household, to: "rename groups") }
    change.rooms.volume = try fields.number("volume", in: RoomChange.volumes)
    change.rooms.muted = try fields.bool("muted")
    change.repeat = try fields.choice("repeat", of: Playlist.Repetition.allCases.map(\.rawValue))
      .flatMap(Playlist.Repetition.init)
    change.roomIds = try fields.strings("roomIds", count: 1...roomLimit)
    change.sleepInS = try sleep(&fields)
    if var effects = try fields.object("effects") {
      try call.need(.household, to: "change the sound")
      change.effects = try self.effects(&effects)
    }
    try fields.end()
    return change
  }

  /// Reads when a sleep timer ends: in some seconds, or at the next such time of the day, in this machine's zone.
  private static func sleep(_ fields: inout JSONFields) throws -> Double? {
    let seconds = try fields.number("sleepInS", in: Order.GroupChange.sleeps)
    guard let text = try fields.string("sleepAt", lengths: 4...5) else { return seconds }
    guard let minute = Alarm.minute(of: text) else {
      throw APIProblem.invalid("sleepAt must be a time of the day, such as 23:30.")
    }
    guard seconds == nil else {
      throw APIProblem.invalid("At most one of sleepInS and sleepAt may be there.")
    }
    return LocalZone.seconds(untilMinute: minute)
  }

  /// Reads a change of the effects. Null means neutral; filters replace all existing ones.
  private static func effects(_ fields: inout JSONFields) throws -> EffectsChange {
    var change = EffectsChange()
    change.rate = fields.isNull("rate") ? 1 : try fields.number("rate", in: Effects.rates)
    change.pitch = fields.isNull("pitch") ? 0 : try fields.number("pitch", in: Effects.pitches)
    change.endsLoudness = fields.isNull("loudness")
    change.loudness = try fields.number("loudness", in: Effects.loudnesses)
    change.crossfade =
      fields.isNull("crossfadeS") ? 0 : try fields.number("crossfadeS", in: Effects.crossfades)
    let filters =
      fields.isNull("filters")
      ? [] : try fields.objects("filters", count: 0...Effects.filterLimit)?.map(filter)
    if let filters {
      (change.filters, change.endedFilters) = (filters, SoundFilter.Kind.allCases)
    }
    try fields.end()
    return change
  }

  /// Reads one filter: a known kind, and numbers within their ranges.
  private static func filter(_ fields: JSONFields) throws -> SoundFilter {
    var fields = fields
    let kinds = SoundFilter.Kind.allCases
    guard let name = try fields.choice("kind", of: kinds.map(\.rawValue)),
      let kind = SoundFilter.Kind(rawValue: name)
    else { throw APIProblem.missing(fields.name("kind")) }
    var values: [String: Double] = [:]
    for parameter in kind.parameters {
      values[parameter.name] = try fields.number(parameter.name, in: parameter.range)
      if parameter.usual == nil, values[parameter.name] == nil {
        throw APIProblem.missing(fields.name(parameter.name))
      }
    }
    try fields.end()
    do {
      return try SoundFilter(kind, values)
    } catch {
      throw APIProblem.invalid("\(error).")
    }
  }

  private struct Presentation: Encodable {
    let nowMs: Double
    let positionS: Double
    let positionAtMs: Double
    let rate: Double
    let state: HouseState.Group.State
    let entryId: Int?
  }

  private func presentation(_ id: String) async throws -> Presentation {
    let (state, group) = try await groupState(id)
    return Presentation(
      nowMs: state.nowMs, positionS: group.positionS, positionAtMs: group.positionAtMs,
      rate: group.rate, state: group.state, entryId: group.item?.entryId)
  }
}
