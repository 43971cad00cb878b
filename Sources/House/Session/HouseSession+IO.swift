package import Clock
package import Sender

/// Makes the household's players.
package protocol HousePlayers: AnyObject {
  func open(_ purpose: PlayerPurpose) throws(Refusal) -> any GroupPlayer
}

package enum PlayerPurpose {
  /// Plays a group's list and never ends by itself. Its events come to the session as `.event`. With a succession, it goes
  /// on with what the rooms play.
  case group(HouseRecord.Group, after: StreamSuccession?)
  /// Tells a room something, without music.
  case visit
  /// Plays three tones by which people find a room, and ends.
  case sign
  /// Plays these entries, and behind them a tone, again and again. Stands still until it is told to begin. It takes rooms
  /// only for a while. Its events come to the session as `.event`, with the identity of the alarm.
  case alarm(String, [Order.NewEntry])
}

/// Matches an answer to its request. The driver numbers requests, and uses no number twice.
package struct RequestID: Hashable, Sendable {
  package var number: UInt64

  package init(_ number: UInt64) { self.number = number }
}

extension HouseSession {
  package struct Configuration: Sendable {
    /// Identifier of its key.
    package var id: String
    package var name: String
    package var version: String
    /// Inputs with names, in the order of the configuration.
    package var inputs: [HouseState.Input]
    /// True if groups that played when the last process ended play on.
    package var resumes: Bool
    /// Seeds the random orders of lists.
    package var seed: UInt64
    package var wall: WallClock

    package init(
      id: String, name: String, version: String, inputs: [HouseState.Input], resumes: Bool,
      seed: UInt64, wall: WallClock = WallClock()
    ) {
      self.wall = wall
      (self.id, self.name, self.version, self.inputs) = (id, name, version, inputs)
      (self.resumes, self.seed) = (resumes, seed)
    }
  }

  /// The clock by which people live.
  package struct WallClock: Sendable {
    private struct UTC: CivilTime {
      func offset(at time: WallTime) -> Int64 { 0 }
    }

    package var zone: any CivilTime
    /// The lead of the clock on the wall over the machine's.
    package var lead: Nanoseconds
    /// Rooms that are free are filled so long before an alarm begins.
    package var alarmLead: Nanoseconds
    /// A machine that restarts or loses its network in the last minutes does not keep the rooms from ringing.
    package static let usualAlarmLead = Nanoseconds.seconds(600)

    package init(
      zone: (any CivilTime)? = nil, lead: Nanoseconds = .zero,
      alarmLead: Nanoseconds = usualAlarmLead
    ) {
      (self.zone, self.lead, self.alarmLead) = (zone ?? UTC(), lead, alarmLead)
    }
  }

  /// A request through any door. Its names and numbers are identities already.
  package enum Request {
    case order(Order)
    /// Plays entries in these rooms, or in the group that a command means which names it so, or none.
    case play(PlayRequest, [Order.NewEntry], group: String?)
    /// Lets rooms hear something over what they play. The answer comes when it begins, or when it is known that it waits.
    case announce(AnnouncementWish)
    /// Ends the music of these rooms, whatever group they are in; of all groups if it is nil.
    case silence([String]?)

    /// As `Order.movesMusic`.
    package var movesMusic: Bool {
      switch self {
      case .order(let order): order.movesMusic
      case .play, .silence: true
      case .announce: false
      }
    }

    var isEdit: Bool {
      switch self {
      case .order(let order): order.isEdit
      case .play: true
      case .silence, .announce: false
      }
    }
  }

  /// Everything that can happen to a household.
  package enum Input {
    /// Once, before all others. `deaths`: as `keepDeaths` said last, in this start of the machine.
    case start(deaths: Int)
    /// The answer is one `answer` with the same identifier.
    case request(RequestID, Request)
    /// Something happened to the group of this identity, by itself or in the middle of a call.
    case event(group: String, SenderEvent)
    /// The lead of the clock on the wall over the machine's. Once a second at least.
    case wall(lead: Nanoseconds)
    /// Something has changed that no event tells.
    case changed
    /// The receivers that are known have changed.
    case discovered(KnownRooms)
    /// The receivers that this machine is paired with have changed.
    case paired(KnownRooms)
    /// The input of this name has begun to sound, or was quiet for a while.
    case heard(String, LevelGate.Change)
    /// The program of the input of this name has told something of its music. Titles come with the sound.
    case told(String, InputEvent)
    /// The title that plays there has the picture of this hash, or none.
    case pictured(String, String?)
    /// Facts about files, by their places.
    case described([String: Order.NewEntry])
    case library(HouseState.LibraryFigures)
    /// The household's other machine has come or gone, or has another problem.
    case second(SecondMachine)
    /// The keys that the configuration's file and the options name: at the start, and when they have changed.
    case configured(SetUp.Fixed)
    /// The disk has the record of this number.
    case written(UInt64, HouseRecord)
    case notWritten(UInt64, Refusal)
    /// Ends playing in all rooms.
    case stop
    /// Ends, and the rooms play on: another process goes on with what they play.
    case leave
    /// After `stop` or `leave`: the disk answers no more.
    case end
    /// `nextDeadline` has come.
    case timeout
  }

  /// Everything that a household wants done, in this order.
  package enum Output {
    case answer(RequestID, Result<Answer, Refusal>)
    /// Write this. The answer is `written` or `notWritten`; of several, only the newest need be written.
    case save(UInt64, HouseRecord)
    /// For everybody who follows the household.
    case changed(HouseChange)
    /// For the log. Music plays on.
    case warning(String)
    /// Release the player once it has finished; it was told to stop.
    case close(any GroupPlayer)
    /// Release the player without a word to its rooms.
    case leave(any GroupPlayer)
    /// These are the library's folders now.
    case folders([HouseFolder])
    /// These servers are asked for their libraries now.
    case servers([MediaServer])
    /// Keep this number over the death of the process; see `Resumption`.
    case keepDeaths(Int)
    /// Give the program of the input of this name an order.
    case steer(String, InputOrder)
  }
}
