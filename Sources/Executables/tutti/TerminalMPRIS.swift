import Clock
import House
import LinuxIO
import MPRIS
import MPRISProtocol
import Sender
import Service

/// The player of a terminal on the session bus of its user.
final class TerminalMPRIS: LoopMember {
  private enum News {
    case request(PlayerRequest)
    case line(String)
  }

  /// Changes of settings while it is paused are no events; they are found at this interval.
  private static let interval = Nanoseconds.milliseconds(500)

  private let player: PlayerService
  private let bus: MediaPlayerBus
  private let inbox: Inbox<News>
  private var shown: UInt64?
  private var nextShow = LocalTime(nanoseconds: 0)

  init(_ player: PlayerService, reactor: Reactor) throws {
    self.player = player
    let inbox = Inbox<News>(limit: MediaPlayerBus.requestLimit, waker: reactor.waker)
    self.inbox = inbox
    bus = try MediaPlayerBus(
      .init(
        nowMs: { HostClock.milliseconds },
        ask: { request in
          // Only the bus's thread posts.
          guard inbox.hasRoom else { return false }
          inbox.post(.request(request))
          return true
        }, report: { inbox.post(.line($0)) }))
  }

  var nextDeadline: LocalTime? { nextShow }

  func handle(_ event: ReactorEvent) -> Bool { false }

  func turn() {
    for news in inbox.take() {
      switch news {
      case .line(let line): player.onWarning(line)
      case .request(let request):
        let refusal = refusal(of: request)
        if let number = request.number { bus.answer(number, refusal: refusal?.description) }
      }
    }
    let now = HostClock.now
    guard shown != player.revision || nextShow <= now else { return }
    (shown, nextShow) = (player.revision, now + Self.interval)
    bus.show([
      MediaPlayer.Shown(
        slug: nil, name: "Tutti",
        group: player.group.shown(
          name: "Tutti", isNamed: true, player.status, at: now),
        art: player.statusReport.artworkPath.map(BusText.address(ofFile:)))
    ])
  }

  func end() { bus.finish(withinMs: 300) }

  private func refusal(of request: PlayerRequest) -> Refusal? {
    do throws(Refusal) {
      switch request.wish {
      case .order(let order): try player.perform(order)
      case .open(let text):
        let entry = Order.NewEntry(location: try WebAddress(opening: text).text)
        try player.perform(
          .edit(group: request.group, .add([entry], at: .nowAndKeep), expected: nil))
      }
      return nil
    } catch {
      return error
    }
  }
}
