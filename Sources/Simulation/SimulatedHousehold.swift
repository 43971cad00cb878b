package import Clock
import Receiver
package import Sender
package import WireProtocol

/// A question about terms that a room is to answer.
struct TermQuestion {
  let daemon: Int
  let round: Int
  let room: Int
}

/// A household with two daemons, of which one leads.
extension SimulatedGroup {
  func startDaemons() {
    for number in daemons.indices { powerOn(number) }
  }

  // MARK: - What happens to them

  package func powerOn(_ number: Int) {
    let daemon = daemons[number]
    guard daemon.leadership == nil else { return }
    daemon.forgetLeader()
    daemon.leadership = Leadership(daemon.memory, at: local(daemon))
    leadership(of: daemon, .timeout)
  }

  /// Nobody hears of it: connections end without a word.
  package func pullPlug(_ number: Int) {
    for connection in daemons[number].sender?.connections ?? [] { connection.senderHolds = false }
    turnOff(number)
  }

  /// Its machine closes the connections.
  package func killDaemon(_ number: Int) {
    for connection in daemons[number].sender?.connections ?? [] { letGo(connection, "killed") }
    turnOff(number)
  }

  private func turnOff(_ number: Int) {
    (daemons[number].sender, daemons[number].leadership) = (nil, nil)
  }

  /// Cuts the daemon off from these rooms, and from the other daemon if `alone`.
  package func split(_ number: Int, from lost: Set<Int>, alone: Bool) {
    daemons[number].lostRooms = lost
    if alone { isLinkCut = true }
  }

  package func cutNetwork(of number: Int) { daemons[number].isPartitioned = true }

  package func heal() {
    isLinkCut = false
    for daemon in daemons { (daemon.isPartitioned, daemon.lostRooms) = (false, []) }
    for room in rooms.indices { release(room) }
  }

  package func command(_ command: PlayerCommand, to number: Int) {
    serveSender([.command(CommandID(UInt64(7_000_000 + eventCount)), command)], of: number)
  }

  // MARK: - Results

  package var leaders: [Int] { daemons.filter { $0.sender != nil }.map(\.number) }

  /// Group time by a daemon that leads, less that of the first one's machine.
  package func clockDifference(of number: Int) -> Nanoseconds? {
    let daemon = daemons[number]
    guard let clock = daemon.sender?.session.clock else { return nil }
    return clock.group(local(daemon)) - daemons[0].host.value.groupTime(at: now)
  }

  /// True if it leads, and the other one does so in a newer term.
  func isOutdated(_ number: Int) -> Bool {
    daemons[number].sender != nil && takeovers.last?.daemon != number
  }

  package func isOn(_ number: Int) -> Bool { daemons[number].isOn }

  /// The daemon that leads in the newest term.
  var leading: Int { takeovers.last?.daemon ?? 0 }

  package func term(of number: Int) -> Term { daemons[number].memory.term }

  /// The newest term whose daemon the room has welcomed.
  package func welcomedTerm(of room: Int) -> Term { rooms[room].welcomedTerm }

  // MARK: - Leadership

  private func local(_ daemon: SimulatedDaemon) -> LocalTime { daemon.host.value.local(at: now) }

  func leadership(of daemon: SimulatedDaemon, _ input: Leadership.Input) {
    guard daemon.leadership != nil else { return }
    let reaches = daemon.sender == nil || now < daemon.heardRoom + .seconds(2)
    daemon.leadership?.handle(.reachesRooms(reaches), at: local(daemon))
    daemon.leadership?.handle(input, at: local(daemon))
    while let output = daemon.leadership?.nextOutput() { perform(output, daemon) }
    guard let deadline = daemon.leadership?.nextDeadline else { return }
    let due = max(daemon.host.value.trueTime(of: deadline, after: now), now + Nanoseconds(20_000))
    guard daemon.nextWake.map({ $0 <= now || $0 > due }) ?? true else { return }
    daemon.nextWake = due
    schedule(
      .action { group in
        guard daemon.nextWake == due else { return }
        group.leadership(of: daemon, .timeout)
      }, at: due)
  }

  private func perform(_ output: Leadership.Output, _ daemon: SimulatedDaemon) {
    switch output {
    case .tell(let word): send(word, from: daemon)
    case .ask(let round, let request): ask(request, round: round, from: daemon)
    case .keep(let memory): daemon.memory = memory
    case .lead(let term): lead(term, daemon)
    case .follow:
      for connection in daemon.sender?.connections ?? [] { letGo(connection, "follows") }
      daemon.sender = nil
      daemon.forgetLeader()
    case .notice: break
    }
  }

  /// Goes on with what the leader has sent last.
  private func lead(_ term: Term, _ daemon: SimulatedDaemon) {
    processCount += 1
    var random = SplitMix64(seed: configuration.seed, part: 2000 + UInt64(processCount))
    var legacy: (list: Playlist, succession: StreamSuccession?)?
    var begin: PlayerCommand?
    if var followed = daemon.followed, let lead = daemon.clock.lead(at: local(daemon)) {
      followed.clockLead = followed.clockLead + lead
      daemon.kept = followed
    }
    daemon.followed = nil
    if let kept = daemon.kept {
      legacy = (daemon.list, nil)
      switch StreamFate(of: kept, in: daemon.list, at: local(daemon)) {
      case .goesOn(let succession): legacy?.succession = succession
      case .beginsAnew(let entry, let position): begin = .jump(to: entry, at: position)
      case .over, .unknown: break
      }
    }
    daemon.kept = legacy?.succession?.claim
    daemon.sender = SimulatedSender(
      configuration, process: processCount, random: &random, on: daemon, term: term, after: legacy)
    daemon.heardRoom = now
    for room in rooms where room.isMember { add(room.index, to: daemon.number) }
    if let begin { command(begin, to: daemon.number) }
    takeovers.append((now, daemon.number, term))
  }

