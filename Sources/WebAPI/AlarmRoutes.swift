import House
import Service
import WebServer

extension WebAPI {
  private static let alarms = "/api/v1/alarms"

  static let alarmRoutes: [Route] = [
    Route("GET", alarms, .guest) { api, _ in
      try json(["alarms": try await api.house.state().alarms])
    },
    Route("POST", alarms, .household) { api, call in
      let change = try await api.alarmChange(call)
      if change.minute == nil { throw APIProblem.missing("time") }
      if change.roomIds == nil { throw APIProblem.missing("roomIds") }
      return try await api.alarm(.addAlarm(change), status: 201)
    },
    Route("PATCH", "\(alarms)/{id}", .household) { api, call in
      try await api.alarm(.changeAlarm(call["id"], api.alarmChange(call)))
    },
    Route("DELETE", "\(alarms)/{id}", .household) { api, call in
      try call.noFields()
      return done(at: try await api.house.perform(.removeAlarm(call["id"])).revision)
    },
    Route("POST", "\(alarms)/{id}/stop", .guest) { api, call in
      try call.noFields()
      return try await api.alarm(.endAlarm(call["id"], snoozes: false))
    },
    Route("POST", "\(alarms)/{id}/snooze", .guest) { api, call in
      try call.noFields()
      return try await api.alarm(.endAlarm(call["id"], snoozes: true))
    },
  ]

  private func alarm(_ order: Order, status: Int = 200) async throws -> WebResponse {
    let answer = try await house.perform(order)
    guard let alarm = answer.alarm else { return Self.done(at: answer.revision) }
    return try Self.done(alarm, at: answer.revision, status: status)
  }

  private func alarmChange(_ call: RouteCall) async throws -> AlarmChange {
    var fields = try call.fields()
    var change = AlarmChange()
    if let time = try fields.string("time", lengths: 4...5) {
      guard let minute = Alarm.minute(of: time) else {
        throw APIProblem.invalid("time must be a time of the day, such as 07:05.")
      }
      change.minute = minute
    }
    change.name = fields.isNull("name") ? "" : try fields.string("name", lengths: 1...100)
    change.days = try Self.days(fields.strings("days", count: 0...7))
    change.roomIds = try fields.strings("roomIds", count: 1...Alarm.roomLimit)
    change.volume = try fields.number("volume", in: RoomChange.volumes)
    change.riseS = try fields.number("riseS", in: Alarm.rises)
    change.lengthS = try fields.number("lengthS", in: Alarm.lengths)
    change.snoozeS = try fields.number("snoozeS", in: Alarm.snoozes)
    change.isOn = try fields.bool("isOn")
    change.skipsNext = try fields.bool("skipsNext")
    let music = try fields.choice("music", of: ["tone", "queue"])
    let items = try fields.objects("items", count: 1...Alarm.entryLimit)
    try fields.end()
    guard music == nil || items == nil else {
      throw APIProblem.invalid("At most one of music and items may be there.")
    }
    change.music = music.map { $0 == "queue" ? .queue : .tone }
    if let items {
      let entries = try await house.entries(
        of: items.map(Self.wanted), for: call.asker, in: library)
      change.music = .entries(entries)
    }
    return change
  }

  private static func days(_ names: [String]?) throws -> [Weekday]? {
    try names?.map { name in
      guard let day = Weekday(rawValue: name) else {
        let all = Weekday.allCases.map(\.rawValue).joined(separator: ", ")
        throw APIProblem.invalid("days must be a list of: \(all).")
      }
      return day
    }
  }
}
