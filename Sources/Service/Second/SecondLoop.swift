import Clock
import Driver
import LinuxIO
import OpenSSLSecurity
import Sender
import WireProtocol

/// The thread of `SecondDaemon`: carries out what `Leadership` decides.
final class SecondLoop {
  /// Whoever is to hear of it; called on this thread.
  struct Means {
    var shared: SecondDaemon.Shared
    var rooms: () -> [RoomRecord]
    var report: (String) -> Void
  }

  let mailbox: Mailbox<SecondLoop>
  var port: UInt16
  let joining: JoiningDesk
  private let reactor: Reactor
  private let link: DaemonLink
  private let terms: RoomTerms
  private let means: Means
  private let file: SecondFile
  private var record: SecondRecord
  /// The name that was chosen for the household here; nil where the other daemon's counts.
  private let chosen: String?
  private var leadership: Leadership
  private var files: SecondFiles
  private var clock = LeaderClock()
  private var heard: DaemonWord.Heard?
  private var nextLook = HostClock.now
  /// When it counts as missing; nil while it is there, and where nobody has joined.
  private var missingAt: LocalTime?
  private var isMissing = false
  /// To be called once what was said has left.
  private var said: [() -> Void] = []
  /// The term in which it leads once its files are written. Nothing is said before: who says so must be able to.
  private var comingTerm: Term?
  /// True once it has led: the files belong to the program that still ends, and a new process takes those of the other daemon.
  var hasLed = false
  /// Obstacles that were told, so that each is told once until the other daemon is there again.
  private var isDownTold = false
  private var complaint: String?
  /// Why this one, and the other one, does not keep what it is sent while it follows.
  private var obstacle: String?
  private var isOtherBehind = false
  /// The newest.
  private var notice: Leadership.Notice?

  init(
    _ settings: SecondDaemon.Settings, _ security: TLSContext, _ means: Means
  ) throws(IOError) {
    reactor = try Reactor()
    (mailbox, self.means) = (Mailbox(waker: reactor.waker), means)
    link = try DaemonLink(reactor: reactor, security: security, place: settings.place)
    terms = RoomTerms(reactor: reactor, security: security)
    joining = JoiningDesk(link, mailbox, directory: settings.directory, report: means.report)
    file = SecondFile(directory: settings.directory)
    files = try SecondFiles(directory: settings.directory)
    (record, port) = (settings.record, settings.port)
    chosen = settings.name
    leadership = Leadership(settings.record.memory, at: HostClock.now)
    joining.householdName = { [unowned self] in name }
    if record.address != nil { missingAt = HostClock.now + SecondDaemon.patience }
  }

  func run() {
    do throws(IOError) {
      while true { try turn() }
    } catch {
      means.report("the household's other daemon cannot be heard any more: \(error)")
    }
  }

  private func turn() throws(IOError) {
    let deadline = LocalTime?.earliest([
      leadership.nextDeadline, link.nextDeadline, joining.nextDeadline, missingAt,
    ])
    let events = try reactor.wait(until: deadline)
    for said in said { said() }
    said = []
    for event in events {
      link.take(event, take)
      terms.take(event, take)
    }
    mailbox.runJobs(in: self)
    link.turn(take)
    joining.turn(at: HostClock.now)
    if let time = missingAt, time <= HostClock.now {
      (missingAt, isMissing) = (nil, true)
    }
    handle(.timeout)
    let problem = problem
    means.shared.change { $0.problem = problem }
  }

  /// Calls `said` once the other daemon has been told that this one begins anew.
  func returns(_ said: @escaping () -> Void) {
    handle(.returns)
    self.said.append(said)
    reactor.waker.wake()
  }

  func isOutdated(by term: Term) { handle(.outdated(by: term)) }

  // MARK: - What happens

  private func take(_ event: DaemonLink.Event) {
    switch event {
    case .up(let address): isUp(at: address)
    case .down(let reason): isDown(reason)
    case .message(.word(let word)): take(word)
    case .message(let message): take(message)
    case .stranger(let name, let peer): joining.came(name, peer)
    case .strangerSaid(let name, let bytes): joining.said(name, bytes, at: HostClock.now)
    case .strangerLeft(let name): joining.left(name)
    }
  }

  private func isUp(at address: SocketAddress?) {
    (clock, heard, complaint, isDownTold) = (LeaderClock(), nil, nil, false)
    files.begin()
    (missingAt, isMissing) = (nil, false)
    means.shared.change {
      $0.isUp = true
      $0.host = address?.host ?? $0.host
    }
    // From now on the first daemon knows that there is a second one.
    guard record.memory.isFirst, let host = address?.host, record.address?.host != host else {
      return
    }
    record.address = DaemonPlace(host: host)
    keep()
  }

  private func isDown(_ reason: String) {
    means.shared.change { $0.isUp = false }
    if missingAt == nil, !isMissing { missingAt = HostClock.now + SecondDaemon.patience }
    guard !isDownTold else { return }
    isDownTold = true
    means.report("the household's other daemon cannot be reached: \(reason)")
  }

  private func take(_ word: DaemonWord) {
    let now = HostClock.now
    if word.word.leads, let heard = word.heard {
      clock.heard(
        sentAt: heard.sentAt, leaderHeardAt: heard.at, leaderSentAt: word.sentAt, at: now)
    }
    heard = .init(sentAt: word.sentAt, at: now)
    if word.word.leads { learn(word) }
    let wasBehind = isOtherBehind
    isOtherBehind = word.isBehind
    if isOtherBehind, !wasBehind { means.report(Self.otherIsBehind) }
    handle(.heard(word.word))
  }

