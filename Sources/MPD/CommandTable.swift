import House
import MPDProtocol
import Service

/// A command, with who may give it and how many arguments it takes.
struct MPDCommand: Sendable {
  typealias Run = @Sendable (inout Client, [String]) async throws -> Void

  let counts: ClosedRange<Int>
  let permission: Permission
  let run: Run

  init(_ counts: ClosedRange<Int>, _ permission: Permission = .guest, _ run: @escaping Run) {
    (self.counts, self.permission, self.run) = (counts, permission, run)
  }

  init(_ count: Int, _ permission: Permission = .guest, _ run: @escaping Run) {
    self.init(count...count, permission, run)
  }

  func check(_ words: CommandWords, _ asker: Asker) throws(Ack) {
    guard asker.may(permission) else {
      throw Ack(.permission, "you don't have permission for \"\(words.name)\"")
    }
    guard !counts.contains(words.arguments.count) else { return }
    let what =
      counts.count == 1
      ? "wrong number of" : words.arguments.count < counts.lowerBound ? "too few" : "too many"
    throw .argument("\(what) arguments for \"\(words.name)\"")
  }
}

/// All commands that are known.
enum CommandTable {
  static let many = CommandWords.argumentLimit

  static let commands: [String: MPDCommand] = [
    connection, player, options, queue, library, playlists, outputs,
  ].reduce(into: [:]) { all, more in all.merge(more) { one, _ in one } }

  private static let connection: [String: MPDCommand] = [
    "ping": MPDCommand(0, .anyone) { _, _ in },
    "close": MPDCommand(0, .anyone) { client, _ in client.isClosing = true },
    "password": MPDCommand(1, .anyone) { try await $0.password($1[0]) },
    "commands": MPDCommand(0, .anyone) { client, _ in client.commands(areAllowed: true) },
    "notcommands": MPDCommand(0, .anyone) { client, _ in client.commands(areAllowed: false) },
    "tagtypes": MPDCommand(0...many, .anyone) { try $0.tagTypes($1) },
    "urlhandlers": MPDCommand(0) { client, _ in
      for scheme in ["http://", "https://"] { client.reply.pair("handler", scheme) }
    },
    // Rooms play whatever FFmpeg decodes, which is more than a list of names would say.
    "decoders": MPDCommand(0) { _, _ in },
    "binarylimit": MPDCommand(1, .anyone) { try $0.binaryLimit($1[0]) },
    "idle": MPDCommand(0...many) { _, _ in
      throw Ack(.unknown, "idle cannot stand in a list of commands")
    },
  ]

  private static let player: [String: MPDCommand] = [
    "status": MPDCommand(0) { client, _ in try await client.status() },
    "stats": MPDCommand(0) { client, _ in try await client.stats() },
    "currentsong": MPDCommand(0) { client, _ in try await client.currentSong() },
    "clearerror": MPDCommand(0) { client, _ in try await client.clearError() },
    "play": MPDCommand(0...1) { try await $0.play($1.first) },
    "playid": MPDCommand(0...1) { try await $0.play(id: $1.first) },
    "pause": MPDCommand(0...1) { try await $0.pause($1.first) },
    "stop": MPDCommand(0) { client, _ in try await client.transport(.stop) },
    "next": MPDCommand(0) { client, _ in try await client.skip(.next) },
    "previous": MPDCommand(0) { client, _ in try await client.skip(.previous) },
    "seek": MPDCommand(2) { try await $0.seek(position: $1[0], to: $1[1]) },
    "seekid": MPDCommand(2) { try await $0.seek(id: $1[0], to: $1[1]) },
    "seekcur": MPDCommand(1) { try await $0.seekCurrent($1[0]) },
    "getvol": MPDCommand(0) { client, _ in try await client.getVolume() },
    "setvol": MPDCommand(1) { try await $0.setVolume($1[0]) },
    "volume": MPDCommand(1) { try await $0.changeVolume($1[0]) },
  ]

