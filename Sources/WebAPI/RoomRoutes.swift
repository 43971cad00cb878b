import Audio
import House
import Sender
import Service
import WebServer

extension WebAPI {
  static let roomRoutes: [Route] = [
    Route("PATCH", "/api/v1/rooms/{id}", .guest) { api, call in
      var fields = try call.fields()
      var change = RoomChange()
      change.volume = try fields.number("volume", in: RoomChange.volumes)
      change.muted = try fields.bool("muted")
      change.delayMs = try fields.number("delayMs", in: RoomChange.delaysMs)
      change.channels = try fields.choice("channels", of: RoomChange.ChannelMap.names)
        .flatMap(RoomChange.ChannelMap.init(name:))
      change.volumeLimit = try fields.number("volumeLimit", in: RoomChange.volumeLimits)
      let name = try fields.string("name", lengths: 0...64)
      change.sound = try fields.object("sound").map(sound)
      try fields.end()
      if let name {
        try call.need(.household, to: "give rooms names")
        let order = Order.SetUp.nameRoom(call["id"], name.isEmpty ? nil : name)
        let answer = try await api.house.perform(.setUp(order))
        if change.isEmpty, let room = answer.room { return try done(room, at: answer.revision) }
      }
      if change.delayMs != nil || change.channels != nil || change.volumeLimit != nil
        || change.sound != nil
      {
        try call.need(.household, to: "change the settings of rooms")
      }
      let answer = try await api.house.perform(.set(rooms: [call["id"]], change))
      guard let room = answer.room else { throw noRoom(call["id"]) }
      return try done(room, at: answer.revision)
    },
    Route("POST", "/api/v1/rooms/{id}/pair", .household) { api, call in
      var fields = try call.fields()
      let pin = try fields.string("pin", lengths: 1...40)
      try fields.end()
      guard let pin else { throw APIProblem.missing("pin") }
      try await api.pairing.pair(room: call["id"], pin: pin)
      return try await api.room(call["id"])
    },
    Route("POST", "/api/v1/rooms/{id}/say-pin", .household) { api, call in
      try call.noFields()
      try await api.pairing.sayPIN(room: call["id"])
      return try await api.room(call["id"])
    },
    Route("DELETE", "/api/v1/rooms/{id}/pairing", .household) { api, call in
      try call.noFields()
      try await api.pairing.unpair(room: call["id"])
      return try await api.room(call["id"])
    },
    Route("POST", "/api/v1/rooms/{id}/identify", .household) { api, call in
      try call.noFields()
      return done(at: try await api.house.perform(.identify(room: call["id"])).revision)
    },
  ]

  /// Reads a change of a room's sound. What is left out stays; bands replace all existing ones, and a crossover that is
  /// null ends.
  private static func sound(_ given: JSONFields) throws -> SoundChange {
    var (fields, change) = (given, SoundChange())
    change.isOn = try fields.bool("isOn")
    change.bands = try fields.objects("bands", count: 0...SoundSetting.mostBands)?.map(band)
    change.bass = try fields.number("bass", in: SoundSetting.toneRange)
    change.treble = try fields.number("treble", in: SoundSetting.toneRange)
    change.balance = try fields.number("balance", in: SoundSetting.balanceRange)
    change.hasLoudness = try fields.bool("hasLoudness")
    change.hasCrossfeed = try fields.bool("hasCrossfeed")
    change.crossover =
      fields.isNull("crossover") ? .off : try fields.object("crossover").map(crossover)
    change.distance = try fields.number("distanceM", in: SoundSetting.distanceRange)
    change.usesFIR = try fields.bool("usesFIR")
    try fields.end()
    return change
  }

  private static func band(_ given: JSONFields) throws -> SoundChange.Band {
    var fields = given
    guard
      let kind = try fields.choice("kind", of: SoundBand.Kind.names).flatMap(
        SoundBand.Kind.init(name:))
    else { throw APIProblem.missing(fields.name("kind")) }
    guard let frequency = try fields.number("frequency", in: SoundBand.frequencyRange) else {
      throw APIProblem.missing(fields.name("frequency"))
    }
    let gain = try fields.number("gain", in: SoundBand.gainRange) ?? 0
    let q = try fields.number("q", in: SoundBand.qRange) ?? 0.71
    try fields.end()
    return SoundChange.Band(kind, frequency: frequency, gain: gain, q: q)
  }

  private static func crossover(_ given: JSONFields) throws -> SoundChange.Crossover {
    var fields = given
    guard
      let part = try fields.choice("part", of: Crossover.Part.names).flatMap(
        Crossover.Part.init(name:))
    else { throw APIProblem.missing(fields.name("part")) }
    guard let frequency = try fields.number("frequency", in: Crossover.frequencyRange) else {
      throw APIProblem.missing(fields.name("frequency"))
    }
    try fields.end()
    return .on(part, frequency: frequency)
  }

  /// Answers with the room's state after a change.
  private func room(_ id: String) async throws -> WebResponse {
    let state = try await house.state()
    guard let room = state.rooms.first(where: { $0.id == id }) else {
      throw Self.noRoom(id)
    }
    return try Self.done(room, at: state.revision)
  }

  private static func noRoom(_ id: String) -> APIProblem {
    .noSuch("There is no room \(id); see the list of rooms.")
  }
}
