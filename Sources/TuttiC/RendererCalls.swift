public import CTutti
internal import Tutti

final class RendererObject: Sendable {
  let renderer: AudioRenderer
  let synchronizer = RenderSynchronizer()
  let events: EventQueue
  private let listening: Task<Void, Never>

  init(
    _ format: PCMFormat, latency: Double, _ settings: OutputSettings = .init()
  ) throws(TuttiError) {
    let events = try EventQueue()
    let synchronizer = synchronizer
    let renderer = try Blocking.run { () async throws(TuttiError) in
      if latency != 0 {
        return try await AudioRenderer(
          format: format, settings: settings, latency: .seconds(latency))
      }
      let renderer = try await AudioRenderer(format: format, settings: settings)
      try await synchronizer.add(renderer)
      return renderer
    }
    (self.renderer, self.events) = (renderer, events)
    let told = renderer.events
    listening = Task.detached { for await event in told { events.add(CEvent(event)) } }
  }

  func close() {
    let renderer = renderer
    _ = try? Blocking.run { () async throws(TuttiError) in await renderer.close() }
  }
}

private func renderer(_ pointer: OpaquePointer) -> RendererObject {
  Handle.object(pointer, RendererObject.self)
}

@_cdecl("tutti_renderer_new")
public func tuttiRendererNew(
  _ sampleRate: Int32, _ channels: Int32, _ latency: Double
) -> OpaquePointer? {
  object { () throws(TuttiError) in
    // A longer one cannot be said as a duration.
    guard (0...2).contains(latency) else {
      throw .invalid("a latency is 0, or 0.01 to 2 seconds")
    }
    let format = try PCMFormat(sampleRate: Int(sampleRate), channelCount: Int(channels))
    return Handle.make(try RendererObject(format, latency: latency))
  }
}

@_cdecl("tutti_renderer_free")
public func tuttiRendererFree(_ pointer: OpaquePointer?) {
  if let pointer { Handle.take(pointer, RendererObject.self).close() }
}

@_cdecl("tutti_renderer_add_room")
public func tuttiRendererAddRoom(_ pointer: OpaquePointer, _ room: OpaquePointer) -> Int32 {
  let (renderer, room) = (renderer(pointer).renderer, Handle.object(room, RoomObject.self).room)
  return code { () throws(TuttiError) in
    try Blocking.run { () async throws(TuttiError) in try await renderer.rooms.add(room) }
  }
}

@_cdecl("tutti_renderer_enqueue")
public func tuttiRendererEnqueue(
  _ pointer: OpaquePointer, _ samples: UnsafePointer<Float>?, _ frames: Int, _ time: Double
) -> Int32 {
  let renderer = renderer(pointer).renderer
  return code { () throws(TuttiError) in
    let longest = 3_600 * renderer.format.sampleRate
    guard let samples, frames >= 0, frames <= longest else {
      throw .invalid("\(frames) frames cannot be enqueued at once")
    }
    let count = frames * renderer.format.channelCount
    try renderer.enqueue(
      AudioBuffer(
        Array(UnsafeBufferPointer(start: samples, count: count)), format: renderer.format,
        at: .seconds(time)))
  }
}

@_cdecl("tutti_renderer_wait")
public func tuttiRendererWait(_ pointer: OpaquePointer) -> Int32 {
  let renderer = renderer(pointer).renderer
  return code { () throws(TuttiError) in
    try Blocking.run { () async throws(TuttiError) in
      guard await renderer.waitForRoom() else { throw .closed }
    }
  }
}

@_cdecl("tutti_renderer_finish")
public func tuttiRendererFinish(_ pointer: OpaquePointer) -> Int32 {
  renderer(pointer).renderer.finish()
  return Int32(TUTTI_OK.rawValue)
}

@_cdecl("tutti_renderer_start")
public func tuttiRendererStart(
  _ pointer: OpaquePointer, _ rate: Double, _ notBefore: Int64
) -> Int64 {
  let synchronizer = renderer(pointer).synchronizer
  return number { () throws(TuttiError) in
    let wish = notBefore == 0 ? nil : HostTime(nanoseconds: notBefore)
    let deadline = (wish ?? .now) + .seconds(10)
    return try Blocking.run { () async throws(TuttiError) in
      try await synchronizer.setRate(rate, atHostTime: wish, deadline: deadline).nanoseconds
    }
  }
}

@_cdecl("tutti_renderer_stop")
public func tuttiRendererStop(_ pointer: OpaquePointer) -> Int64 {
  let synchronizer = renderer(pointer).synchronizer
  return number { () throws(TuttiError) in
    try Blocking.run { () async throws(TuttiError) in
      try await synchronizer.setRate(0).nanoseconds
    }
  }
}

@_cdecl("tutti_renderer_seek")
public func tuttiRendererSeek(_ pointer: OpaquePointer, _ time: Double) -> Int64 {
  let synchronizer = renderer(pointer).synchronizer
  return number { () throws(TuttiError) in
    try Blocking.run { () async throws(TuttiError) in
      try await synchronizer.seek(to: .seconds(time)).nanoseconds
    }
  }
}

@_cdecl("tutti_renderer_time")
public func tuttiRendererTime(_ pointer: OpaquePointer) -> Double {
  renderer(pointer).synchronizer.currentTime.seconds
}

@_cdecl("tutti_renderer_presentation_time")
public func tuttiRendererPresentationTime(_ pointer: OpaquePointer, _ time: Double) -> Int64 {
  renderer(pointer).synchronizer.hostTime(of: .seconds(time))?.nanoseconds ?? 0
}

@_cdecl("tutti_renderer_set_volume")
public func tuttiRendererSetVolume(_ pointer: OpaquePointer, _ volume: Double) -> Int32 {
  let renderer = renderer(pointer).renderer
  return code { () throws(TuttiError) in
    try Blocking.run { () async throws(TuttiError) in try await renderer.setVolume(volume) }
  }
}

@_cdecl("tutti_renderer_latency")
public func tuttiRendererLatency(_ pointer: OpaquePointer) -> Double {
  let object = renderer(pointer)
  return seconds { () throws(TuttiError) in
    if let latency = object.renderer.latency { return latency / .seconds(1) }
    let synchronizer = object.synchronizer
    return try Blocking.run { () async throws(TuttiError) in
      try await synchronizer.outputLatency() / .seconds(1)
    }
  }
}

@_cdecl("tutti_renderer_events_fd")
public func tuttiRendererEvents(_ pointer: OpaquePointer) -> Int32 {
  renderer(pointer).events.descriptor
}

@_cdecl("tutti_renderer_next_event")
public func tuttiRendererNextEvent(
  _ pointer: OpaquePointer, _ event: UnsafeMutablePointer<tutti_event>?
) -> Int32 {
  renderer(pointer).events.read(into: event)
}
