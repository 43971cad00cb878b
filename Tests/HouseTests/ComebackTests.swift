import Clock
import Testing
import WireProtocol

@testable import House
@testable import Sender

/// Tests of the decision which groups go on with what their rooms still play.
@Suite struct ComebackTests {
  private static let record = StreamRecord(
    state: .playing, clockID: 5, clockLead: .seconds(3), generation: 2, nextSequence: 100,
    heldByAll: .zero + .seconds(100), heldByOne: .zero + .seconds(110),
    anchors: [
      Anchor(mediaTime: .zero, groupTime: GroupTime(nanoseconds: 1), rate: .playing)
    ], segments: [.init(start: .zero, entry: 4, position: .zero)])

  private func house(isPlaying: Bool = true, entry: Int = 4) -> HouseRecord {
    var group = HouseRecord.Group(id: "a", name: nil)
    group.isPlaying = isPlaying
    group.queue = QueueRecord([.init(id: entry, rank: 0, .init(location: "/song.flac"))])
    group.place = QueuePlace(entry: entry, seconds: 7)
    var record = HouseRecord()
    record.groups = [group]
    return record
  }

  private func comeback(_ house: HouseRecord, after seconds: Int64?) -> Comeback {
    let streams = seconds == nil ? [:] : ["a": Self.record]
    let now = LocalTime(nanoseconds: -3_000_000_000) + .seconds(seconds ?? 0)
    return Comeback(house, after: LeftMusic(streams: streams), at: now)
  }

  @Test func `a stream goes on while rooms hold it, and begins anew where they ran dry`() throws {
    #expect(comeback(house(), after: 50).successions["a"] != nil)
    #expect(comeback(house(), after: 105).successions["a"] != nil)
    let late = comeback(house(), after: 200)
    #expect(late.successions.isEmpty)
    #expect(late.beginning.first?.place == QueuePlace(entry: 4, seconds: 110))
  }

  @Test func `without a stream, or with one that the list does not know, it begins as it was kept`()
  {
    let place = QueuePlace(entry: 4, seconds: 7)
    #expect(comeback(house(), after: nil).beginning.first?.place == place)
    let other = comeback(house(entry: 9), after: 50)
    #expect(other.successions.isEmpty && other.beginning.first?.place?.seconds == 7)
    #expect(comeback(house(isPlaying: false), after: nil).beginning.isEmpty)
  }

  @Test(arguments: [(true, 30.0), (false, 110)])
  func `rooms that have run dry are given the place that was chosen last`(
    isChosen: Bool, seconds: Double
  ) {
    var record = Self.record
    // The rooms had not said yet that they hold anything behind the cut.
    let cut = MediaTime.zero + .seconds(isChosen ? 112 : 100)
    record.cuts = [.init(generation: 2, from: cut, isRamped: true)]
    record.beginning = .init(entry: 4, position: .seconds(30), start: .zero + .seconds(112))
    let late = Comeback(
      house(), after: LeftMusic(streams: ["a": record]),
      at: LocalTime(nanoseconds: -3_000_000_000) + .seconds(200))
    #expect(late.beginning.first?.place == QueuePlace(entry: 4, seconds: seconds))
    record.beginning?.resumes = true
    let left = Comeback(
      house(), after: LeftMusic(streams: ["a": record]),
      at: LocalTime(nanoseconds: -3_000_000_000) + .seconds(200))
    let place = isChosen ? QueuePlace(turnOf: 4) : QueuePlace(entry: 4, seconds: seconds)
    #expect(left.beginning.first?.place == place)
  }

  /// The tables had the choice, and the file of the streams did not yet.
  @Test(arguments: [4, 9]) func `an entry that was chosen after the stream was kept is played`(
    beginning: UInt64
  ) {
    var house = house()
    house.groups[0].queue = QueueRecord(
      [4, 9].map { .init(id: $0, rank: Int64($0), .init(location: "/song.flac")) })
    house.groups[0].place = QueuePlace(turnOf: 9)
    var record = Self.record
    record.beginning = .init(entry: beginning, position: .zero, start: .zero + .seconds(112))
    let comeback = Comeback(
      house, after: LeftMusic(streams: ["a": record]),
      at: LocalTime(nanoseconds: -3_000_000_000) + .seconds(50))
    #expect(comeback.successions.isEmpty == (beginning == 4))
    #expect(comeback.beginning.map(\.place) == (beginning == 4 ? [QueuePlace(turnOf: 9)] : []))
    // The tables' entry sounded when they were written: the stream is the newer one.
    house.groups[0].place = QueuePlace(entry: 9, seconds: 0)
    let other = Comeback(
      house, after: LeftMusic(streams: ["a": record]),
      at: LocalTime(nanoseconds: -3_000_000_000) + .seconds(50))
    #expect(!other.successions.isEmpty)
  }

  @Test func `what ends the program again and again is not gone on with`() {
    let left = LeftMusic(streams: ["a": Self.record], deaths: Resumption.deathLimit)
    #expect(Comeback(house(), after: left, at: LocalTime(nanoseconds: 0)).successions.isEmpty)
  }
}
