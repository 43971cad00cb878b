import Tutti

/// Plays an item in rooms while it arrives: what AudioStreamer's Downloader, Parser, Reader and Streamer do together.
actor Streamer {
  private let reader: MediaReader
  private let renderer: AudioRenderer
  private let synchronizer = RenderSynchronizer()
  private var filling: Task<Void, any Error>?

  init(_ media: Media, in rooms: [Room]) async throws {
    reader = try await MediaReader(media)
    renderer = try await AudioRenderer(rooms: rooms, format: reader.format)
    try await synchronizer.add(renderer)
    fill()
  }

  nonisolated var title: String? { reader.metadata.title }
  nonisolated var duration: Duration { reader.length.duration }
  nonisolated var progress: Double? { reader.progress }
  nonisolated var currentTime: PlaybackTime { synchronizer.currentTime }
  nonisolated var events: AsyncStream<AudioRendererEvent> { renderer.events }

  func play(rate: Double = 1) async throws { try await synchronizer.setRate(rate) }

  func pause() async throws { try await synchronizer.setRate(0) }

  func setVolume(_ volume: Double) async throws { try await renderer.setVolume(volume) }

  func seek(to time: PlaybackTime) async throws {
    let rate = synchronizer.rate
    filling?.cancel()
    _ = await filling?.result
    try await reader.seek(to: time)
    try await synchronizer.seek(to: time)
    fill()
    try await synchronizer.setRate(rate)
  }

  func stop() async { await renderer.close() }

  private func fill() {
    filling = Task { [reader, renderer] in
      for await _ in renderer.mediaDataRequests {
        guard let buffer = try await reader.next() else { return renderer.finish() }
        try renderer.enqueue(buffer)
      }
    }
  }
}
