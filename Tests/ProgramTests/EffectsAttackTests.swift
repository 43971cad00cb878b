import Foundation
import Glibc
import TestSupport
import Testing

/// Tests of attacks by way of effects, from strangers and from other programs of the house, against the
/// shipped daemon.
@Suite struct EffectsAttackTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// Filter chains that wrote files, loaded libraries, took all memory, or waited without end, as text inside
  /// JSON.
  private func chains(_ fifo: String, _ silent: UInt16) -> [String] {
    [
      "ametadata=mode=print:file=\(folder.file("bashrc"))",
      #"ametadata=mode=add:key=x:value='\n# begin\nssh-ed25519 KEY x',ametadata=mode=print:file="#
        + folder.file("bashrc"),
      "ladspa=file=\(folder.file("song.mp3")):plugin=x", "apad,areverse", "amovie=\(fifo)",
      #"amovie='http\\://127.0.0.1\\:\#(silent)/x'"#,
      "volume=0[a];amovie=\(folder.file("tone.wav"))[b];[a][b]amix=inputs=2",
    ]
  }

  private func patch(_ body: String, to port: UInt16) throws -> String {
    let connection = try #require(TestConnection(port: port))
    connection.send(
      Array(
        """
        PATCH /api/v1/groups/g1 HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\n\
        Content-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n\
        Connection: close\r\n\r\n\(body)
        """.utf8))
    return String(decoding: connection.receive(within: 20), as: UTF8.self)
  }

  /// Returns the answer of the control socket.
  private func effects(_ change: String, _ socket: TestConnection) throws -> String {
    let order = #"{"change":{"group":"","_1":{"effects":\#(change),"rooms":{"isStep":false}}}}"#
    socket.send(
      Array(#"{"id":1,"request":{"order":{"_0":\#(order)}}}"#.utf8) + [UInt8(ascii: "\n")])
    return String(decoding: socket.receive(within: 20), as: UTF8.self)
  }

  @Test func `chains for FFmpeg are refused on every way in, and the music stays whole`() throws {
    let tone = try folder.write(Tone.wave(rate: 8_000, seconds: 90, channels: 1), to: "tone.wav")
    try folder.write(Array("alias".utf8), to: "bashrc")
    let fifo = folder.file("fifo")
    #expect(mkfifo(fifo, 0o600) == 0)
    let silent = try TestPeer { _ = $0.receiveAll() }
    let receiver = try ReceiverProgram("a", in: folder)
    let daemon = try Daemon(in: folder)
    let port = try daemon.port()
    _ = try daemon.run("play", tone, "--at", receiver.address)
    try receiver.program.line(with: "playing")
    let socket = try #require(TestConnection(path: daemon.socket))
    // Shows that valid filters are accepted, so that the refusals below are due to their content.
    let taken = try effects(#"{"filters":[{"kind":"bass","gain":0}]}"#, socket)
    #expect(taken.contains("done"), "\(taken)")
    #expect(try effects(#"{"isReset":true}"#, socket).contains("done"))
    for chain in chains(fifo, silent.port) {
      let answer = try patch(#"{"effects":{"filter":"\#(chain)"}}"#, to: port)
      #expect(answer.hasPrefix("HTTP/1.1 400"), "\(chain): \(answer)")
      for change in [
        #"{"filter":"\#(chain)","isReset":false}"#,
        #"{"filters":["\#(chain)"]}"#,
        #"{"filters":[{"kind":"\#(chain)","gain":1}]}"#,
        #"{"filters":[{"kind":"bass","gain":"\#(chain)"}]}"#,
      ] {
        let reply = try effects(change, socket)
        #expect(reply.contains("refused"), "\(change): \(reply)")
      }
    }
    #expect(try String(decoding: folder.bytes(of: "bashrc"), as: UTF8.self) == "alias")
    #expect(silent.connectionCount == 0)
    #expect(try daemon.run("effects").first?.hasSuffix("no effects") == true)
    #expect(try daemon.stop() == 0)
    #expect(try receiver.program.stop() == 0)
    let recording = try ToneRecording(folder.file("a.wav"))
    expectOneTone(recording, seconds: recording.seconds)
  }
}
