import Clock
import Dispatch
import FFmpegSource
import TestSupport
import Testing

@testable import Driver
@testable import Sender

/// Live sources that read a card (`virtual_input.c`), in real time.
@Suite struct CardFeedTests {
  private static let settings = LiveFeed.Settings(latency: .milliseconds(400))

  @Test(.timeLimit(.minutes(3)))
  func `a card that is lost is closed at once, and heard again when it is back`() throws {
    let input = try VirtualInput()
    let (away, back) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let feed = try LiveFeed(
      .card(input.device), Self.settings, interruption: ReadInterruption(),
      report: { notice in
        switch notice {
        case .away: away.signal()
        case .back: back.signal()
        default: break
        }
      })
    defer { feed.stop() }
    try input.set(.vanish)
    away.wait()
    try input.clear(.vanish)
    // Who opens it now finds it free.
    try LiveFeed(.card(input.device), Self.settings, interruption: ReadInterruption()).stop()
    back.wait()
  }
}
