import Tutti

func playAlbum(_ paths: [String], in rooms: [Room]) async throws {
  let player = try await SampleQueuePlayer(rooms: rooms)
  let items = paths.map { SampleQueuePlayer.Item(.file($0)) }
  try await player.insert(items)
  try await player.play()
  for await event in player.events {
    switch event {
    case .itemStarted(let id):
      print("now:", items.first { $0.id == id }?.media.name ?? "")
    case .itemFailed(_, let reason): print("skipped:", reason)
    case .stopped: await player.close()
    }
  }
}
