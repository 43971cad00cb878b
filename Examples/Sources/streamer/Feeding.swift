import Tutti

func play(_ pieces: AsyncStream<[UInt8]>, of size: Int, in rooms: [Room]) async throws {
  let feed = try MediaFeed(name: "song.mp3", expectedByteCount: size)
  async let streamer = Streamer(.feed(feed), in: rooms)
  for await piece in pieces {
    try feed.append(piece)
    print("\(Int(100 * (feed.progress ?? 0))) % have come")
  }
  feed.finish()
  try await streamer.play()
}
