import Dispatch
import Driver
import Pairing
import Sender
import Synchronization
import Testing
import WireProtocol

import enum House.Refusal

@testable import House
@testable import Service

/// Tests of pairing from a page, with simulated rooms.
@Suite struct HousePairingTests {
  private static let kitchen = Identifier(hex: String(repeating: "1", count: 32))

  /// The answers of rooms, and a record of what was done.
  private final class Bed: PairingHousehold {
    struct State {
      var answers: [PairingReport] = []
      var begun = 0
      var visits: [PairingVisit.Purpose] = []
      var stored = Pairings()
      var told: [Pairings] = []
    }

    let state = Mutex(State())
    /// Visits wait for this.
    let gate = DispatchSemaphore(value: 0)
    /// True for each attempt that is refused; false for each that fails otherwise, or is a visit too many.
    let outcomes: AsyncStream<Bool>
    let outcome: AsyncStream<Bool>.Continuation

    init(_ answers: PairingReport...) {
      (outcomes, outcome) = AsyncStream.makeStream()
      state.withLock { $0.answers = answers }
    }

    func pairingRoom(_ id: String) throws(Refusal) -> PairingRoom {
      guard !id.hasPrefix("x") else { throw .noSuch("there is no such room") }
      if id.hasPrefix("at") {
        return PairingRoom(
          name: "Kitchen", place: .address(host: "10.0.0.9", port: 1),
          receiver: id == "at known" ? HousePairingTests.kitchen?.hex : nil)
      }
      let record = RoomRecord(
        id: id, name: "Kitchen", model: "", state: .free, addresses: [], port: 1, codecs: [])
      return PairingRoom(name: "Kitchen", place: .record(record))
    }

    func paired(_ pairings: Pairings) { state.withLock { $0.told.append(pairings) } }

    func pairing(waits: Bool = false) -> HousePairing {
      HousePairing(
        house: self, senderName: "the study",
        means: .init(
          visit: { purpose, _ in
            if waits {
              let count = self.state.withLock { state in
                state.begun += 1
                return state.begun
              }
              if count > HousePairing.visitLimit { self.outcome.yield(false) }
              self.gate.wait()
            }
            return self.state.withLock { state in
              state.visits.append(purpose)
              return state.answers.isEmpty ? .unreachable("no answer") : state.answers.removeFirst()
            }
          },
          change: { change in
            self.state.withLock { state in
              switch change {
              case .add(let pairing): state.stored.add(pairing)
              case .remove(let id): Identifier(hex: id).map { _ = state.stored.remove($0) }
              }
              return state.stored
            }
          }, paired: { self.state.withLock(\.stored) }))
    }

    var visitCount: Int { state.withLock { $0.visits.count } }
  }