  private static let options: [String: MPDCommand] = [
    "repeat": MPDCommand(1) { try await $0.setRepeat($1[0]) },
    "single": MPDCommand(1) { try await $0.setSingle($1[0]) },
    "random": MPDCommand(1) { try await $0.setRandom($1[0]) },
    "consume": MPDCommand(1) { client, arguments in
      guard try Argument.flag(arguments[0]) else { return }
      throw Ack(.unknown, "A household keeps its queue; clear what has played.")
    },
    "crossfade": MPDCommand(1, .household) { try await $0.setCrossfade($1[0]) },
    "replay_gain_mode": MPDCommand(1) { try $0.replayGainMode($1[0]) },
    "replay_gain_status": MPDCommand(0) { client, _ in
      client.reply.pair("replay_gain_mode", "off")
    },
  ]

  private static let queue: [String: MPDCommand] = [
    "add": MPDCommand(1...2) { try await $0.add($1[0], at: $1.dropFirst().first) },
    "addid": MPDCommand(1...2) { try await $0.addID($1[0], at: $1.dropFirst().first) },
    "clear": MPDCommand(0) { client, _ in try await client.clear() },
    "delete": MPDCommand(1) { try await $0.delete($1[0]) },
    "deleteid": MPDCommand(1) { try await $0.delete(id: $1[0]) },
    "move": MPDCommand(2) { try await $0.move($1[0], to: $1[1]) },
    "moveid": MPDCommand(2) { try await $0.move(id: $1[0], to: $1[1]) },
    "swap": MPDCommand(2) { try await $0.swap($1[0], $1[1]) },
    "swapid": MPDCommand(2) { try await $0.swap(id: $1[0], id: $1[1]) },
    "shuffle": MPDCommand(0...1) { try await $0.shuffle($1.first) },
    "playlist": MPDCommand(0) { client, _ in try await client.playlist() },
    "playlistinfo": MPDCommand(0...1) { try await $0.playlistInfo($1.first) },
    "playlistid": MPDCommand(0...1) { try await $0.playlistID($1.first) },
    "playlistfind": MPDCommand(1...many) { try await $0.playlistFind($1, isSearch: false) },
    "playlistsearch": MPDCommand(1...many) { try await $0.playlistFind($1, isSearch: true) },
    "plchanges": MPDCommand(1...2) { try await $0.changes(since: $1[0], in: $1.dropFirst().first) },
    "plchangesposid": MPDCommand(1...2) {
      try await $0.changes(since: $1[0], in: $1.dropFirst().first, isShort: true)
    },
  ]

  private static let library: [String: MPDCommand] = [
    "lsinfo": MPDCommand(0...1) { try await $0.lsInfo($1.first ?? "") },
    "listall": MPDCommand(0...1) { try await $0.listAll($1.first ?? "", hasInfo: false) },
    "listallinfo": MPDCommand(0...1) { try await $0.listAll($1.first ?? "", hasInfo: true) },
    "listfiles": MPDCommand(0...1) { try await $0.listFiles($1.first ?? "") },
    "list": MPDCommand(1...many) { try await $0.list($1) },
    "find": MPDCommand(1...many) { try await $0.find($1, isSearch: false) },
    "search": MPDCommand(1...many) { try await $0.find($1, isSearch: true) },
    "findadd": MPDCommand(1...many) { try await $0.findAdd($1, isSearch: false) },
    "searchadd": MPDCommand(1...many) { try await $0.findAdd($1, isSearch: true) },
    "searchaddpl": MPDCommand(2...many, .household) { try await $0.searchAddToPlaylist($1) },
    "count": MPDCommand(1...many) { try await $0.count($1) },
    "readcomments": MPDCommand(1) { try await $0.readComments($1[0]) },
    "albumart": MPDCommand(2) { try await $0.picture($1[0], from: $1[1], isRead: false) },
    "readpicture": MPDCommand(2) { try await $0.picture($1[0], from: $1[1], isRead: true) },
    "update": MPDCommand(0...1, .household) { client, _ in try await client.update() },
    "rescan": MPDCommand(0...1, .household) { client, _ in try await client.update() },
  ]

