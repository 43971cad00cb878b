import Tutti

func playTurntable(in rooms: [Room]) async throws -> Player {
  let player = try await Player(rooms: rooms)
  try await player.append([.capture(device: "hw:1", latency: .fixed(.milliseconds(40)))])
  try await player.play()
  return player
}

func playGame(_ sound: AsyncStream<[Float]>, in rooms: [Room]) async throws {
  let renderer = try await AudioRenderer(rooms: rooms, latency: .milliseconds(40))
  for await samples in sound {
    try renderer.enqueue(AudioBuffer(samples, format: renderer.format, at: .zero))
  }
  renderer.finish()
}