  private func kitchen() throws -> Identifier { try #require(Self.kitchen) }

  @Test func `the PIN of a room pairs it, and the household hears of it`() async throws {
    let id = try kitchen()
    let bed = Bed(.paired(id, name: "Kitchen"))
    try await bed.pairing().pair(room: id.hex, pin: "1234-5671")
    let expected = Pairings([.init(id: id, name: "Kitchen")])
    #expect(bed.state.withLock { $0.visits } == [.pair(try PIN("1234 5671"))])
    #expect(bed.state.withLock { $0.told } == [expected])
    #expect(bed.state.withLock { $0.stored } == expected)
  }

  @Test
  func `a slip of the finger is told apart from a wrong PIN, and the room hears nothing of it`()
    async throws
  {
    let bed = Bed(.wrongPIN)
    let pairing = bed.pairing()
    await #expect(throws: Refusal.invalid("A PIN has eight digits, such as 1234 5671.")) {
      try await pairing.pair(room: kitchen().hex, pin: "1234")
    }
    let slip = "One of the digits is wrong: the last one checks the others. Nothing was sent."
    await #expect(throws: Refusal.invalid(slip)) {
      try await pairing.pair(room: kitchen().hex, pin: "1234 5672")
    }
    #expect(bed.visitCount == 0)
    let wrong = "That is not the PIN of Kitchen. It is shown there by: tutti-receiver pin"
    await #expect(throws: Refusal.invalid(wrong)) {
      try await pairing.pair(room: kitchen().hex, pin: "1234 5671")
    }
    #expect(bed.state.withLock { $0.told }.isEmpty)
  }

  @Test func `after too many wrong PINs, the time to wait is told in whole seconds`() async throws {
    let bed = Bed(.refused(PairingRefusal(reason: .wait, wait: 29_001, detail: "")))
    let pairing = bed.pairing()
    await #expect {
      try await pairing.pair(room: kitchen().hex, pin: "1234 5671")
    } throws: { error in
      guard case Refusal.tooMany(_, retryAfterS: 30) = error else { return false }
      return true
    }
  }

  @Test func `a room is visited by one at a time, and few rooms at once`() async throws {
    let bed = Bed()
    let pairing = bed.pairing(waits: true)
    await withTaskGroup { group in
      let rooms = (0..<HousePairing.visitLimit).map { "\($0)" }
      // Each room twice, and one room too many.
      let attempts = rooms + rooms + ["9"]
      for room in attempts {
        group.addTask {
          do {
            try await pairing.pair(room: room, pin: "1234 5671")
          } catch {
            bed.outcome.yield("\(error)".contains("Somebody else"))
          }
        }
      }
      var refused = 0
      // Refused visits return while the others are still under way.
      for await isRefused in bed.outcomes {
        if isRefused { refused += 1 }
        if !isRefused || refused == rooms.count + 1 { break }
      }
      #expect(refused == rooms.count + 1)
      // The list is shown meanwhile.
      let list = try? await pairing.answer(.list).pairings
      #expect(list == Pairings())
      for _ in attempts { bed.gate.signal() }
    }
    #expect(bed.visitCount == HousePairing.visitLimit)
  }

  @Test func `a room that is known by its address is unpaired as well`() async throws {
    let id = try kitchen()
    let bed = Bed(.paired(id, name: "Kitchen"), .unpaired)
    let pairing = bed.pairing()
    try await pairing.pair(room: "at known", pin: "1234 5671")
    await #expect {
      try await pairing.unpair(room: "at unknown")
    } throws: { "\($0)".contains("was not reached yet") }
    try await pairing.unpair(room: "at known")
    #expect(bed.state.withLock { $0.told.last } == Pairings())
  }

  @Test func `a room that cannot be told is forgotten here, and its people learn what to do`()
    async throws
  {
    let id = try kitchen()
    let bed = Bed(.paired(id, name: "Kitchen"), .unreachable("no answer"))
    let pairing = bed.pairing()
    try await pairing.pair(room: id.hex, pin: "1234 5671")
    await #expect {
      try await pairing.unpair(room: id.hex)
    } throws: { error in
      guard case Refusal.unavailable(let line) = error else { return false }
      return line.contains("could not be told (it does not answer)")
        && line.hasSuffix("tutti-receiver unpair 'the study'")
    }
    #expect(bed.state.withLock { $0.told.last } == Pairings())
  }

  @Test func `a room that does not answer is told of without addresses`() async throws {
    let bed = Bed(.unreachable("[fe80::1%eth0]:7770: connection refused"))
    let id = try kitchen().hex
    let line = "Kitchen does not answer; see whether it is switched on, then try again."
    await #expect(throws: Refusal.unavailable(line)) {
      try await bed.pairing().pair(room: id, pin: "1234 5671")
    }
  }

  @Test func `a terminal pairs a room that it has found, lists it, and has it forgotten`()
    async throws
  {
    let id = try kitchen()
    let bed = Bed(.wrongPIN, .paired(id, name: "Kitchen"), .unpaired)
    let pairing = bed.pairing()
    let place = PairingRoom.Place.address(host: "10.0.0.9", port: 1)
    let attempt = PairingRequest.pair(name: "10.0.0.9:1", place: place, pin: "1234 5671")
    #expect(try await pairing.answer(attempt).report == .wrongPIN)
    #expect(bed.state.withLock { $0.told }.isEmpty)
    #expect(try await pairing.answer(attempt).report == .paired(id, name: "Kitchen"))
    let expected = Pairings([.init(id: id, name: "Kitchen")])
    #expect(bed.state.withLock { $0.told } == [expected])
    #expect(try await pairing.answer(.list).pairings == expected)
    let farewell = PairingRequest.unpair(name: "Kitchen", place: place)
    #expect(try await pairing.answer(farewell).report == .unpaired)
    #expect(try await pairing.answer(.forget(receivers: [id.hex])).pairings == Pairings())
    #expect(bed.state.withLock { $0.told.last } == Pairings())
  }

  @Test(arguments: [
    PairingReport.unpaired, .wrongPIN, .unreachable("no answer"),
    .refused(PairingRefusal(reason: .wait, wait: 29_001, detail: "")),
  ])
  func `a terminal is told what the room said`(_ report: PairingReport) async throws {
    let place = PairingRoom.Place.address(host: "10.0.0.9", port: 1)
    let attempt = PairingRequest.pair(name: "Kitchen", place: place, pin: "1234 5671")
    let bed = Bed(report)
    #expect(try await bed.pairing().answer(attempt).report == report)
    #expect(bed.state.withLock { $0.told }.isEmpty)
  }

  @Test func `a room says its PIN for a page and for a terminal, and pairs nobody by that`()
    async throws
  {
    let bed = Bed(.sayingPIN, .sayingPIN)
    let pairing = bed.pairing()
    try await pairing.sayPIN(room: "at known")
    let place = PairingRoom.Place.address(host: "10.0.0.9", port: 1)
    let answer = try await pairing.answer(.sayPIN(name: "Kitchen", place: place))
    #expect(answer.report == .sayingPIN)
    #expect(bed.state.withLock { $0.visits } == [.sayPIN, .sayPIN])
    #expect(bed.state.withLock { $0.told }.isEmpty)
  }

  @Test(arguments: [
    (
      PairingRefusal(reason: .wait, wait: 59_500, detail: "enough"),
      Refusal.tooMany("Kitchen: enough; it says it again in 60 s", retryAfterS: 60)
    ),
    (
      PairingRefusal(reason: .notPossible, detail: "it is busy"),
      .unavailable("Kitchen: it is busy")
    ),
  ])
  func `a page is told why a room says no PIN`(
    _ refusal: PairingRefusal, _ expected: Refusal
  ) async throws {
    let bed = Bed(.keptSilent(refusal))
    await #expect(throws: expected) { try await bed.pairing().sayPIN(room: "at known") }
  }

  @Test func `a room that nobody knows is not visited`() async throws {
    let bed = Bed()
    await #expect(throws: Refusal.noSuch("there is no such room")) {
      try await bed.pairing().pair(room: "x", pin: "1234 5671")
    }
    #expect(bed.visitCount == 0)
  }
}