  // MARK: - Between them

  /// Keeps the record, and sends it to the other one.
  func keep(_ record: StreamRecord?, of sender: SimulatedSender) {
    sender.daemon.kept = record
    sender.daemon.sleptWhenKept = sender.host.value.slept(at: now)
    sender.daemon.list = sender.session.playlist
    if daemons.count > 1 { replicate(from: sender.daemon) }
  }

  private func replicate(from daemon: SimulatedDaemon) {
    let (record, list) = (daemon.kept, daemon.list)
    toOther(of: daemon) { $0.take(record, list, $1) }
  }

  /// Keeps the record by this machine's clock, too, for a process that starts anew.
  private func take(_ record: StreamRecord?, _ list: Playlist, _ daemon: SimulatedDaemon) {
    guard daemon.sender == nil else { return }
    (daemon.list, daemon.followed, daemon.kept) = (list, record, nil)
    guard var record, let lead = daemon.clock.lead(at: local(daemon)) else { return }
    record.clockLead = record.clockLead + lead
    daemon.kept = record
  }

  /// Carries out `body` with the other daemon, if the network brings it there.
  private func toOther(
    of daemon: SimulatedDaemon, _ body: @escaping (SimulatedGroup, SimulatedDaemon) -> Void
  ) {
    let other = daemons[1 - daemon.number]
    guard canTalk else { return }
    let delay = Nanoseconds(seconds: 2e-4 + linkRandom.exponential(mean: 1e-4))
    schedule(
      .action { group in
        guard group.canTalk, other.leadership != nil else { return }
        body(group, other)
      }, at: now + delay)
  }

  private var canTalk: Bool { !isLinkCut && !daemons.contains(where: \.isPartitioned) }

  private func send(_ word: Leadership.Word, from daemon: SimulatedDaemon) {
    guard daemons.count > 1 else { return }
    let (sentAt, heard) = (local(daemon), daemon.heard)
    // The stream's state goes with the word, for one that has missed it.
    if word.leads { replicate(from: daemon) }
    toOther(of: daemon) { group, other in
      let now = group.local(other)
      other.heard = (sentAt, now)
      if word.leads, let heard {
        other.clock.heard(
          sentAt: heard.sentAt, leaderHeardAt: heard.at, leaderSentAt: sentAt, at: now)
      }
      group.leadership(of: other, .heard(word))
    }
  }

  // MARK: - Rooms

  private func ask(_ request: TermRequest, round: Int, from daemon: SimulatedDaemon) {
    termQuestions = termQuestions.filter { $0.value.daemon != daemon.number }
    for room in rooms.indices {
      connectionCount += 1
      let id = ConnectionID(connectionCount)
      termQuestions[id.number] = .init(daemon: daemon.number, round: round, room: room)
      let peer = SecuredPeer.simulated(.simulatedSender, connection: id.number)
      // TCP's handshake, TLS's, and the request.
      let there = now + Nanoseconds(5 * rooms[room].down.value.delay(at: now).count)
      let inputs: [ReceiverSession.Input] = [
        .accepted(id, peer: "daemon"), .secured(id, peer), .received(id, request.encoded()),
      ]
      schedule(.action { $0.asked(room, inputs, by: daemon.number) }, at: there)
    }
  }

  private func asked(_ room: Int, _ inputs: [ReceiverSession.Input], by daemon: Int) {
    guard !isCutOff(room, from: daemon) else { return }
    let until = rooms[room].host.frozenUntil
    guard until <= now else {
      return schedule(.action { $0.asked(room, inputs, by: daemon) }, at: until)
    }
    serve(room, inputs)
  }

  func answered(_ bytes: [UInt8], to id: ConnectionID) {
    guard let question = termQuestions.removeValue(forKey: id.number) else { return }
    var framer = MessageFramer(limit: ProtocolLimits.controlMessage)
    framer.append(bytes)
    guard let raw = try? framer.next(), let reply = try? TermReply.decode(raw) else { return }
    let daemon = daemons[question.daemon]
    let back = now + rooms[question.room].up.value.delay(at: now)
    schedule(
      .action { group in
        guard !group.isCutOff(question.room, from: daemon.number) else { return }
        group.leadership(of: daemon, .answered(round: question.round, reply))
        let isOpen = group.termQuestions.values.contains {
          $0.daemon == daemon.number && $0.round == question.round
        }
        if isOpen { return }
        group.leadership(of: daemon, .allAnswered(round: question.round))
      }, at: back)
  }

  /// A room that has begun a session with one daemon has let go of the other one, and never goes back to a lower term.
  func checkTerm(of bytes: [UInt8], on connection: SimulatedConnection) {
    guard daemons.count > 1, connection.channel == .control else { return }
    let room = rooms[connection.room]
    var framer = MessageFramer(limit: ProtocolLimits.controlMessage)
    framer.append(bytes)
    while let raw = try? framer.next() {
      guard case .welcome? = try? ControlMessage.decode(raw) else { continue }
      if connection.term < room.welcomedTerm {
        violated("room \(room.index) obeys term \(connection.term) after \(room.welcomedTerm)")
      }
      room.welcomedTerm = max(room.welcomedTerm, connection.term)
      connection.isWelcome = true
    }
    let others = room.accepted.filter {
      $0.channel == .control && $0.receiverHolds && $0.isWelcome && $0.term != connection.term
    }
    if connection.isWelcome, !others.isEmpty { violated("room \(room.index) hears two daemons") }
  }
}
