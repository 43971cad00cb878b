internal import CMPRIS
internal import Glibc
internal import MPRISProtocol

/// The loop of the bus's thread: all connections of all players.
final class BusLoop {
  /// Names that were said to people are remembered up to this number.
  private static let nameLimit = 64

  private let mail: BusMail
  private let means: MediaPlayerBus.Means
  /// The address of the bus; nil is that of this user.
  let address: String?
  private var players: [BusPlayer] = []
  private var lastNumber: UInt64 = 0
  private var isTroubled = false
  private var said: Set<String> = []

  init(_ mail: BusMail, _ means: MediaPlayerBus.Means, address: String?) {
    (self.mail, self.means, self.address) = (mail, means, address)
  }

  func run() {
    while true {
      let contents = mail.take()
      if let wanted = contents.players { follow(wanted) }
      for answer in contents.answers {
        for player in players { player.answer(answer.number, refusal: answer.refusal) }
      }
      if contents.isEnding { break }
      let now = means.nowMs()
      var isBusy = false
      for player in players where player.turn(at: now) { isBusy = true }
      wait(isBusy: isBusy)
    }
    players = []
    cmpris_wake(mail.ended)
  }

  private func follow(_ wanted: [MediaPlayer.Shown]) {
    let now = means.nowMs()
    players.removeAll { player in !wanted.contains { player.isSame(as: $0) } }
    for shown in wanted {
      if let player = players.first(where: { $0.isSame(as: shown) }) {
        player.show(shown, at: now)
      } else {
        players.append(BusPlayer(shown, self, at: now))
      }
    }
  }

  /// Waits until one of the connections, or another thread, has something, or something is due.
  private func wait(isBusy: Bool) {
    var descriptors = [pollfd(fd: mail.waker, events: Int16(POLLIN), revents: 0)]
    var wait: Double? = isBusy ? 0 : nil
    let now = means.nowMs()
    for player in players {
      if let descriptor = player.descriptor { descriptors.append(descriptor) }
      if let span = player.waitMs(at: now) { wait = min(wait ?? span, span) }
    }
    let limit = wait.map { Int32(min(max($0, 0), 60_000).rounded(.up)) } ?? -1
    // Fails if the kernel is out of memory.
    if poll(&descriptors, nfds_t(descriptors.count), limit) < 0, errno != EINTR { sleep(1) }
  }

  // MARK: - For its players

  /// The number of the request, or nil if too many wait.
  func ask(_ wish: PlayerRequest.Wish, of group: String, isAwaited: Bool) -> UInt64? {
    let number = lastNumber + 1
    let request = PlayerRequest(number: isAwaited ? number : nil, group: group, wish: wish)
    guard means.ask(request) else { return nil }
    lastNumber = number
    return number
  }

  var nowMs: Double { means.nowMs() }

  func noteLoss(_ reason: String) {
    guard !isTroubled else { return }
    isTroubled = true
    means.report("MPRIS: the session bus cannot be used: \(reason); it is tried again and again")
  }

  func noteName(_ name: String, of shown: String) {
    if isTroubled { means.report("MPRIS: the session bus can be used") }
    isTroubled = false
    if said.count >= Self.nameLimit { said = [] }
    if said.insert(name).inserted { means.report("MPRIS: \(shown) is \(name)") }
  }

  func noteNameless(_ name: String) {
    guard said.insert(name).inserted else { return }
    means.report("MPRIS: another program has the name \(name), so that nobody finds this player")
  }
}
