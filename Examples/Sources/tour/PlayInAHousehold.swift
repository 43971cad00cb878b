import Tutti

func playAtHome(_ album: String) async throws {
  let house = Household()
  print(try await house.play(try Media.files(at: album), inRooms: ["Kitchen"]))
  for entry in try await house.queue(of: "Kitchen") {
    print(entry.isCurrent ? ">" : " ", entry.title ?? entry.name)
  }
  try await house.add([.url("https://radio.example/stream")], at: .next, to: "Kitchen")
  let status = try await house.status(of: "Kitchen")
  print(status.title ?? "", "at", status.position)
}

func dinner() async throws {
  let house = Household()
  try await house.say("Dinner is ready", volume: 0.4)
  try await house.recall(scene: "Dinner")
}
