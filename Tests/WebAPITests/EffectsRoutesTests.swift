import Driver
import House
import Sender
import Service
import Testing
import WebTestSupport

/// Checks that effects are numbers of a fixed list. Nothing that anybody sends ever becomes text
/// for FFmpeg.
@Suite struct EffectsRoutesTests {
  private static func effects(_ text: String) -> String { #"{"effects":\#(text)}"# }

  private static func filter(_ text: String) -> String { effects(#"{"filter":"\#(text)"}"#) }

  private static func filters(_ text: String) -> String { effects(#"{"filters":[\#(text)]}"#) }

  /// Filter chains that wrote files, loaded libraries, took all memory, or waited without end.
  private static let chains = [
    filter("ametadata=mode=print:file=/home/me/.bashrc"),
    filter(
      #"ametadata=mode=add:key=x:value='\n# begin\nssh-ed25519 KEY x',ametadata=mode=print:file=/home/me/.ssh/authorized_keys"#
    ),
    filter("ladspa=file=/srv/music/song.mp3:plugin=x"), filter("apad,areverse"),
    filter("amovie=/some/fifo"), filter(#"amovie='http\\://host\\:80/x'"#),
    filter("volume=0[a];amovie=/any/file.wav[b];[a][b]amix=inputs=2"), filter("bass=g=3"),
  ]

  /// The same attacks through the list of filters.
  private static let lists =
    [
      #""bass=g=3""#, #"["bass",3]"#, "null", "3", "{}",
      #"{"kind":"amovie","filename":"/etc/passwd"}"#, #"{"kind":"bass"}"#,
      #"{"kind":"bass,amovie=/x","gain":3}"#, #"{"kind":"Bass","gain":3}"#,
      #"{"kind":"bass\u0000","gain":3}"#, #"{"kind":"bass\n","gain":3}"#,
      #"{"kind":"ｂａｓｓ","gain":3}"#, #"{"kind":["bass"],"gain":3}"#,
      #"{"kind":"bass","gain":"3"}"#, #"{"kind":"bass","gain":"3dB:f=100"}"#,
      #"{"kind":"bass","gain":"3,apad"}"#, #"{"kind":"bass","gain":24.1}"#,
      #"{"kind":"bass","gain":1e400}"#, #"{"kind":"bass","gain":-1e308}"#,
      #"{"kind":"bass","gain":NaN}"#, #"{"kind":"bass","gain":null}"#,
      #"{"kind":"bass","gain":true}"#, #"{"kind":"bass","gain":[3]}"#,
      #"{"kind":"bass","gain":3,"g=3,apad":1}"#, #"{"kind":"bass","gain":3,"enable":"1"}"#,
      #"{"kind":"bass","gain":3,"ratio":2}"#, #"{"kind":"lowpass","frequency":19.9}"#,
      #"{"kind":"lowpass","frequency":20001}"#, #"{"kind":"compressor","threshold":-20}"#,
      #"{"kind":"equalizer","frequency":1000,"gain":3,"width":0}"#,
      #"{"kind":"limiter","ceiling":1}"#,
      #"{"kind":"equalizer","frequency":"1000':metadata=x","gain":3}"#,
    ].map(filters)

  private static let shapes = [
    effects(#"{"filters":"bass=g=3"}"#), effects(#"{"filters":{"kind":"bass","gain":3}}"#),
    effects(#"{"chain":"bass"}"#), effects(#"{"Filters":[]}"#), effects(#"["bass"]"#),
    filters(Array(repeating: #"{"kind":"bass","gain":1}"#, count: 17).joined(separator: ",")),
    filters(Array(repeating: "{}", count: 20_000).joined(separator: ",")),
    effects(#"{"rate":"2,apad"}"#), effects(#"{"loudness":"-16:print_format=json"}"#),
    effects(#"{"pitch":1e400}"#), effects(#"{"crossfadeS":12.1}"#),
    effects(#"{"crossfadeS":-0.1}"#), effects(#"{"crossfadeS":"6"}"#), effects(#"{"crossfade":6}"#),
  ]

  @Test(arguments: chains + lists + shapes)
  func `text for FFmpeg, and numbers out of range, are refused`(body: String) async throws {
    try await withHouse { client, house in
      let before = try await house.state()
      try expectProblem(await client.ask("PATCH", "/api/v1/groups/g1", body), 400)
      #expect(try await house.state().groups == before.groups)
    }
  }

  @Test func `a crossfade is set over HTTP, and null ends it`() async throws {
    try await withHouse { client, house in
      let values: [(String, Double?)] = [
        ("6.5", 6.5), ("12", 12), ("0", nil), ("3", 3), ("null", nil),
      ]
      for (value, seconds) in values {
        let body = Self.effects(#"{"crossfadeS":\#(value)}"#)
        #expect(try await client.ask("PATCH", "/api/v1/groups/g1", body).status == 200)
        let group = try #require(await house.state().groups.first)
        #expect(group.id == "g1" && group.effects.crossfadeS == seconds)
      }
    }
  }
}