  private func learn(_ word: DaemonWord) {
    means.shared.change { other in
      if !word.name.isEmpty { other.name = word.name }
      other.port = word.port
    }
    guard !leadership.isLeading, record.name != word.name, !word.name.isEmpty else { return }
    record.name = word.name
    keep()
  }

  private func take(_ message: DaemonMessage) {
    guard !hasLed else { return }
    let now = HostClock.now
    if !files.take(message, lead: clock.lead(at: now), at: now) {
      link.hangUp()
      isDown("it sends files with gaps")
    }
    tellProblems()
  }

  private func tellProblems() {
    for problem in files.takeProblems() { means.report(problem.sentence) }
  }

  private func take(_ event: RoomTerms.Event) {
    switch event {
    case .answered(let round, let reply): handle(.answered(round: round, reply))
    case .allAnswered(let round): handle(.allAnswered(round: round))
    }
  }

  private func handle(_ input: Leadership.Input) {
    leadership.handle(input, at: HostClock.now)
    while let output = leadership.nextOutput() { perform(output) }
  }

  // MARK: - What follows

  private func perform(_ output: Leadership.Output) {
    switch output {
    case .tell(let word): tell(word)
    case .ask(let round, let request): ask(request, round: round)
    case .keep(let memory):
      record.memory = memory
      keep()
    case .lead(let term): lead(term)
    case .follow:
      files.close()
      (joining.access, comingTerm) = (nil, nil)
      means.shared.tell(.follows)
    case .notice(.hearsNoFollower) where record.address == nil: break
    case .notice(let notice):
      self.notice = notice
      means.report(sentence(notice))
    }
  }

  /// Rooms are left alone while nobody has joined. Whose disk does not answer claims none: it could not go on.
  private func ask(_ request: TermRequest, round: Int) {
    let rooms =
      record.address == nil || request.isClaim && obstacle == SecondWriter.hangs
      ? [] : means.rooms()
    terms.ask(request, round: round, of: rooms) { event in mailbox.post { $0.take(event) } }
  }

  private var name: String { chosen ?? record.name ?? "" }

  private func tell(_ word: Leadership.Word) {
    guard comingTerm == nil else { return }
    let now = HostClock.now
    lookAtDisk(at: now)
    var said = DaemonWord(word: word, port: port, name: name, sentAt: now, heard: heard)
    said.isBehind = obstacle != nil
    link.send(said)
    // With the answer to its first word the other daemon knows this clock, before the streams come.
    guard leadership.isLeading, heard != nil, link.isUp, link.isIdle, nextLook <= now else {
      return
    }
    nextLook = now + Leadership.wordInterval
    link.send(files.changes(at: now))
    tellProblems()
  }

  private func lookAtDisk(at now: LocalTime) {
    let found = leadership.isLeading || hasLed ? nil : files.obstacle(at: now)
    guard found != obstacle else { return }
    obstacle = found
    if let found { means.report(Self.isBehind(found)) }
  }

  private func lead(_ term: Term) {
    (comingTerm, hasLed) = (term, true)
    let (now, mailbox) = (HostClock.now, mailbox)
    files.takeOver(lead: clock.lead(at: now), at: now) { mailbox.post { $0.tookOver(term) } }
    files.begin()
  }

  private func tookOver(_ term: Term) {
    guard comingTerm == term else { return }
    comingTerm = nil
    means.shared.tell(.leads(term))
  }

  private func keep() {
    do throws(IOError) { try file.write(record) } catch { complain(error) }
  }

  /// Music is worth more than a disk that keeps everything.
  private func complain(_ error: IOError) {
    guard complaint != "\(error)" else { return }
    complaint = "\(error)"
    means.report("what the household's two daemons share cannot be kept: \(error)")
  }

  /// Why the household's music would stop if one of the two failed; the same words for the log, pages and terminals.
  private var problem: String? {
    if leadership.isLeading {
      if record.memory.isFirst, record.address == nil { return Self.nobodyHasJoined }
      if isMissing { return sentence(.hearsNoFollower) }
      return isOtherBehind ? Self.otherIsBehind : nil
    }
    switch notice {
    case .roomsHearLeader?, .noRoomAnswers?: return notice.map(sentence)
    case .leads?, .follows?, .hearsNoFollower?, nil:
      return obstacle.map(Self.isBehind)
        ?? (isMissing ? "the household's other daemon\(place) does not answer" : nil)
    }
  }

  private var place: String { record.address.map { " at \($0.host)" } ?? "" }

  private static let nobodyHasJoined =
    "no second machine has joined yet, so nobody goes on with the music if this one fails: there, say tutti join-household and the name of this one"

  private static let otherIsBehind =
    "the household's other machine cannot keep what it is sent, and would go on with older queues: make room on its disk, or mend it"

  private static func isBehind(_ obstacle: String) -> String {
    "what the household's other daemon sends cannot be kept here, so that this one would go on with older queues: \(obstacle)"
  }

  private func sentence(_ notice: Leadership.Notice) -> String {
    switch notice {
    case .leads: "this machine leads the household"
    case .follows:
      "the household's other daemon leads; this one goes on with the music if that one cannot"
    case .roomsHearLeader:
      "the rooms hear the household's other daemon, and this machine does not: look at the network between the two"
    case .noRoomAnswers:
      "neither the household's other daemon nor a room answers: is this machine cut off from the network?"
    case .hearsNoFollower:
      "the household's other daemon\(place) does not answer: nobody goes on with the music if this machine fails"
    }
  }
}
