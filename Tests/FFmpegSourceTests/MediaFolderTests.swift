import Foundation
import Sender
import TestSupport
import Testing

@testable import FFmpegSource

@Suite struct MediaFolderTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  @Test func `files below a folder come in the order that people count`() throws {
    let names = [
      "10 Ten.flac", "2 Two.mp3", "1 One.ogg", "cover.jpg", "b/2.wav", "b/1.wav", "B.opus",
      ".hidden.mp3", "2 two b.MP3", "notes", "a/x/deep.m4a", "02 also.mp3",
    ]
    for name in names { try folder.write([0], to: name) }
    let expected = [
      "1 One.ogg", "02 also.mp3", "2 two b.MP3", "2 Two.mp3", "10 Ten.flac", "a/x/deep.m4a",
      "b/1.wav",
      "b/2.wav", "B.opus",
    ]
    #expect(try MediaFolder.files(at: folder.path).map(\.location) == expected.map(folder.file))
  }

  @Test func `a file whose name is no UTF-8 is found, named and in a folder, and plays`() throws {
    let recording = Recording(rate: 48_000, frames: 5_000)
    let sound = try recording.write(to: "a.wav", in: folder)
    let name = Array((folder.path + "/F").utf8) + [0xfc, 0x72] + Array(".wav".utf8)
    try #require(rename(sound, (name + [0]).map { CChar(bitPattern: $0) }) == 0)
    let path = FileName.text(name)
    try folder.write(
      Array("#EXTM3U\n".utf8) + [0x46, 0xfc, 0x72] + Array(".wav\n".utf8), to: "l.m3u")
    #expect(try MediaFolder.files(at: path).map(\.location) == [path])
    #expect(try MediaFolder.files(at: folder.path).map(\.location) == [path])
    #expect(try MediaFolder.files(at: folder.file("l.m3u")).map(\.location) == [path])
    #expect(try readAll(FileSource(path: path)) == recording.floats)
  }

  @Test func `numbers of any length are compared by their value`() throws {
    let names = ["9.mp3", "99999999999999999999998.mp3", "99999999999999999999999.mp3", "0010.mp3"]
    for name in names { try folder.write([0], to: name) }
    let expected = [names[0], names[3], names[1], names[2]]
    #expect(try MediaFolder.files(at: folder.path).map(\.location) == expected.map(folder.file))
  }

  @Test func `a file that is named is taken, whatever its ending`() throws {
    let path = try folder.write([0], to: "song.xyz")
    #expect(try MediaFolder.files(at: [path, path]).map(\.location) == [path, path])
  }

  @Test func `a missing path is found missing before anything is played`() throws {
    let path = try folder.write([0], to: "a.mp3")
    let missing = folder.file("b.mp3")
    #expect(throws: MediaError.notFound(path: missing)) {
      try MediaFolder.files(at: [path, missing])
    }
  }

  @Test func `a folder without media says so`() throws {
    try folder.write([0], to: "cover.jpg")
    #expect(throws: MediaError.self) { try MediaFolder.files(at: folder.path) }
  }

  @Test func `folders that lie too deep, and files beyond the limit, are left out`() throws {
    var path = ""
    for depth in 0..<40 {
      try folder.write([0], to: "\(path)\(depth).mp3")
      path += "f/"
    }
    let files = try MediaFolder.files(at: folder.path).map(\.location)
    #expect(files.count == MediaFolder.depthLimit + 1)
    #expect(
      try MediaFolder.files(at: folder.path, atMost: 3).map(\.location) == Array(files.prefix(3)))
  }

  @Test func `a link that leads back up is not followed`() throws {
    try folder.write([0], to: "a/1.mp3")
    try FileManager.default.createSymbolicLink(
      atPath: folder.file("a/up"), withDestinationPath: folder.path)
    #expect(try MediaFolder.files(at: folder.path).map(\.location) == [folder.file("a/1.mp3")])
  }

  @Test func `a playlist is what it names, with the lists that it names`() throws {
    try folder.write(Array("2.mp3\nhttp://host/3.mp3\n".utf8), to: "sub/inner.m3u")
    let list = try folder.write(
      Array("[playlist]\nFile1=1.mp3\nFile2=sub/inner.m3u\n".utf8), to: "outer.pls")
    #expect(
      try MediaFolder.files(at: list).map(\.location)
        == [folder.file("1.mp3"), folder.file("sub/2.mp3"), "http://host/3.mp3"])
  }

  @Test func `an item without a title gets that of the list that it comes from`() throws {
    try folder.write(Array("#EXTINF:9,Two\n2.mp3\n3.mp3\n".utf8), to: "inner.m3u")
    try folder.write(Array("#EXTM3U\n#EXT-X-TARGETDURATION:5\n1.ts\n".utf8), to: "live.m3u8")
    let text = "[playlist]\nFile1=1.mp3\nTitle1=One\nFile2=inner.m3u\nTitle2=Inner\n"
    let list = try folder.write(
      Array((text + "File3=live.m3u8\nTitle3=Station\n").utf8), to: "outer.pls")
    #expect(
      try MediaFolder.files(at: list) == [
        PlaylistEntry(folder.file("1.mp3"), title: "One"),
        PlaylistEntry(folder.file("2.mp3"), title: "Two"),
        PlaylistEntry(folder.file("3.mp3"), title: "Inner"),
        PlaylistEntry(folder.file("live.m3u8"), title: "Station"),
      ])
  }

  @Test func `a playlist that names itself, or is none, says so in one line`() throws {
    let loop = try folder.write(Array("loop.m3u\n".utf8), to: "loop.m3u")
    let broken = try folder.write(Array("[\"a\",\n]".utf8), to: "broken.json")
    #expect(
      throws: MediaError.notAudio(path: loop, reason: "lists name lists without end")
    ) { try MediaFolder.files(at: loop) }
    #expect(
      throws: MediaError.notAudio(
        path: broken, reason: "as a playlist: line 2: expected a value")
    ) { try MediaFolder.files(at: broken) }
  }

  @Test func `a list on the network names what lies beside it, and no file of this machine`()
    throws
  {
    let list = "1.mp3\nfile:///etc/passwd\nhttp://other/2.mp3\n"
    let stream = "#EXTM3U\n#EXT-X-TARGETDURATION:5\n1.ts\n"
    let server = try TestServer { request, connection in
      switch request.path {
      case "/a/list.m3u": connection.send(file: Array(list.utf8), from: request.rangeStart)
      case "/live.m3u8": connection.send(file: Array(stream.utf8), from: request.rangeStart)
      default: connection.head("404 Not Found")
      }
    }
    defer { server.stop() }
    #expect(
      try MediaFolder.files(at: server.url("a/list.m3u")).map(\.location)
        == [server.url("a/1.mp3"), "http://other/2.mp3"])
    #expect(
      try MediaFolder.files(at: server.url("live.m3u8")).map(\.location) == [
        server.url("live.m3u8")
      ])
    #expect(try MediaFolder.files(at: server.url("a.mp3")).map(\.location) == [server.url("a.mp3")])
    #expect(throws: MediaError.self) { try MediaFolder.files(at: server.url("no.pls")) }
  }
}
