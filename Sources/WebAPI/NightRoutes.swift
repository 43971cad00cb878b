import House
import Service
import WebServer

extension WebAPI {
  private static let night = "/api/v1/night"

  static let nightRoutes: [Route] = [
    Route("PUT", night, .household) { api, call in
      var fields = try call.fields()
      let from = try minute("from", of: &fields)
      let to = try minute("to", of: &fields)
      guard let limit = try fields.number("volumeLimit", in: RoomChange.volumeLimits) else {
        throw APIProblem.missing("volumeLimit")
      }
      try fields.end()
      let hours = NightHours(fromMinute: from, toMinute: to, volumeLimit: limit)
      return done(at: try await api.house.perform(.night(.set(hours))).revision)
    },
    Route("DELETE", night, .household) { api, call in
      try call.noFields()
      return done(at: try await api.house.perform(.night(.off)).revision)
    },
  ]

  private static func minute(_ key: String, of fields: inout JSONFields) throws -> Int {
    guard let time = try fields.string(key, lengths: 4...5) else { throw APIProblem.missing(key) }
    guard let minute = Alarm.minute(of: time) else {
      throw APIProblem.invalid("\(key) must be a time of the day, such as 07:05.")
    }
    return minute
  }
}
