import Audio
import Clock
import Driver
import Foundation
import Glibc
import Sender
import TestSupport
import Testing

@testable import FFmpegSource

/// Tests of stations whose last hour is kept, with a server and a process that decodes.
@Suite(.serialized) struct KeptStationTests {
  private let folder: TemporaryFolder
  private let interruption: ReadInterruption

  init() throws {
    folder = try TemporaryFolder()
    interruption = try ReadInterruption()
  }

  /// Sweeps of 40 s at 128 kbit/s, so that no two packets are alike.
  private func recording(_ name: String) throws -> [UInt8] {
    let arguments =
      name.hasSuffix("mp3") ? ["-write_xing", "0", "-id3v2_version", "0"] : ["-aac_pns", "0"]
    let sweeps = "0.4*sin(2*PI*(200*t+100*t*t))|0.3*sin(2*PI*(300*t+50*t*t))"
    try run(
      "ffmpeg",
      ["-v", "error", "-f", "lavfi", "-i", "aevalsrc='\(sweeps)':s=48000:d=40", "-b:a", "128k"]
        + arguments + [folder.file(name)])
    return try folder.bytes(of: name)
  }

  private func open(_ url: String, _ memory: StationMemory = .init()) throws -> WorkerSource {
    try WorkerSource(
      url: url, workers: WorkerSourceTests.workers, settings: .withoutPauses,
      keeping: StationKeeping(memory: memory) { body in
        Thread.detachNewThread(body)
        return true
      },
      interruption: interruption, report: { _ in })
  }

  private func payloads(_ name: String) throws -> [[UInt8]] {
    let packets = try FileSource(path: folder.file(name)).packets()
    var payloads: [[UInt8]] = []
    while let packet = try packets.next() { payloads.append(packet.payload) }
    return payloads
  }

  /// Sends a part at once, and the rest as soon as `gate` opens. Signals `sent` when all has left.
  private func station(
    _ bytes: [UInt8], _ gate: DispatchSemaphore, _ sent: DispatchSemaphore
  ) throws -> TestServer {
    try TestServer { request, connection in
      let type = request.path.hasSuffix("aac") ? "audio/aac" : "audio/mpeg"
      connection.head("200 OK", ["icy-name: Station", "Content-Type: \(type)"])
      connection.send(bytes[..<64_000])
      gate.wait()
      connection.send(bytes[64_000...])
      sent.signal()
      gate.wait()
    }
  }

