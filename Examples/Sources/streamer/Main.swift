import Tutti

/// Plays a file or an address in the room at an address: `streamer song.mp3 192.168.1.20 7770 [SECONDS]`. With seconds, it
/// begins there.
@main
struct Main {
  static func main() async throws {
    try DecodingProcesses.start()
    let arguments = Array(CommandLine.arguments.dropFirst())
    guard arguments.count >= 3, let port = UInt16(arguments[2]) else {
      return print("usage: streamer FILE HOST PORT [SECONDS]")
    }
    let media: Media =
      arguments[0].hasPrefix("http") ? .url(arguments[0]) : .file(arguments[0])
    let streamer = try await Streamer(media, in: [.at(arguments[1], port: port)])
    print("\(streamer.title ?? media.name): \(streamer.duration)")
    let events = streamer.events
    if arguments.count > 3, let seconds = Double(arguments[3]) {
      try await streamer.seek(to: .seconds(seconds))
    }
    try await streamer.play()
    for await event in events {
      if case .failed(let reason) = event { print(reason) }
      if case .ended = event { break }
    }
    await streamer.stop()
  }
}
