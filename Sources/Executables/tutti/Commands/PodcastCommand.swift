import ArgumentParser
import Service

struct PodcastsCommand: LibraryCommand {
  static let configuration = CommandConfiguration(
    commandName: "podcasts", abstract: "Lists the daemon's podcasts, and plays their episodes.",
    discussion: """
      --play 1 plays the newest episode of number 1 that nobody has heard.
      Episodes go on where they were left.
      Feeds are read every hour.

      Examples:
        tutti podcasts
        tutti podcasts --subscribe https://example.com/feed.xml
        tutti podcasts --play 1
        tutti podcasts --show 1
        tutti podcasts --show 1 --play 3
        tutti podcasts --show 1 --played 3
        tutti podcasts --refresh
        tutti podcasts --unsubscribe 2
      """)
  @OptionGroup var choice: LibraryChoice
  @Option(help: .init("Subscribe to the feed at this address.", valueName: "address"))
  var subscribe: String?
  @Option(help: .init("Unsubscribe from this number of the list.", valueName: "number"))
  var unsubscribe: Int?
  @Flag(help: "Look for new episodes now.")
  var refresh = false
  @Option(help: .init("Show the episodes of this number of the list.", valueName: "number"))
  var show: Int?
  @Option(help: .init("With --show: mark this episode as played.", valueName: "number"))
  var played: Int?
  @Option(help: .init("With --show: mark this episode as not played.", valueName: "number"))
  var unplayed: Int?
  @OptionGroup var common: CommonOptions
  var change: LibraryChange? {
    if let played { return .init(played) { .mark(episode: $0, isPlayed: true) } }
    if let unplayed { return .init(unplayed) { .mark(episode: $0, isPlayed: false) } }
    return unsubscribe.map { .init($0) { .forget(thing: $0) } }
  }
  var request: LibraryRequest { .podcasts }
  var nothing: String { "no podcast yet; subscribe with: tutti podcasts --subscribe ADDRESS" }

  func validate() throws {
    guard show != nil || played == nil && unplayed == nil else {
      throw ValidationError("--played and --unplayed need --show, with the number of a podcast.")
    }
    let changes = [
      subscribe != nil, unsubscribe != nil, refresh, played != nil, unplayed != nil,
      choice.number != nil,
    ]
    guard changes.count(where: \.self) < 2, show == nil || !changes[..<3].contains(true) else {
      throw ValidationError("One thing at a time, please.")
    }
  }

  func run() throws {
    if let subscribe { return try tell(.subscribe(uri: subscribe)) }
    if refresh { return try tell(.refreshPodcasts) }
    guard let show else { return try showOrChange() }
    try reporting {
      let podcast = try thing(show, of: try ask(.podcasts).things)
      try showOrChange(.contents(playlist: podcast), or: "no episode is in its feed")
    }
  }
}