  @Test(arguments: ["a.mp3", "a.aac"])
  func `a station is read on while nobody reads, and any place of it plays`(name: String) throws {
    let bytes = try recording(name)
    let all = try payloads(name)
    let (gate, sent) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let server = try station(bytes, gate, sent)
    defer {
      gate.signal()
      server.stop()
    }
    let source = try open(server.url(name))
    #expect(source.isSeekable && source.isKept && source.isReusable)
    #expect(source.supply == .live)
    var packets = try source.packets()
    let first = try #require(try packets.next())
    let start = try #require(all.firstIndex(of: first.payload))
    #expect(start < 3)
    gate.signal()
    // More than the system holds of what nobody reads.
    #expect(sent.wait(timeout: .now() + 20) == .success)
    for _ in 0..<1_500 { _ = try packets.next() }
    let length = source.format.duration(ofFrames: first.frameCount)
    for place: Int64 in [12, 5, 18] {
      let met = source.place(near: .seconds(place))
      #expect(abs((met - .seconds(place)).flicks) <= MediaDuration.milliseconds(300).flicks)
      try source.seek(toFrame: met.flicks / source.format.duration(ofFrames: 1).flicks)
      packets = try source.packets()
      let index = Int(met.flicks / length.flicks)
      var heard: [[UInt8]] = []
      for _ in 0..<60 { heard.append(try #require(try packets.next()).payload) }
      let begin = try #require(all.firstIndex(of: heard[0]), "at \(place)")
      #expect(abs(begin - index - start) <= 2, "at \(place)")
      #expect(heard == Array(all[begin..<begin + 60]), "at \(place)")
    }
    #expect(server.connectionCount == 1)
  }

  @Test func `a station that sends faster than it plays is read no further than a minute ahead`()
    throws
  {
    let bytes = try recording("a.mp3")
    let gate = DispatchSemaphore(value: 0)
    let server = try TestServer { _, connection in
      connection.head("200 OK", ["icy-name: Station", "Content-Type: audio/mpeg"])
      for _ in 0..<6 { connection.send(bytes[...]) }
      gate.wait()
    }
    defer {
      gate.signal()
      server.stop()
    }
    let begun = ContinuousClock.now
    let source = try open(server.url("a.mp3"))
    let packets = try source.packets()
    // Packets of 24 ms: all but the last seconds of the minute.
    for _ in 0..<2_400 { _ = try #require(try packets.next()) }
    let live = source.place(near: .seconds(1_000)).seconds
    #expect(live > 30 && live < 62 + (ContinuousClock.now - begun) / .seconds(1))
  }

  @Test func `a station that nobody has heard for long is left, and called when somebody listens`()
    throws
  {
    let bytes = try recording("a.mp3")
    let all = try payloads("a.mp3")
    let left = DispatchSemaphore(value: 0)
    let server = try TestServer { _, connection in
      connection.head("200 OK", ["icy-name: Station", "Content-Type: audio/mpeg"])
      connection.send(bytes)
      connection.fallSilent()
      left.signal()
    }
    defer { server.stop() }
    let source = try open(server.url("a.mp3"), StationMemory(patience: .milliseconds(500)))
    let packets = try source.packets()
    for _ in 0..<10 { _ = try #require(try packets.next()) }
    // On a busy machine, the decoder itself may come so late that the station is left before.
    while source.place(near: .zero) < .seconds(5) {
      try #require(left.wait(timeout: .now() + 20) == .success)
    }
    // A group goes on at what is kept.
    let place = source.place(near: .zero)
    try source.seek(toFrame: place.flicks / source.format.duration(ofFrames: 1).flicks)
    let packet = try #require(try source.packets().next())
    let index = try #require(all.firstIndex { $0 == packet.payload })
    #expect(index < 3)
    #expect(server.connectionCount > 1)
  }

  @Test func `frames play from there as packets do`() throws {
    let bytes = try recording("a.mp3")
    let gate = DispatchSemaphore(value: 0)
    gate.signal()
    let server = try station(bytes, gate, DispatchSemaphore(value: 0))
    defer {
      gate.signal()
      server.stop()
    }
    let source = try open(server.url("a.mp3"))
    var some: [Float] = []
    while some.count < 2 * 30 * 48_000 { try source.read(48_000, appendingTo: &some) }
    let met = source.place(near: .seconds(12))
    let frame = met.flicks / source.format.duration(ofFrames: 1).flicks
    try source.seek(toFrame: frame)
    var heard: [Float] = []
    while heard.count < 2 * 24_000 { try source.read(4_096, appendingTo: &heard) }
    let file = try FileSource(path: folder.file("a.mp3"))
    try file.seek(toFrame: frame)
    var same: [Float] = []
    while same.count < 2 * 24_000 { try file.read(4_096, appendingTo: &same) }
    // The first packets lack what the packets before them keep for them.
    let tail = 2 * 12_000..<2 * 20_000
    let errors = (-2_400...2_400).map { shift in
      stride(from: tail.lowerBound, to: tail.upperBound, by: 2).reduce(Float.zero) {
        max($0, abs(heard[$1] - same[$1 + 2 * shift]))
      }
    }
    #expect(try #require(errors.min()) < 0.01)
    #expect(server.connectionCount == 1)
  }

  @Test(arguments: ["a.mp3", "a.aac"])
  func `a station that hangs up is called again, and nobody notices`(name: String) throws {
    let bytes = try recording(name)
    let all = try payloads(name)
    let server = try TestServer { request, connection in
      guard request.number < 2 else { return connection.head("503 Full") }
      connection.head("200 OK", ["icy-name: Station", "Content-Type: audio/mpeg"])
      let half = bytes.count / 2
      // Both ends are within packets.
      connection.send(request.number == 0 ? bytes[..<(half + 55)] : bytes[(half - 20_011)...])
    }
    defer { server.stop() }
    let source = try open(server.url(name))
    let packets = try source.packets()
    var heard: [Int] = []
    #expect(throws: MediaError.self) {
      while let packet = try packets.next() {
        heard.append(try #require(all.firstIndex(of: packet.payload)))
      }
    }
    // Every packet is whole, and the second connection's follow those of the first.
    let joints = zip(heard, heard.dropFirst()).filter { $1 != $0 + 1 }
    #expect(joints.count == 1)
    #expect(heard.count > all.count + 40)
    #expect(heard.last == all.count - 1)
  }

  @Test func `streams that cannot be taken up anywhere are not kept`() throws {
    try run(
      "ffmpeg",
      ["-v", "error", "-f", "lavfi", "-i", "sine=d=20", folder.file("a.ogg")])
    let bytes = try folder.bytes(of: "a.ogg")
    let server = try TestServer { _, connection in
      connection.head("200 OK", ["icy-name: Station", "Content-Type: application/ogg"])
      connection.send(bytes)
    }
    defer { server.stop() }
    let source = try open(server.url("a.ogg"))
    #expect(!source.isSeekable)
    var frames: [Float] = []
    try source.read(44_100, appendingTo: &frames)
    #expect(!frames.isEmpty)
  }

  @Test func `a full disk ends the memory and not the music`() throws {
    let descriptor = Glibc.open("/dev/full", O_RDWR | O_CLOEXEC)
    let file = RingFile(descriptor, size: StationMemory.byteLimit)
    let station = try #require(KeptStation(StationMemory(), in: file, addresses: []))
    var (sent, heard): ([UInt8], [UInt8]) = ([], [])
    var place: Int64 = 0
    for number in 0..<200 {
      let block = (0..<20_000).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ number) }
      station.append(block, lasting: .seconds(1), after: .seconds(Int64(number)), saying: [])
      sent += block
      while number % 70 == 0,
        case .bytes(let bytes, _) = station.take(
          from: &place, upTo: 32_768, begins: false)
      {
        heard += bytes
      }
    }
    #expect(station.stretch == nil)
    #expect(station.mark(near: .zero) == nil)
    #expect(station.isFull)
    while case .bytes(let bytes, _) = station.take(from: &place, upTo: 32_768, begins: false) {
      heard += bytes
    }
    #expect(heard == sent)
    #expect(!station.isFull)
  }

  @Test func `the ring gives what is kept, and the oldest to who comes too late`() throws {
    let size: Int64 = 1 << 20
    let file = try RingFile(for: "test", size: size)
    let memory = StationMemory(byteLimit: size)
    let station = try #require(KeptStation(memory, in: file, addresses: []))
    func byte(_ place: Int64) -> UInt8 { UInt8(truncatingIfNeeded: place &* 31 &+ place / 977) }
    var end: Int64 = 0
    for _ in 0..<300 {
      let block = (end..<end + 10_007).map(byte)
      station.append(block, lasting: .seconds(1), after: .seconds(9), saying: [])
      end += 10_007
    }
    var place: Int64 = 0
    var heard: [UInt8] = []
    var first: Int64?
    while case .bytes(let bytes, _) = station.take(from: &place, upTo: 30_000, begins: false) {
      first = first ?? place - Int64(bytes.count)
      heard += bytes
    }
    #expect(place == end)
    #expect(try #require(first) >= end - size)
    #expect(heard == (try #require(first)..<end).map(byte))
  }

  @Test func `only so many stations are kept at once`() throws {
    func keep() -> KeptStation? {
      KeptStation(
        StationMemory(), in: try? RingFile(for: "test", size: StationMemory.byteLimit),
        addresses: [])
    }
    var all = (0..<KeptStation.countLimit).compactMap { _ in keep() }
    #expect(all.count == KeptStation.countLimit)
    #expect(keep() == nil)
    all.removeLast()
    #expect(keep() != nil)
  }

  @Test(arguments: ["a.mp3", "a.aac"])
  func `packets are cut wherever a connection breaks them`(name: String) throws {
    let bytes = try recording(name)
    var (packets, out, time) = (StationPackets(), [UInt8](), MediaDuration.zero)
    let noise = (0..<900).map { UInt8(truncatingIfNeeded: $0 &* $0 &+ 3) }
    var rest = (noise + bytes)[...]
    for size in sequence(first: 1, next: { $0 % 1_999 + 13 }) where !rest.isEmpty {
      let whole = packets.cut(rest.prefix(size))
      rest = rest.dropFirst(size)
      out += whole.bytes
      time = time + whole.duration
      if rest.isEmpty { break }
    }
    #expect(out == bytes)
    #expect(abs((time - .seconds(40)).flicks) < MediaDuration.milliseconds(120).flicks)
    // Noise is bounded, and noticed.
    for _ in 0..<35 { _ = packets.cut(noise[...]) }
    #expect(packets.skipped == 0)
    for _ in 0..<60 { _ = packets.cut(noise[...]) }
    #expect(packets.skipped > 0)
  }

  @Test func `a station with more noise than music is noticed, and one with less is not`() throws {
    let bytes = try recording("a.mp3")
    var packets = StationPackets()
    let noise = [UInt8](repeating: 0xff, count: 20_000)
    for _ in 0..<4 { _ = packets.cut((noise + bytes[..<2_000])[...]) }
    #expect(packets.skipped > StationPackets.searchLimit)
    packets.beginAnew()
    for _ in 0..<4 { _ = packets.cut((noise + bytes[..<30_000])[...]) }
    #expect(packets.skipped == 0)
  }
}
