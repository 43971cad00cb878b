import Clock
import Sender
import Testing

struct MediaPacingTests {
  private static func after(
    _ looks: Int, queue: Nanoseconds, delivery: UInt64 = 2_000_000, needed: Double = 100e3,
    from pacing: MediaPacing = MediaPacing()
  ) -> MediaPacing {
    var pacing = pacing
    for _ in 0..<looks {
      pacing.observed(
        roundTrip: .milliseconds(10) + queue, shortest: .milliseconds(10), deliveryRate: delivery,
        needed: needed)
    }
    return pacing
  }

  @Test func `a free way is not limited`() {
    #expect(Self.after(100, queue: .milliseconds(1)).rate == MediaPacing.fastest)
  }

  @Test func `a queue is answered at once, from what arrives`() {
    #expect(Self.after(1, queue: .milliseconds(30)).rate == 1_500_000)
  }

  @Test func `twice what the music takes is never given up`() {
    #expect(Self.after(100, queue: .milliseconds(30)).rate == 200e3)
  }

  @Test func `a way that is free again is used again`() {
    let slow = Self.after(100, queue: .milliseconds(30))
    #expect(Self.after(100, queue: .zero, from: slow).rate == MediaPacing.fastest)
  }

  @Test func `a little delay changes nothing`() {
    let slow = Self.after(10, queue: .milliseconds(30))
    #expect(Self.after(10, queue: .milliseconds(6), from: slow).rate == slow.rate)
  }

  @Test func `a slow way is used in turns, four times as fast and a quarter of the time`() {
    #expect(MediaPacing().turnBytes == nil)
    #expect(MediaPacing().sendingRate == MediaPacing.fastest)
    let slow = Self.after(100, queue: .milliseconds(30))
    #expect(slow.sendingRate == 4 * slow.rate)
    #expect(slow.turnBytes == Int(slow.rate / 4))
  }

  @Test func `figures from nowhere stay within the limits`() {
    for needed in [0, 1e12, .infinity] {
      let rate = Self.after(3, queue: .seconds(3600), delivery: 0, needed: needed).rate
      #expect(rate >= 28e3)
      #expect(rate <= MediaPacing.fastest)
    }
  }
}
