import Foundation
import Tutti

func edit(_ player: Player) async throws {
  let ids = try await player.append([.file("/music/a.flac"), .file("/music/b.flac")])
  try await player.insert([.url("http://radio.example/stream")], at: .next)
  try await player.move(ids[1], to: .after(ids[0]))
  try await player.replace(ids[1], with: [.file("/music/c.flac")])
  try await player.setRepetition(.all)
}

func save(_ player: Player) async throws -> [UInt8] {
  let list = try await player.items().map(\.media)
  return [UInt8](try JSONEncoder().encode(list))
}

func restore(_ stored: [UInt8], in player: Player, from current: Media.ID) async throws {
  let list = try JSONDecoder().decode([Media].self, from: Data(stored))
  try await player.append(list)
  let items = try await player.items()
  if let item = items.first(where: { $0.media.id == current }) {
    try await player.jump(to: item.id)
  }
}
