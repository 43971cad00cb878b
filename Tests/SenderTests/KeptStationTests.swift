import Audio
import Clock
import Testing

@testable import Sender

/// Tests of a group that plays a station whose last hour is kept, in simulated time.
@Suite struct KeptStationTests {
  /// A station that sends a second each second, its memory, and what was read from it.
  private final class Station {
    var memory = StationMemory()
    /// In frames.
    var reads: [Range<Int64>] = []
    var place: Int64 = 0
    private var seconds: Int64 = 0

    init() { for _ in 0..<4 { send() } }

    func send() {
      memory.append(16_000, lasting: .seconds(1), after: .seconds(max(0, seconds - 4)))
      seconds += 1
    }

    var hasMore: Bool { memory.end.time > MediaDuration(frames: place, at: 8_000) }
  }

  private final class Source: MediaSource {
    let format = AudioFormat(sampleRate: 8_000, channelCount: 1)
    let sampleType = SampleType.int16
    let isLossless = false
    let frameCount: Int64? = nil
    let metadata = ItemMetadata()
    let isSeekable = true
    let isReusable = true
    let supply = Supply.live
    private let station: Station

    init(_ station: Station) { self.station = station }

    func place(near position: MediaDuration) -> MediaDuration {
      station.memory.mark(near: position).time
    }

    func seek(toFrame frame: Int64) { station.place = frame }

    func read(_ count: Int, appendingTo frames: inout [Float]) {
      let left = station.memory.end.time - MediaDuration(frames: station.place, at: 8_000)
      let count = min(Int64(count), left.flicks / MediaDuration(frames: 1, at: 8_000).flicks)
      frames += repeatElement(0, count: Int(count))
      let end = station.place + count
      if let last = station.reads.last, last.upperBound == station.place {
        station.reads[station.reads.count - 1] = last.lowerBound..<end
      } else {
        station.reads.append(station.place..<end)
      }
      station.place = end
    }
  }

  private struct Listening {
    let station = Station()
    var group: TestGroup
    /// True while the station sends nothing.
    var isSilent = false
    /// Largest part of the station that was kept.
    var most = (time: MediaDuration.zero, bytes: Int64(0))

    init(_ items: [String] = ["http://radio/"]) {
      let station = station
      group = TestGroup(items, producesAtOnce: false) { item throws(MediaError) in
        guard item.location.hasPrefix("http") else { return try openTestSource(item) }
        return Source(station)
      }
      group.joinReady()
      run(10)
    }

    mutating func run(_ seconds: Int) {
      for _ in 0..<seconds {
        if !isSilent { station.send() }
        let memory = station.memory
        most.time = max(most.time, memory.end.time - memory.oldest.time)
        most.bytes = max(most.bytes, memory.end.place - memory.oldest.place)
        group.handle(.kept("http://radio/", memory.stretch))
        produce()
        group.advance(by: .seconds(1))
        produce()
        group.take()
      }
    }

    mutating func produce() {
      while group.isAwaitingProduction, station.hasMore { group.produceOne() }
    }

    mutating func command(_ command: PlayerCommand) -> CommandReply? {
      defer { produce() }
      return group.command(command)
    }

    var status: GroupStatus { group.session.status(at: group.now) }
    var lateness: MediaDuration? { status.kept?.lateness(at: status.position) }
  }

