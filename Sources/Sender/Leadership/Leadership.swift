package import Clock
package import WireProtocol

/// Decides which of a household's two daemons leads it, without I/O. The other one follows. Where the follower hears the
/// leader no more, it asks the rooms: if none that answers hears the leader either, it claims the next term, and leads once a
/// room obeys that. See docs/adr/0039-a-second-daemon.md.
package struct Leadership {
  /// The facts that outlive the process.
  package struct Memory: Hashable, Sendable {
    /// The highest term that is known.
    package var term: Term
    /// True if this daemon leads in it.
    package var leads: Bool
    /// The first daemon has odd terms and the second one even ones, so that a term is never that of both.
    package let isFirst: Bool

    package init(term: Term, leads: Bool, isFirst: Bool) {
      (self.term, self.leads, self.isFirst) = (term, leads, isFirst)
    }
  }

  /// The message of one daemon to the other, sent again and again.
  package struct Word: Hashable, Sendable {
    package var term: Term
    package var leads: Bool
    /// False if it leads, and hears none of its rooms.
    package var reachesRooms: Bool
    /// True if it leads, and begins anew: it is back within `returnTime`.
    package var returns: Bool

    package init(term: Term, leads: Bool, reachesRooms: Bool = true, returns: Bool = false) {
      (self.term, self.leads) = (term, leads)
      (self.reachesRooms, self.returns) = (reachesRooms, returns)
    }
  }

  package enum Input {
    case heard(Word)
    /// A room has answered the request of this round.
    case answered(round: Int, TermReply)
    /// All rooms have, or cannot be reached.
    case allAnswered(round: Int)
    /// A room has refused a session, because it obeys a daemon of this term.
    case outdated(by: Term)
    /// True unless this daemon wants to play in rooms, and hears none of them.
    case reachesRooms(Bool)
    /// This process ends, and another one goes on at once.
    case returns
    case timeout
  }

  package enum Output: Hashable, Sendable {
    /// To the other daemon, at once.
    case tell(Word)
    /// Ask all rooms that are known.
    case ask(round: Int, TermRequest)
    /// Write this to the disk, before anything that follows is carried out.
    case keep(Memory)
    /// Play in the rooms, with this term.
    case lead(Term)
    /// Leave the rooms without a word: they play on what they hold.
    case follow
    case notice(Notice)
  }

  /// News for people.
  package enum Notice: Hashable, Sendable {
    case leads, follows
    /// The rooms hear the leader, and this daemon does not.
    case roomsHearLeader
    case noRoomAnswers
    case hearsNoFollower
  }

  private enum Role: Hashable {
    case starting(until: LocalTime)
    case following, leading
  }

  private struct Round {
    let number: Int
    let request: TermRequest
    let began: LocalTime
    var deadline: LocalTime
    var replies: [TermReply] = []
  }

  package private(set) var memory: Memory
  private var role: Role
  private var round: Round?
  private var roundCount = 0
  private var nextRound: LocalTime
  private var nextWord: LocalTime
  /// The last times at which the other daemon was heard, at all and as the leader; this process's start before that.
  private var lastWord: LocalTime
  private var lastLed: LocalTime
  private var reachesRooms = true
  /// True once this process ends, and another one goes on.
  private var returns = false
  private var notice: Notice?
  private var outputs = OutputQueue<Output>()

  /// - Parameter now: of the machine's clock, as for all that follows.
  package init(_ memory: Memory, at now: LocalTime) {
    self.memory = memory
    role = .starting(until: now + Self.startTime)
    (nextRound, nextWord, lastWord, lastLed) = (now, now, now, now)
  }

  /// True if this daemon plays in the rooms.
  package var isLeading: Bool { role == .leading }

  package mutating func handle(_ input: Input, at now: LocalTime) {
    switch input {
    case .heard(let word): heard(word, at: now)
    case .answered(let number, let reply): if round?.number == number { answered(reply, at: now) }
    case .allAnswered(let number): if round?.number == number { round?.deadline = now }
    case .outdated(let term): learn(term, at: now)
    case .reachesRooms(let reaches): reachesRooms = reaches
    case .returns:
      returns = true
      outputs.append(.tell(word))
    case .timeout: break
    }
    advance(to: now)
  }

  package mutating func nextOutput() -> Output? { outputs.next() }

  package var nextDeadline: LocalTime {
    var deadline = min(nextWord, nextLook)
    if case .starting(let end) = role { deadline = min(deadline, end) }
    return deadline
  }

  /// The time at which a round ends, or the next one begins.
  private var nextLook: LocalTime {
    if let round { return round.deadline }
    switch role {
    case .starting: return nextRound
    case .following: return max(nextRound, lastLed + Self.silence)
    case .leading: return max(nextRound, lastWord + Self.silence)
    }
  }
}

// MARK: - Times

