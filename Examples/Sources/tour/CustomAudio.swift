import Tutti

final class Noise: SampleSource {
  let format = PCMFormat.stereo48k
  let frameCount: Int64? = 48_000 * 60
  private var next: Int64 = 0

  func read(_ count: Int, appendingTo frames: inout [Float]) {
    let end = min(next + Int64(count), 48_000 * 60)
    while next < end {
      frames += [.random(in: -0.1...0.1), .random(in: -0.1...0.1)]
      next += 1
    }
  }

  func seek(toFrame frame: Int64) { next = frame }
}

func playNoise(in rooms: [Room]) async throws -> Player {
  let player = try await Player(rooms: rooms)
  try await player.append([.custom("noise") { Noise() }])
  try await player.play()
  return player
}

func push(_ samples: [Float], to renderer: AudioRenderer) async throws {
  var time = PlaybackTime.zero
  for await _ in renderer.mediaDataRequests where time < .seconds(30) {
    let buffer = try AudioBuffer(samples, format: renderer.format, at: time)
    try renderer.enqueue(buffer)
    time = buffer.endTime
  }
}

func playTogether(_ renderers: [AudioRenderer], _ samples: [Float]) async throws {
  let synchronizer = RenderSynchronizer()
  for renderer in renderers { try await synchronizer.add(renderer) }
  try await withThrowingTaskGroup(of: Void.self) { group in
    for renderer in renderers { group.addTask { try await push(samples, to: renderer) } }
    try await synchronizer.setRate(1, time: .zero)
    try await group.waitForAll()
  }
}

func change(_ renderer: AudioRenderer, at time: PlaybackTime, to samples: [Float]) async throws {
  let start = try await renderer.flush(from: time)
  try renderer.enqueue(try AudioBuffer(samples, format: renderer.format, at: start))
}

func watchFaster(_ synchronizer: RenderSynchronizer) async throws {
  let change = try await synchronizer.setRate(1.25)
  let end = synchronizer.hostTime(of: .seconds(60)) ?? change
  print("faster in \(change - .now); the first minute ends in \(end - .now)")
}

func pass(_ packets: [[UInt8]], to renderer: AudioRenderer) throws {
  let format = try CompressedFormat(.mp3, sampleRate: 44_100, channelCount: 2)
  var time = PlaybackTime.zero
  for packet in packets {
    let buffer = try CompressedBuffer(packet, format: format, at: time)
    try renderer.enqueue(buffer)
    time = buffer.endTime
  }
}

func seek(to time: PlaybackTime, _ synchronizer: RenderSynchronizer, _ buffers: [MediaBuffer])
  async throws
{
  try await synchronizer.seek(to: time)
  for renderer in await synchronizer.renderers {
    for buffer in buffers { try renderer.enqueue(buffer) }
  }
  try await synchronizer.setRate(1)
}
