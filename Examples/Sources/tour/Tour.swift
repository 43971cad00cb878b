import Tutti

/// The code of the articles, so that it is known to compile: `swift run --package-path Examples tour album/`.
@main
struct Tour {
  static func main() async {
    do {
      try await playInAllRooms(CommandLine.arguments.dropFirst().first ?? ".")
    } catch {
      print("tour: \(error)")
    }
  }
}