extension Leadership {
  /// Interval of the words.
  package static let wordInterval = Nanoseconds.milliseconds(250)
  /// The other daemon is heard no more after this: three words may be delayed.
  package static let silence = Nanoseconds.seconds(1)
  /// Time for the answers of a round. A radio may take a tenth of it for a handshake.
  package static let roundTime = Nanoseconds.milliseconds(600)
  /// Time from one round to the next: first, and once nothing has changed for a while.
  package static let roundInterval = Nanoseconds.milliseconds(500)
  package static let calmInterval = Nanoseconds.seconds(1)
  /// The same for the leader, which only asks to hear of a leader that it does not know.
  package static let leaderInterval = Nanoseconds.seconds(5)
  private static let calmAfter = Nanoseconds.seconds(10)
  /// Time that a leader has to begin anew, so that it still leads then.
  package static let returnTime = Nanoseconds.seconds(5)
  /// A process that starts listens for so long: two rounds, and more words than may be delayed.
  package static let startTime = Nanoseconds.milliseconds(1500)
  /// Answers of a round that are counted.
  static let replyLimit = 256
  /// A term beyond this many more than the known one is a lie: no household takes over so often unnoticed.
  static let termLeap: Term = 1 << 16
}

// MARK: - Deciding

extension Leadership {
  private mutating func heard(_ word: Word, at now: LocalTime) {
    lastWord = now
    learn(word.term, at: now)
    if word.leads, word.term == memory.term, !isLeading {
      if word.reachesRooms {
        lastLed = word.returns ? now + Self.returnTime : now
        if round?.request.isClaim != true { round = nil }
      }
      follow()
    } else if !word.leads, memory.leads, word.term <= memory.term, case .starting = role {
      lead(memory.term, at: now)
    }
    // The follower measures this machine's clock by the answer.
    if isLeading { nextWord = now }
  }

  /// Steps down where the term is another daemon's.
  private mutating func learn(_ term: Term, at now: LocalTime) {
    guard term > memory.term, term - memory.term <= Self.termLeap else { return }
    memory.term = term
    memory.leads = false
    outputs.append(.keep(memory))
    round = nil
    guard isLeading else { return }
    (role, lastLed) = (.following, now)
    outputs.append(.follow)
    tell(.follows)
  }

  private mutating func lead(_ term: Term, at now: LocalTime) {
    memory.term = term
    memory.leads = true
    outputs.append(.keep(memory))
    (role, lastWord, nextWord, round) = (.leading, now, now, nil)
    reachesRooms = true
    outputs.append(.lead(term))
    tell(.leads)
  }

  private mutating func follow() {
    if role != .following {
      role = .following
      outputs.append(.follow)
    }
    tell(.follows)
  }

  private mutating func tell(_ news: Notice) {
    guard news != notice else { return }
    notice = news
    outputs.append(.notice(news))
  }

  private mutating func advance(to now: LocalTime) {
    if let round, round.deadline <= now { close(round, at: now) }
    if case .starting(let end) = role, end <= now {
      if memory.leads { lead(memory.term, at: now) } else { startFollowing() }
    }
    if round == nil, nextLook <= now {
      ask(TermRequest(term: memory.term, isClaim: false), at: now)
    }
    guard nextWord <= now else { return }
    nextWord = now + Self.wordInterval
    outputs.append(.tell(word))
  }

  private var word: Word {
    Word(
      term: memory.term, leads: isLeading, reachesRooms: reachesRooms || !isLeading,
      returns: returns && isLeading)
  }

  /// Nobody was heard that leads.
  private mutating func startFollowing() {
    role = .following
    outputs.append(.follow)
  }

  private mutating func ask(_ request: TermRequest, at now: LocalTime) {
    roundCount += 1
    round = Round(
      number: roundCount, request: request, began: now, deadline: now + Self.roundTime)
    outputs.append(.ask(round: roundCount, request))
  }

  /// A room that grants a claim, or hears the leader, decides the round: nobody waits for the others.
  private mutating func answered(_ reply: TermReply, at now: LocalTime) {
    guard let open = round, open.replies.count < Self.replyLimit else { return }
    round?.replies.append(reply)
    let isGrant = open.request.isClaim && reply.term == open.request.term
    if isGrant || role == .following && reply.isHeard { round?.deadline = now }
  }

  private mutating func close(_ ended: Round, at now: LocalTime) {
    round = nil
    nextRound = ended.began + interval(at: now)
    let highest = ended.replies.map(\.term).max() ?? 0
    if ended.request.isClaim, highest == ended.request.term { return lead(highest, at: now) }
    learn(highest, at: now)
    guard !ended.request.isClaim, round == nil else { return }
    switch role {
    case .starting: break
    case .leading: tell(.hearsNoFollower)
    case .following: if lastLed + Self.silence <= now { judge(ended.replies, at: now) }
    }
  }

  private func interval(at now: LocalTime) -> Nanoseconds {
    if isLeading { return Self.leaderInterval }
    return now - lastLed < Self.calmAfter ? Self.roundInterval : Self.calmInterval
  }

  /// Claims the next term, if no room hears the leader.
  private mutating func judge(_ replies: [TermReply], at now: LocalTime) {
    guard !replies.isEmpty else { return tell(.noRoomAnswers) }
    guard !replies.contains(where: \.isHeard) else { return tell(.roomsHearLeader) }
    guard let next = memory.nextTerm else { return }
    ask(TermRequest(term: next, isClaim: true), at: now)
  }
}

extension Leadership.Memory {
  /// The next term of this daemon; nil where there is none any more.
  var nextTerm: Term? {
    guard term < .max - 2 else { return nil }
    return (term + 1).isMultiple(of: 2) == isFirst ? term + 2 : term + 1
  }
}
