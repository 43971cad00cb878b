import Clock
import Testing
import WireProtocol

@testable import Receiver

/// The log of an evening: figures at intervals, and two lines for each problem.
@Suite struct RoomDiaryTests {
  private struct Evening {
    var diary = RoomDiary(interval: .seconds(600))
    var now = LocalTime(nanoseconds: 0)
    var status = RoomStatus.playing
    var ignored = IgnoredCounts()

    mutating func seconds(_ count: Int) -> [ReceiverEvent] {
      var told: [ReceiverEvent] = []
      for _ in 0..<count {
        now = now + .seconds(1)
        if diary.isDue(at: now) {
          diary.ignored = ignored
          told += diary.look(at: status, now: now)
        }
      }
      return told
    }
  }

  @Test func `a good evening is a line of figures each ten minutes`() throws {
    var evening = Evening()
    evening.status.syncError.now = .microseconds(12)
    let told = evening.seconds(1_805)
    #expect(told.count == 3)
    guard case .figures(let figures) = told[0] else { throw Unexpected(told) }
    #expect(figures.time == .seconds(600))
    #expect(figures.syncError.maximum == .microseconds(12))
    #expect(figures.leastBuffered == .seconds(30))
    #expect(figures.faults == RoomFaults())
  }

  @Test func `figures say how many datagrams were forged since the last ones`() throws {
    var evening = Evening()
    evening.ignored.forged = 7
    #expect(evening.seconds(10) == [])
    evening.ignored.forged = 9
    var told = evening.seconds(600)
    evening.ignored.forged = 10
    told += evening.seconds(600)
    let forged = told.compactMap {
      if case .figures(let figures) = $0 { figures.ignored.forged } else { nil }
    }
    #expect(forged == [9, 1])
  }

  @Test func `the cause of a room's trouble is the one that explains the other faults`() {
    func cause(_ change: (inout RoomStatus) -> Void) -> RoomFaults.Cause {
      var status = RoomStatus.playing
      change(&status)
      return RoomFaults(of: status, after: .playing).cause(in: status)
    }
    #expect(cause { _ in } == .outOfStep)
    #expect(cause { $0.lostPackets += 1 } == .leftOut)
    #expect(cause { ($0.lostPackets, $0.latePackets) = (1, 1) } == .slowDelivery)
    #expect(cause { ($0.corruptPackets, $0.latePackets) = (1, 1) } == .undecodable)
    #expect(cause { ($0.corruptPackets, $0.underruns) = (1, 1) } == .busyMachine)
    #expect(cause { $0.state = .starved } == .slowDecoding)
    #expect(
      cause {
        $0.state = .starved
        $0.bufferedUntil = $0.playhead + RoomFaults.plenty
      } == .noDelivery)
  }

  @Test func `a bad minute is two lines, however much goes wrong in it`() throws {
    var evening = Evening()
    #expect(evening.seconds(10) == [])
    var told: [ReceiverEvent] = []
    for count in 1...60 {
      evening.status.latePackets += 3
      if count % 7 == 0 { evening.status.lostPackets += 1 }
      evening.diary.late(by: .milliseconds(Int64(count)))
      told += evening.seconds(1)
    }
    evening.status.syncError.now = .microseconds(5)
    told += evening.seconds(100)
    #expect(told.count == 2)
    guard case .worse(let first, let status) = told[0] else { throw Unexpected(told) }
    #expect(first.late == 3 && first.worstLateness == .milliseconds(1))
    #expect(status.latePackets == 3)
    guard case .wellAgain(let after, let faults) = told[1] else { throw Unexpected(told) }
    #expect(after == .seconds(59))
    #expect(faults.late == 180 && faults.lost == 8)
    #expect(faults.worstLateness == .milliseconds(60))
  }

  @Test(arguments: ["starved", "apart", "dry", "corrupt"])
  func `each kind of trouble is told at once`(kind: String) {
    var evening = Evening()
    #expect(evening.seconds(5) == [])
    switch kind {
    case "starved": evening.status.state = .starved
    case "apart": evening.status.syncError.now = .milliseconds(-3)
    case "dry": evening.status.underruns = 1
    default: evening.status.corruptPackets = 1
    }
    #expect(evening.seconds(1).count == 1)
  }

  @Test func `counts that begin anew with another sender are no trouble`() {
    var evening = Evening()
    evening.status.latePackets = 40
    #expect(evening.seconds(5) == [])
    evening.status.latePackets = 0
    #expect(evening.seconds(5) == [])
  }

  @Test func `nothing is told of a room that does not play, and it need not be woken`() {
    var evening = Evening()
    #expect(evening.seconds(100) == [])
    evening.status.state = .paused
    #expect(evening.seconds(1).count == 1)
    evening.status.latePackets = 9
    #expect(evening.seconds(5) == [])
    #expect(evening.diary.nextDeadline == nil)
  }

  private struct Unexpected: Error {
    let told: [ReceiverEvent]
    init(_ told: [ReceiverEvent]) { self.told = told }
  }
}

extension RoomStatus {
  fileprivate static var playing: RoomStatus {
    RoomStatus(
      state: .playing, detail: "", playhead: MediaTime(flicks: 0),
      bufferedUntil: MediaTime(flicks: 0) + .seconds(30), heldBytes: 0,
      syncError: SyncErrorStatistics(now: .zero, median: .zero, p99: .zero, maximum: .zero),
      clockErrorBound: .zero, roundTrip: .zero, commitHorizon: .zero, clockDrift: 0,
      deviceDrift: 0, underruns: 0, latePackets: 0, lostPackets: 0, corruptPackets: 0)
  }
}
