import Driver
import Sender
import Testing

@testable import Service

/// Announcements that are made at a time.
@Suite struct ClipPlacesTests {
  private static let guests = ClipMaker.Sound.item(location: "http://a/", reach: .internet)
  private static let own = ClipMaker.Sound.item(location: "http://b/", reach: .network)

  @Test func `what hangs holds up no other kind, and never the doorbell`() {
    var places = ClipPlaces()
    for sound in [Self.guests, Self.own, .words("a")] {
      let taken = (0..<3).map { _ in places.take(for: sound) }
      #expect(taken == [true, true, false])
    }
    let chimes = (0..<9).map { _ in places.take(for: .none) }
    #expect(chimes.allSatisfy { $0 })
    places.giveBack(for: Self.guests)
    let after = [Self.own, Self.guests, Self.guests].map { places.take(for: $0) }
    #expect(after == [false, true, false])
  }
}
