import Sender
import Testing

/// Tests of what the programs of inputs tell of their music.
@Suite struct InputEventTests {
  private static let png =
    Array("\u{89}".unicodeScalars.map { UInt8($0.value) }) + Array("PNG\r\n\u{1a}\n".utf8)

  static func base64(_ bytes: [UInt8]) -> String {
    let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
    var text = ""
    for start in stride(from: 0, to: bytes.count, by: 3) {
      let part = bytes[start..<min(start + 3, bytes.count)]
      let bits = part.reduce(0) { $0 << 8 | Int($1) } << (8 * (3 - part.count))
      for place in 0..<4 {
        text.append(place <= part.count ? letters[bits >> (18 - 6 * place) & 63] : "=")
      }
    }
    return text
  }

  private static func item(_ type: String, _ code: String, _ data: [UInt8]) -> String {
    func digits(_ letters: String) -> String {
      String(letters.utf8.reduce(UInt32(0)) { $0 << 8 | UInt32($1) }, radix: 16)
    }
    let head =
      "<item><type>\(digits(type))</type><code>\(digits(code))</code><length>\(data.count)</length>"
    guard !data.isEmpty else { return head + "</item>\n" }
    return head + "\n<data encoding=\"base64\">\n\(base64(data))</data></item>\n"
  }

  private static func item(_ type: String, _ code: String, _ text: String = "") -> String {
    item(type, code, Array(text.utf8))
  }

  private static let song =
    item("ssnc", "pbeg") + item("ssnc", "mdst", "1") + item("core", "asal", "Pastel Blues")
    + item("core", "asar", "Nina Simone") + item("core", "minm", "Sinnerman \u{202e}x\u{7}")
    + item("core", "caps", [1]) + item("ssnc", "mden", "1") + item("ssnc", "PICT", png)
    + item("ssnc", "pvol", "-15.00,-24.22,-72.24,0.00") + item("ssnc", "pfls")
    + item("ssnc", "prsm") + item("ssnc", "pend")

  private static var heard: [InputEvent] {
    [
      .playing,
      .title(.init(title: "Sinnerman  x ", artist: "Nina Simone", album: "Pastel Blues")),
      .cover(Artwork(bytes: png, mimeType: "image/png")), .volume(50), .paused, .playing, .stopped,
      .title(.init()), .cover(nil),
    ]
  }

  @Test(arguments: [1, 2, 7, 64, 10_000])
  func `what shairport-sync tells is read, however its pipe is cut`(size: Int) {
    let bytes = Array(Self.song.utf8)
    var metadata = ShairportMetadata()
    var heard: [InputEvent] = []
    for start in stride(from: 0, to: bytes.count, by: size) {
      heard += metadata.take(bytes[start..<min(start + size, bytes.count)])
    }
    #expect(heard == Self.heard)
  }

