import Tutti

func show(_ frames: [PlaybackTime], with player: Player) async throws {
  for frame in frames {
    guard let time = try await player.presentationTime(of: frame) else { continue }
    let wait = time - .now
    if wait > .zero { try await Task.sleep(for: wait) }
    print("picture of", frame.seconds)
  }
}

func startTogether(_ synchronizer: RenderSynchronizer) async throws -> HostTime {
  let wish = HostTime.now + (try await synchronizer.outputLatency()) + .milliseconds(100)
  return try await synchronizer.setRate(1, time: .zero, atHostTime: wish)
}
