import Testing

@testable import Sender

@Suite struct FileNameTests {
  private static let names: [[UInt8]] = [
    Array("Für Elise.mp3".utf8), [0x46, 0xfc, 0x72, 0x2e, 0x6d, 0x70, 0x33], [0xff, 0x80, 0xc3],
    // A character that stands for a byte itself.
    [0xee, 0xbf, 0xbc, 0x41], [0xe2, 0x82], [], Array("👩‍🚀.flac".utf8),
  ]

  @Test(arguments: names) func `a name is the same bytes again`(name: [UInt8]) {
    #expect(FileName.bytes(of: FileName.text(name)).map { UInt8(bitPattern: $0) } == name + [0])
  }

  @Test func `names in UTF-8 are what they are`() {
    #expect(FileName.text(Array("Für Elise.mp3".utf8)) == "Für Elise.mp3")
    #expect(FileName.shown("Für Elise.mp3") == "Für Elise.mp3")
  }

  @Test func `other names are shown as Latin-1`() {
    let name = FileName.text([0x46, 0xfc, 0x72])
    #expect(FileName.shown(name) == "Für")
    #expect("\(MediaError.notFound(path: name))".hasPrefix("Für: "))
  }
}

@Suite struct MediaErrorTests {
  @Test(arguments: [
    MediaError.broken(path: "/music/a.mp3", reason: "a frame is torn"),
    .endsEarly(path: "/music/a.mp3", after: 62, of: 180),
  ]) func `an item that breaks off says why, and that the rest was played`(error: MediaError) {
    #expect(error.hasSounded)
    #expect("\(error)".hasPrefix("/music/a.mp3: "))
    #expect("\(error)".contains("played"))
  }
}