  /// Written by shairport-sync 3.3.8 while a sink of PulseAudio 16.1 played to it, was turned down, and was suspended.
  @Test func `a recording of shairport-sync is read`() {
    let recorded = """
      <item><type>73736e63</type><code>736e7561</code><length>26</length>
      <data encoding="base64">
      aVR1bmVzLzExLjAuNCAoV2luZG93czsgTik=</data></item>
      <item><type>73736e63</type><code>61626567</code><length>0</length></item>
      <item><type>73736e63</type><code>70626567</code><length>0</length></item>
      <item><type>73736e63</type><code>70666c73</code><length>10</length>
      <data encoding="base64">
      MjU0OTA1MzY0Nw==</data></item>
      <item><type>73736e63</type><code>70766f6c</code><length>19</length>
      <data encoding="base64">
      MC4wMCwwLjAwLDAuMDAsMC4wMA==</data></item>
      <item><type>73736e63</type><code>70666672</code><length>0</length></item>
      <item><type>73736e63</type><code>7072736d</code><length>0</length></item>
      <item><type>73736e63</type><code>70766f6c</code><length>21</length>
      <data encoding="base64">
      LTEwLjkwLDAuMDAsMC4wMCwwLjAw</data></item>
      <item><type>73736e63</type><code>70656e64</code><length>0</length></item>
      <item><type>73736e63</type><code>61656e64</code><length>0</length></item>

      """
    var metadata = ShairportMetadata()
    let volume = (30 - 10.9) / 30 * 100
    #expect(
      metadata.take(Array(recorded.utf8)) == [
        .playing, .paused, .volume(100), .playing, .volume(volume), .stopped, .title(.init()),
        .cover(nil),
      ])
  }

  @Test func `an item that is wrong is left out, and the next is read`() {
    let next = Self.item("ssnc", "prsm")
    let long = String(repeating: "A", count: ShairportMetadata.itemLimit)
    for wrong in [
      "</item>", "<item></item>", "<item><type>zz</type><code>1</code><length>0</length></item>",
      "<item><type>73736e63</type><code>7076 6f6c</code><length>1</length></item>",
      Self.item("ssnc", "pvol", "nan,1"), Self.item("ssnc", "pvol", ""),
      Self.item("core", "minm", "no beginning"), Self.item("ssnc", "mden"),
      // Other data than its length says, and no base64.
      "<item><type>73736e63</type><code>50494354</code><length>9</length><data>QUJD</data></item>",
      "<item><type>73736e63</type><code>50494354</code><length>3</length><data>QU!D</data></item>",
      "<item><data encoding=\"base64\">" + long + "</data></item>", long + long + "</item>",
    ] {
      var metadata = ShairportMetadata()
      #expect(metadata.take(Array((wrong + next).utf8)) == [.playing], "\(wrong.prefix(60))")
    }
    var metadata = ShairportMetadata()
    #expect(metadata.take(Array(Self.item("ssnc", "PICT", "GIF?").utf8)) == [.cover(nil)])
    #expect(metadata.take(Array(Self.item("ssnc", "pvol", "-144,0,0,0").utf8)) == [.volume(0)])
  }

  @Test(arguments: [1, 3, 10_000])
  func `lines of JSON are read, however their pipe is cut`(size: Int) {
    let text = """
      {"title":"A \\"b\\" \\u00e9\\ud83c\\udfb5","artist":null, "state":"playing"}
      {"volume" : 40.5,"state":"stopped","more":true}
      {"cover":"\(Self.base64(Self.png))"}
      {"cover":"QUJD"}
      {"album":"C"}\r
      {}

      """
    var lines = InputLines()
    var heard: [InputEvent] = []
    let bytes = Array(text.utf8)
    for start in stride(from: 0, to: bytes.count, by: size) {
      heard += lines.take(bytes[start..<min(start + size, bytes.count)])
    }
    #expect(
      heard == [
        .title(.init(title: "A \"b\" é🎵")), .playing, .volume(40.5), .stopped,
        .cover(Artwork(bytes: Self.png, mimeType: "image/png")), .cover(nil),
        .title(.init(album: "C")),
      ])
  }

  @Test func `a line that is no such object is left out, and the next is read`() {
    for wrong in [
      "", "[]", "{", "{\"title\"}", "{\"title\":}", "{\"title\":\"a\"", "{\"title\":\"a\"}}",
      "null",
      "{\"title\":{\"a\":1}}", "{\"title\":[\"a\"]}", "{\"title\":\"\\x\"}", "{\"volume\":101}",
      "{\"volume\":1e999}", "{\"volume\":\"40\"}", "{\"state\":\"on\"}", "{\"title\":\"\\u12\"}",
      "{\"title\":\"" + String(repeating: "a", count: InputLines.lineLimit) + "\"}",
    ] {
      var lines = InputLines()
      let next = "\n{\"state\":\"playing\"}\n"
      #expect(lines.take(Array((wrong + next).utf8)) == [.playing], "\(wrong.prefix(60))")
    }
  }

  @Test func `the events of librespot become lines, whatever their titles are`() throws {
    func events(_ variables: [String: String]) -> [InputEvent] {
      var lines = InputLines()
      return LibrespotEvent.line { variables[$0] }.map { lines.take($0) } ?? []
    }
    #expect(
      events([
        "PLAYER_EVENT": "track_changed", "TRACK_ID": "4iV5W9uYEdYUVa79Axb7Rh",
        "NAME": "It's \"time\"\\\n{}", "ARTISTS": "One\nOther", "ALBUM": "Ω",
        "COVERS": "https://i.example/x",
      ]) == [.title(.init(title: "It's \"time\"\\ {}", artist: "One, Other", album: "Ω"))])
    #expect(
      events(["PLAYER_EVENT": "track_changed", "NAME": "Episode", "SHOW_NAME": "Show"])
        == [.title(.init(title: "Episode", artist: "Show"))])
    #expect(events(["PLAYER_EVENT": "playing", "POSITION_MS": "0"]) == [.playing])
    #expect(events(["PLAYER_EVENT": "paused"]) == [.paused])
    #expect(events(["PLAYER_EVENT": "stopped"]) == [.stopped])
    #expect(events(["PLAYER_EVENT": "volume_changed", "VOLUME": "65535"]) == [.volume(100)])
    for wrong in ["65536", "-1", "nan", ""] {
      #expect(events(["PLAYER_EVENT": "volume_changed", "VOLUME": wrong]) == [])
    }
    #expect(events(["PLAYER_EVENT": "preloading"]) == [])
    #expect(events([:]) == [])
  }

  @Test func `another title has no picture until it gets one`() {
    var metadata = ItemMetadata()
    metadata.take(.title(.init(title: "A")))
    metadata.take(.cover(Artwork(bytes: Self.png, mimeType: "image/png")))
    metadata.take(.title(.init(title: "A")))
    #expect(metadata.artwork != nil && metadata.title == "A")
    metadata.take(.title(.init(title: "B")))
    #expect(metadata.artwork == nil && metadata.title == "B")
  }

  @Test func `only what begins as a picture is one, of no more than the limit`() {
    #expect(Artwork(recognising: [0xff, 0xd8, 0xff, 0xe0])?.mimeType == "image/jpeg")
    #expect(Artwork(recognising: Array("GIF89a".utf8))?.mimeType == "image/gif")
    #expect(Artwork(recognising: Array("RIFF....WEBPVP8 ".utf8))?.mimeType == "image/webp")
    for wrong in ["", "<svg", "RIFF....WAVE", "<html>"] {
      #expect(Artwork(recognising: Array(wrong.utf8)) == nil)
    }
    let size = Artwork.sizeLimit
    #expect(Artwork(recognising: Self.png + [UInt8](repeating: 0, count: size)) == nil)
  }
}