  private static let playlists: [String: MPDCommand] = [
    "listplaylists": MPDCommand(0) { client, _ in try await client.listPlaylists() },
    "listplaylist": MPDCommand(1) { try await $0.listPlaylist($1[0], hasInfo: false) },
    "listplaylistinfo": MPDCommand(1) { try await $0.listPlaylist($1[0], hasInfo: true) },
    "load": MPDCommand(1...3) { try await $0.load($1) },
    "save": MPDCommand(1, .household) { try await $0.save($1[0]) },
    "rm": MPDCommand(1, .household) { try await $0.removePlaylist($1[0]) },
    "rename": MPDCommand(2, .household) { try await $0.renamePlaylist($1[0], to: $1[1]) },
    "playlistadd": MPDCommand(2...3, .household) { try await $0.playlistAdd($1) },
    "playlistdelete": MPDCommand(2, .household) { try await $0.playlistDelete($1[0], $1[1]) },
    "playlistmove": MPDCommand(3, .household) { try await $0.playlistMove($1) },
    "playlistclear": MPDCommand(1, .household) { try await $0.playlistClear($1[0]) },
  ]

  private static let outputs: [String: MPDCommand] = [
    "outputs": MPDCommand(0) { client, _ in try await client.outputs() },
    "enableoutput": MPDCommand(1) { try await $0.enable($1[0]) },
    "disableoutput": MPDCommand(1) { try await $0.disable($1[0]) },
    "toggleoutput": MPDCommand(1) { try await $0.toggle($1[0]) },
    "outputset": MPDCommand(3) { try await $0.setOutput($1[0], $1[1], $1[2]) },
    "moveoutput": MPDCommand(1, .household) { try await $0.moveOutput($1[0]) },
    "partition": MPDCommand(1) { try await $0.choosePartition($1[0]) },
    "listpartitions": MPDCommand(0) { client, _ in try await client.listPartitions() },
    "newpartition": MPDCommand(1, .household) { try await $0.newPartition($1[0]) },
    "delpartition": MPDCommand(1, .household) { try await $0.deletePartition($1[0]) },
  ]
}

extension Client {
  mutating func password(_ text: String) async throws {
    guard try await household.access.isToken(text, from: address) else {
      throw Ack(.password, "incorrect password")
    }
    asker = .token
  }

  mutating func commands(areAllowed: Bool) {
    for name in CommandTable.commands.keys.sorted() {
      guard let command = CommandTable.commands[name] else { continue }
      if asker.may(command.permission) == areAllowed { reply.pair("command", name) }
    }
  }

  mutating func tagTypes(_ arguments: [String]) throws {
    guard let word = arguments.first else {
      for tag in TagType.allCases where tags.contains(tag) { reply.pair("tagtype", tag.rawValue) }
      return
    }
    let names = arguments.dropFirst()
    switch word {
    case "all" where names.isEmpty: tags = Set(TagType.allCases)
    case "clear" where names.isEmpty: tags = []
    case "enable" where !names.isEmpty: tags.formUnion(try Self.tags(names))
    case "disable" where !names.isEmpty: tags.subtract(try Self.tags(names))
    case "enable", "disable": throw Ack.argument("Not enough arguments")
    default: throw Ack.argument("Unknown sub command")
    }
  }

  private static func tags(_ names: some Sequence<String>) throws -> [TagType] {
    try names.compactMap { name in
      guard TagType.isKnown(name) else { throw Ack.argument("Unknown tag type") }
      return TagType(name)
    }
  }

  mutating func binaryLimit(_ text: String) throws {
    let limit = try Argument.number(text)
    guard limit >= Self.binaryLimits.lowerBound else { throw Ack.argument("Value too small") }
    binaryLimit = min(limit, Self.binaryLimits.upperBound)
  }

  func replayGainMode(_ text: String) throws {
    guard ["off", "track", "album", "auto"].contains(text) else {
      throw Ack.argument("Unrecognized replay gain mode")
    }
    if text != "off" {
      throw Ack(.unknown, "Songs are made equally loud by the household's own setting: loudness.")
    }
  }
}
