import Audio
import Clock
import WireProtocol

/// Live streams: the session takes their packets from datagrams.
extension ReceiverSession {
  mutating func setLive(_ stream: LiveStream?, at now: LocalTime) {
    guard let stream, let cipher = configuration.cipher, let clock else {
      live = nil
      playout.use(nil)
      return applySound()
    }
    if live?.stream.key == stream.key {
      live?.renew(stream, at: now)
    } else {
      live = LiveReceiver(stream, clockID: clock.clockID, cipher: cipher, at: now)
    }
    playout.use(stream)
    applySound()
  }

  mutating func receivedAudio(_ bytes: [UInt8], at time: LocalTime) {
    guard link != nil, live != nil else { return }
    live?.received(bytes, at: time, generation: playout.generation) { [playout] in
      playout.dueTime(of: $0, at: time)
    }
  }

  mutating func advanceLive(to now: LocalTime) {
    guard let link, live != nil else { return }
    live?.advance(to: now, roundTrip: clock?.roundTrips ?? .init()) { [playout] in
      playout.dueTime(of: $0, at: now)
    }
    for step in live?.takeSteps() ?? [] {
      switch step {
      case .packet(let packet, let format):
        playout.define(format, id: packet.formatID)
        insert(packet, at: now, isDatagram: true)
      case .goBack: playout.mayGoBack()
      case .conceal(let start, let span):
        perform(playout.conceal(from: start, for: span, mayDecode: !hasUndeliveredCommands))
      case .skip(let count): playout.countMissing(count)
      case .ask(let numbers): ask(for: numbers, link)
      case .report(let report): send(.liveReport(report))
      }
    }
  }

  private mutating func ask(for numbers: [UInt64], _ link: SenderLink) {
    guard let live else { return }
    self.link?.askCount += 1
    let ask = LiveAsk(
      clockID: link.hello.clockID, keyID: TimeRequest.keyID(ofSession: link.hello.session),
      sequence: self.link?.askCount ?? 0, missing: numbers)
    outputs.append(
      .sendAsk(
        ask.encoded(key: ClockKey(link.secured.clockKey)), toHostOf: link.control,
        port: live.stream.port))
  }
}