  @Test func `pauses of 20 minutes lose nothing but what is skipped`() throws {
    var listening = Listening()
    #expect(listening.lateness == nil)
    var skipped: [MediaDuration] = []
    for _ in 0..<10 {
      #expect(listening.command(.pause) == .success(.done))
      listening.run(1)
      let place = listening.status.position
      listening.run(1_200)
      #expect(listening.status.position == place)
      #expect(listening.command(.resume) == .success(.done))
      listening.run(300)
      let after = listening.status
      #expect(after.position - place > .seconds(298) && after.position - place <= .seconds(300))
      let late = try #require(listening.lateness)
      #expect(late > .seconds(1_195) && late < .seconds(1_210))
      let before = listening.station.reads.count
      #expect(listening.command(.live) == .success(.done))
      listening.run(5)
      #expect(listening.lateness == nil)
      #expect(listening.status.state == .playing)
      #expect(listening.station.reads.count == before + 1)
      skipped.append(late)
    }
    // All was read in order, with one step ahead for each return to live.
    let reads = listening.station.reads
    #expect(reads.count == 11)
    for (one, next) in zip(reads, reads.dropFirst()) { #expect(next.lowerBound > one.upperBound) }
    #expect(listening.most.time <= StationMemory.longest + .seconds(1))
    #expect(listening.most.bytes <= StationMemory.byteLimit)
  }

  @Test func `a pause that is longer than what is kept goes on at its oldest`() throws {
    var listening = Listening()
    _ = listening.command(.pause)
    listening.run(5_000)
    _ = listening.command(.resume)
    listening.run(120)
    let (first, second) = (listening.station.reads[0], listening.station.reads[1])
    #expect(listening.station.reads.count == 2)
    #expect(second.lowerBound > first.upperBound)
    #expect(listening.status.state == .playing)
    // The position counts what was left out.
    let late = try #require(listening.lateness)
    #expect(late > .seconds(3_500) && late < .seconds(3_660))
  }

  @Test func `people go back in a station`() throws {
    var listening = Listening()
    listening.run(600)
    #expect(listening.command(.seek(to: .seconds(100))) == .success(.done))
    listening.run(10)
    #expect(listening.status.position > .seconds(108) && listening.status.position < .seconds(111))
    #expect(listening.command(.seekBy(.seconds(-200))) == .success(.done))
    listening.run(10)
    #expect(listening.status.position < .seconds(11))
    // Beyond what has come is live.
    #expect(listening.command(.seekBy(.seconds(50_000))) == .success(.done))
    listening.run(5)
    #expect(listening.lateness == nil)
    #expect(listening.status.state == .playing)
  }

  @Test func `the previous item is the title from its beginning`() throws {
    var listening = Listening(["8000x1:80000", "http://radio/"])
    _ = listening.command(.next)
    listening.station.memory.note(title: "One")
    listening.run(100)
    listening.station.memory.note(title: "Two")
    let begin = listening.station.memory.end.time
    listening.run(60)
    _ = listening.command(.previous)
    listening.run(2)
    let place = listening.status.position
    #expect(place > begin && place < begin + .seconds(3))
    // In its first seconds it is the item before.
    _ = listening.command(.previous)
    listening.run(2)
    #expect(listening.status.item?.item.location == "8000x1:80000")

    var alone = Listening()
    alone.station.memory.note(title: "One")
    alone.run(100)
    alone.station.memory.note(title: "Two")
    alone.run(60)
    _ = alone.command(.previous)
    alone.run(2)
    _ = alone.command(.previous)
    alone.run(2)
    #expect(alone.status.position > .seconds(10) && alone.status.position < .seconds(18))
  }

  @Test func `who listens late does not hear a failure`() {
    var listening = Listening()
    _ = listening.command(.pause)
    listening.run(300)
    _ = listening.command(.resume)
    listening.run(10)
    listening.isSilent = true
    let place = listening.status.position
    for _ in 0..<60 {
      listening.run(1)
      #expect(listening.status.state == .playing)
    }
    #expect(listening.status.position - place > .seconds(59))
    listening.isSilent = false
    listening.run(400)
    #expect(listening.status.state == .playing)
    #expect(listening.station.reads.count == 1)
  }

  @Test func `what is not kept is refused`() {
    var listening = Listening()
    listening.group.handle(.kept("http://radio/", nil))
    #expect(throws: CommandRefusal.self) { try listening.command(.seek(to: .zero))?.get() }
    #expect(throws: CommandRefusal.self) { try listening.command(.live)?.get() }
    #expect(listening.status.kept == nil)
    var file = Listening(["8000x1:80000"])
    #expect(throws: CommandRefusal.self) { try file.command(.live)?.get() }
  }

  @Test func `nothing is read on once the group is stopped or plays something else`() {
    weak var source: Source?
    let station = Station()
    var serializer: Serializer? = Serializer(
      openSource: { item throws(MediaError) in
        guard item.location.hasPrefix("http") else { return try openTestSource(item) }
        let opened = Source(station)
        source = opened
        return opened
      }, makeEncoder: makePCMEncoder)
    func begin(_ location: String, _ generation: UInt32) {
      _ = serializer?.produce(
        .begin(
          .init(
            item: PlayItem(id: 1, location: location), position: .zero, mediaTime: .zero,
            generation: generation, continues: false)))
    }
    begin("http://radio/", 0)
    #expect(source != nil)
    begin("8000x1:80000", 1)
    #expect(source == nil)
    begin("http://radio/", 2)
    _ = serializer?.produce(.leave(from: .zero, generation: 3))
    #expect(source == nil)
    serializer = nil
  }
}
