import Tutti

func edit(_ player: Player) async throws {
  let ids = try await player.append([.file("/music/a.flac"), .file("/music/b.flac")])
  try await player.insert([.url("http://radio.example/stream")], at: .next)
  try await player.move(ids[1], to: .after(ids[0]))
  try await player.replace(ids[1], with: [.file("/music/c.flac")])
  try await player.setRepetition(.all)
}
