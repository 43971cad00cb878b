import House
import MPDProtocol
import Sender
import Service
import Synchronization
import TestSupport
import Testing
import WebServer
import WebTestSupport

@testable import MPD

@Suite struct MPDClientTests {
  @Test func `each announced command is known, and others are not`() async throws {
    try await withMPD { host in
      let client = try await host.connect()
      let announced = await client.ask("commands").dropLast().map { String($0.dropFirst(9)) }
      #expect(announced.contains("status") && announced.contains("idle"))
      #expect(announced.count > 80)
      for name in announced where !["idle", "close"].contains(name) {
        let answer = await client.ask(name + " \"\" \"\" \"\" \"\"")
        #expect(answer.last?.contains("unknown command") == false, "\(name): \(answer)")
      }
      for name in ["sticker", "mount", "kill", "config", "channels", "addtagid", "playlistlength"] {
        #expect(!announced.contains(name))
        #expect(await client.ask(name) == ["ACK [5@0] {} unknown command \"\(name)\""])
      }
      #expect(await client.ask("notcommands") == ["OK"])
    }
  }

  @Test func `a list of commands stops at the first that fails, and says where`() async throws {
    try await withMPD { host in
      let client = try await host.connect()
      let each = await client.ask(
        "command_list_ok_begin", "ping", "ping", "nonsense", "ping", "command_list_end")
      #expect(each == ["list_OK", "list_OK", "ACK [5@2] {} unknown command \"nonsense\""])
      let plain = await client.ask("command_list_begin", "ping", "play 99", "command_list_end")
      #expect(plain == ["ACK [2@1] {play} Bad song index"])
      #expect(
        await client.ask("status x")
          == ["ACK [2@0] {status} wrong number of arguments for \"status\""])
    }
  }

  @Test func `songs are added without beginning to play, and have places and numbers`() async throws
  {
    try await withMPD { host in
      let client = try await host.connect()
      #expect(await client.ask("playlistinfo 0") == ["OK"])
      #expect(await client.ask("playlistinfo -1") == ["OK"])
      #expect(await client.ask("playlistinfo 1") == ["ACK [2@0] {playlistinfo} Bad song index"])
      #expect(await client.ask("add Jazz") == ["OK"])
      #expect(await client.ask("addid \"Music/Jazz/Sinnerman 2.flac\" 0").last == "OK")
      guard
        case .edit(group: "g1", .add(let first, at: .waiting), expected: nil) =
          await host.orders().first
      else {
        Issue.record("\(await host.orders())")
        return
      }
      #expect(!first.isEmpty)
      #expect(await client.ask("addid nope") == ["ACK [50@0] {addid} No such song"])
      for outside in ["/etc/passwd", "file:///etc/passwd"] {
        #expect(await client.ask("add \(outside)") == ["ACK [4@0] {add} Access denied"])
      }
      #expect(await client.ask("add ../x") == ["ACK [50@0] {add} No such directory"])
      #expect(await client.ask("add foo://x") == ["ACK [2@0] {add} Unsupported URI scheme"])
      #expect(await client.ask("add \"http://a.example:8123/x?authSig=1.2\"") == ["OK"])
    }
  }

  @Test func `a client is told what could not be played until it has cleared that`() async throws {
    try await withMPD { host in
      let client = try await host.connect()
      #expect(await client.ask("clearerror") == ["OK"])
      try await host.house.fail(
        .init(entryId: 7, title: "Song\n8", problem: "not audio"), in: "g1")
      #expect(await client.ask("status").contains("error: Song 8: not audio"))
      #expect(await client.ask("clearerror") == ["OK"])
      #expect(await client.ask("status").allSatisfy { !$0.hasPrefix("error") })
      try await host.house.fail(.init(entryId: 8, title: "Song", problem: "not audio"), in: "g1")
      #expect(await client.ask("status").contains("error: Song: not audio"))
      // The entries of another group have numbers of their own.
      let room = String(repeating: "2", count: 32)
      _ = try await host.house.perform(.createGroup(rooms: [room], name: nil))
      #expect(await client.ask("clearerror") == ["OK"])
      try await host.house.fail(.init(entryId: 8, title: "Other", problem: "gone"), in: "g2")
      let partitions = await client.ask("listpartitions").compactMap { line in
        line.hasPrefix("partition: ") ? line.dropFirst(11) : nil
      }
      let other = try #require(partitions.last)
      #expect(await client.ask("partition \(other)") == ["OK"])
      #expect(await client.ask("status").contains("error: Other: gone"))
    }
  }

  @Test func `clients' words become the household's orders`() async throws {
    try await withMPD { host in
      let client = try await host.connect()
      _ = await client.ask("add Jazz")
      for line in [
        "setvol 40", "volume -5", "repeat 1", "single 1", "random 1", "random 1", "play 1",
        "seek 0 5.5",
        "move 0 1", "delete 0:2", "clear", "outputset 1 volume 30", "enableoutput 1",
        "disableoutput 1", "stop",
      ] {
        #expect(await client.ask(line) == ["OK"], "\(line)")
      }
      var volume = Order.GroupChange()
      volume.rooms.volume = 40
      let orders = await host.orders().dropFirst()
      #expect(orders.first == .change(group: "g1", volume))
      #expect(orders.contains(.change(group: "g1", .init(repeat: .all))))
      let shuffle = Order.edit(group: "g1", .shuffle, expected: nil)
      #expect(orders.count { $0 == shuffle } == 1)
      #expect(await client.ask("status").contains("random: 1"))
      #expect(await client.ask("crossfade 6") == ["OK"])
      #expect(await client.ask("status").contains("xfade: 6"))
      #expect(await client.ask("crossfade 0") == ["OK"])
      #expect(await client.ask("status").allSatisfy { !$0.hasPrefix("xfade") })
      #expect(await client.ask("random 0") == ["OK"])
      #expect(await client.ask("status").contains("random: 0"))
      #expect(await host.orders().last == .edit(group: "g1", .unshuffle, expected: nil))
      #expect(orders.contains(.seek(group: "g1", seconds: 5.5, isRelative: false)))
      #expect(orders.contains(.transport(group: "g1", .stop)) == true)
      let bath = String(repeating: "2", count: 32)
      #expect(orders.contains(.set(rooms: [bath], RoomChange(volume: 30))))
      #expect(orders.contains(.join(group: "g1", room: bath, takes: false)))
      #expect(orders.contains(.leave(group: "g1", rooms: [bath])))
      for (line, code) in [
        ("consume 1", 5), ("crossfade 13", 2), ("crossfade x", 2), ("setvol 101", 2),
        ("repeat 2", 2), ("next", 55),
        ("enableoutput 9", 50), ("outputset 0 x 1", 2), ("partition nope", 50),
      ] {
        let answer = await client.ask(line)
        #expect(answer.first?.hasPrefix("ACK [\(code)@0]") == true, "\(line): \(answer)")
      }
    }
  }

  @Test func `a playlist is made by what is put into it, and by nothing that is refused`()
    async throws
  {
    try await withMPD { host in
      let client = try await host.connect()
      let song = "\"Music/Jazz/Sinnerman 2.flac\""
      func lists() async -> [String] {
        await client.ask("listplaylists").filter { $0.hasPrefix("playlist: ") }
      }
      let before = await lists()
      #expect(
        await client.ask("playlistadd New \(song) 3")
          == ["ACK [2@0] {playlistadd} Bad song index"])
      #expect(await lists() == before)
      #expect(await client.ask("playlistadd New \(song) 0") == ["OK"])
      #expect(await client.ask("playlistadd New \(song) 1") == ["OK"])
      #expect(await client.ask("listplaylist New").count == 3)
      #expect(await client.ask("playlistclear Other") == ["OK"])
      #expect(await client.ask("load Other") == ["OK"])
      #expect(await lists() == before + ["playlist: New", "playlist: Other"])
    }
  }

  @Test func `who edits a playlist makes no client load all songs again`() async throws {
    let before = try await FakeHouse().state()
    var after = before
    after.library.revision += 1
    #expect(after.changesForAll(since: before) == .storedPlaylist)
    after.library.songsRevision = after.library.revision
    #expect(after.changesForAll(since: before) == [.database, .storedPlaylist])
  }

  @Test func `no more songs are moved at once than the limit`() async throws {
    try await withMPD { host in
      let client = try await host.connect()
      await client.send("command_list_begin\n")
      for number in 0...Client.moveLimit {
        await client.send("add http://a.example/\(number)\n")
      }
      #expect(await client.ask("command_list_end") == ["OK"])
      #expect(
        await client.ask("move 0:\(Client.moveLimit + 1) 0").first?.hasPrefix("ACK [2@0]") == true)
    }
  }

  @Test func `no more queues are kept than the limit`() async {
    let shelf = QueueShelf(FakeHouse(), FakeLibrary(folder: "/none"))
    for number in 0...QueueShelf.limit { await shelf.keep(QueueView(), of: "g\(number)") }
    #expect(await shelf.count == QueueShelf.limit)
  }

  @Test func `outputs are rooms, with numbers that last`() async throws {
    let outputs = try await withMPD { host in
      let client = try await host.connect()
      let outputs = await client.ask("outputs")
      return (outputs, host.kept.withLock { $0 })
    }
    #expect(outputs.0.contains("outputname: Kitchen") && outputs.0.contains("outputid: 2"))
    #expect(outputs.0.filter { $0 == "outputenabled: 1" }.count == 1)
    let room = String(repeating: "3", count: 32)
    let again = try await withMPD(numbers: "room gone\nroom \(room)\n" + outputs.1) { host in
      try await host.connect().ask("outputs")
    }
    #expect(Array(again.prefix(2)) == ["outputid: 1", "outputname: Bedroom"])
  }

  @Test func `a client that waits is told what others change`() async throws {
    try await withMPD { host in
      let (one, other) = (try await host.connect(), try await host.connect())
      await one.send("idle\n")
      #expect(await other.ask("setvol 33") == ["OK"])
      #expect(await one.answer() == ["changed: mixer", "OK"])
      await one.send("idle playlist\n")
      _ = await other.ask("repeat 1")
      _ = await other.ask("add Jazz")
      #expect(await one.answer() == ["changed: playlist", "OK"])
      // It was told of nothing else, and learns of it when it asks.
      #expect(await one.ask("idle options") == ["changed: options", "OK"])
      await one.send("idle stored_playlist\nnoidle\nping\n")
      #expect(await one.answer() == ["OK"])
      #expect(await one.answer() == ["OK"])
    }
  }

  @Test func `a client is told that its group is another one, or gone`() async throws {
    try await withMPD { host in
      let room = String(repeating: "2", count: 32)
      _ = try await host.house.perform(.createGroup(rooms: [room], name: nil))
      let client = try await host.connect()
      let parts = "idle player playlist mixer"
      await client.send("\(parts)\n")
      _ = try await host.house.perform(.deleteGroup("g1"))
      let told = ["changed: playlist", "changed: player", "changed: mixer", "OK"]
      #expect(await client.answer().sorted() == told.sorted())
      await client.send("\(parts)\n")
      _ = try await host.house.perform(.deleteGroup("g2"))
      #expect(await client.answer().sorted() == told.sorted())
    }
  }

  @Test func `a title that becomes known later is a change of its song`() async throws {
    try await withMPD { host in
      let client = try await host.connect()
      for number in 1...3 { _ = await client.ask("add http://a.example/\(number)") }
      let before = try #require(await client.ask("status").first { $0.hasPrefix("playlist: ") })
      try await host.house.describe(entry: 1, of: "g1", as: "So What")
      let version = before.dropFirst("playlist: ".count)
      let changed = await client.ask("plchangesposid \(version)")
      #expect(changed.filter { $0.hasPrefix("cpos") } == ["cpos: 1"])
    }
  }

  // MARK: - Access

  @Test func `strangers are answered nothing but how to get in`() async throws {
    let access = try FakeAccess.make(token: "secret-token", isOpen: false)
    try await withMPD(access: access) { host in
      let client = try await host.connect()
      #expect(await client.ask("ping") == ["OK"])
      for line in ["status", "idle", "add Jazz", "lsinfo"] {
        let name = line.split(separator: " ")[0]
        #expect(
          await client.ask(line)
            == ["ACK [4@0] {\(name)} you don't have permission for \"\(name)\""])
      }
      #expect(await client.ask("commands").contains("command: status") == false)
      #expect(await client.ask("notcommands").contains("command: status"))
      #expect(await client.ask("password wrong-one") == ["ACK [3@0] {password} incorrect password"])
      #expect(await client.ask("password secret-token") == ["OK"])
      #expect(await client.ask("status").last == "OK")
    }
  }

  @Test func `guests steer music, and change nothing that lasts`() async throws {
    let access = try FakeAccess.make(token: "secret-token", isOpen: true)
    try await withMPD(access: access) { host in
      let client = try await host.connect()
      #expect(await client.ask("setvol 10") == ["OK"])
      for line in [
        "save x", "rm Sunday", "update", "newpartition x", "moveoutput Bath", "crossfade 6",
      ] {
        #expect(await client.ask(line).first?.hasPrefix("ACK [4@0]") == true, "\(line)")
      }
      // An address of this network is for the household.
      #expect(await client.ask("add http://192.168.1.9/x").first?.hasPrefix("ACK [4@0]") == true)
    }
  }

  // MARK: - The library

  @Test func `the library is browsed by folders and tags`() async throws {
    try await withMPD { host in
      let client = try await host.connect()
      let info = await client.ask("lsinfo Music/Jazz")
      #expect(info.prefix(2).last == "Last-Modified: 2023-11-14T22:13:20Z", "\(info)")
      #expect(info.contains("Time: 622") && info.contains("duration: 622.100"))
      #expect(await client.ask("list artist") == ["Artist: Nina Simone", "OK"])
      #expect(
        await client.ask("list album group albumartist")
          == ["AlbumArtist: Nina Simone", "Album: Pastel Blues", "OK"])
      let count = await client.ask("count artist \"Nina Simone\"")
      #expect(count == ["songs: 3", "playtime: 1866", "OK"])
      #expect(await client.ask("find \"(title == 'Sinnerman 2')\"").count > 5)
      let found = await client.ask("search any sinner window 0:1")
      #expect(found.filter { $0.hasPrefix("file") }.count == 1)
      #expect(await client.ask("list file").count == 4)
      #expect(
        await client.ask("lsinfo mpd-client://cantata/2.5.0")
          == ["ACK [2@0] {lsinfo} Unsupported URI scheme"])
      #expect(await client.ask("lsinfo /etc") == ["ACK [4@0] {lsinfo} Access denied"])
      #expect(await client.ask("find base \"\"") == ["ACK [2@0] {find} Bad URI"])
      for command in ["list genre group Genre", "list album group date group date"] {
        #expect(await client.ask(command) == ["ACK [2@0] {list} Conflicting group"])
      }
    }
  }
}
