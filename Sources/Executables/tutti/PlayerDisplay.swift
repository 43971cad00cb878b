import Clock
import Driver
import Glibc
import House
import LinuxIO
import ProgramJSON
import Sender
import Service

/// Shows a running player: a line that is written over on a terminal, otherwise lines that stay, or JSON for
/// programs. It never blocks on a slow reader. If writing fails, the display is given up and the player plays on.
final class PlayerDisplay: LoopMember {
  /// Interval of updates: figures that change faster cannot be read.
  private static let interval = Nanoseconds.milliseconds(200)
  /// Interval between lines that stay.
  private static let logInterval = Nanoseconds.seconds(5)
  /// Delay before the display says what the player waits for.
  private static let silence = Nanoseconds.milliseconds(500)
  /// Longest time that rooms get to pause before the program stops.
  private static let pauseTime = Nanoseconds.seconds(1)
  /// Time for which the answer to a key replaces the progress line.
  private static let answerTime = Nanoseconds.seconds(2)

  let player: PlayerService
  let isJSON: Bool
  let terminal: Terminal
  private let reactor: Reactor
  private let writer: OutputWriter
  private let errors: OutputWriter
  private var keyboard: DescriptorID?
  private var nextUpdate = HostClock.now
  private var nextLog: LocalTime
  private var isGivenUp = false
  private var wait: (reason: String, since: LocalTime, isSaid: Bool)?
  private var answer: (text: StyledText, until: LocalTime)?
  private(set) var isPaused = false
  /// After Ctrl-Z: until when the program waits for the rooms to pause, and whether they play on with it.
  private var suspension: (until: LocalTime, playsOn: Bool)?

  init(_ player: PlayerService, reactor: Reactor, isJSON: Bool) throws {
    (self.player, self.reactor, self.isJSON) = (player, reactor, isJSON)
    writer = try OutputWriter(descriptor: STDOUT_FILENO, waker: reactor.waker) { dropped in
      isJSON
        ? JSON.line(
          GroupEvent(
            revision: 0, .leftOut(events: dropped.lasting, positions: dropped.passing)))
        : Array("(\(dropped.lasting + dropped.passing) lines left out: nobody read them)\n".utf8)
    }
    errors = try OutputWriter(descriptor: STDERR_FILENO, limit: 64 << 10) { _ in [] }
    terminal = Terminal(writer)
    nextLog = HostClock.now + (isJSON ? .zero : Self.logInterval)
    player.onEvent = { [unowned self] in show($0) }
    player.onWarning = { [unowned self] in warn($0) }
  }

  /// True if a person is there who can be asked something.
  var canAsk: Bool { !isJSON && terminal.isInteractive }

  /// Restores the terminal and waits briefly for pending output.
  func end() {
    terminal.restore()
    errors.finish(within: .milliseconds(300))
  }

  /// Time of the next update; nil once the display was given up.
  var nextDeadline: LocalTime? {
    [isGivenUp ? nil : nextUpdate, suspension?.until].compactMap { $0 }.min()
  }

  func turn() {
    suspendIfAsked()
    giveUpIfBroken()
    let now = HostClock.now
    guard !isGivenUp, nextUpdate <= now else { return }
    nextUpdate = now + Self.interval
    watchKeys()
    sayWhatIsWaitedFor(at: now)
    if isJSON {
      guard nextLog <= now else { return }
      nextLog = now + .seconds(1)
      post(.status(player.statusReport))
    } else if terminal.isInteractive {
      showProgress(at: now)
    } else if !terminal.isInBackground, nextLog <= now {
      nextLog = now + Self.logInterval
      terminal.print(ProgressLine(player.statusReport).text(columns: nil))
    }
  }

  private func showProgress(at now: LocalTime) {
    if let until = answer?.until, until <= now { answer = nil }
    var line = ProgressLine(player.statusReport)
    line.answer = answer?.text
    line.waiting = player.waitReason
    terminal.show(line.text(columns: terminal.columns - 1))
  }

  func handle(_ event: ReactorEvent) -> Bool {
    switch event {
    case .signal(.windowChanged): break
    case .signal(.suspend): beginSuspension()
    case .signal(.resume): terminal.resume()
    case .signal: stop()
    case .readable(let id) where id == keyboard:
      for key in terminal.keys() { press(key) }
    default: return false
    }
    nextUpdate = HostClock.now
    return true
  }

  /// A stopped program feeds no room: the music would end some seconds later, in the middle of a bar.
  private func beginSuspension() {
    guard suspension == nil else { return }
    let playsOn = !isPaused && (try? player.player.carryOut(.pause)) != nil
    suspension = (HostClock.now + (playsOn ? Self.pauseTime : .zero), playsOn)
  }

  private func suspendIfAsked() {
    guard let (until, playsOn) = suspension, until <= HostClock.now || areRoomsSilent else {
      return
    }
    suspension = nil
    terminal.suspend()
    terminal.resume()
    if playsOn { _ = try? player.player.carryOut(.resume) }
    nextUpdate = HostClock.now
  }

  /// True once all rooms have said that they do not play.
  private var areRoomsSilent: Bool { player.statusReport.rooms.allSatisfy { $0.state != .playing } }

  /// Shows the result of a key.
  func tell(_ text: StyledText) { answer = (text, HostClock.now + Self.answerTime) }

  private func watchKeys() {
    let areTaken = !isJSON && terminal.takeKeys()
    if areTaken, keyboard == nil { keyboard = try? reactor.watch(descriptor: STDIN_FILENO) }
    if !areTaken, let id = keyboard {
      reactor.unwatch(id)
      keyboard = nil
    }
  }

  /// Gives the display up if writing failed. If the reader has gone, as with `head -1`, the music stops. After any
  /// other error, such as a full disk, the music plays on.
  private func giveUpIfBroken() {
    guard !isGivenUp, let failure = writer.failure else { return }
    isGivenUp = true
    if let id = keyboard { reactor.unwatch(id) }
    if failure.code == EPIPE {
      stop()
    } else if failure.code != EIO {
      warn("nothing more is shown: standard output: \(failure); music plays on")
    }
  }

  /// Stops the player, which never refuses.
  private func stop() { _ = try? player.player.carryOut(.stop) }

  private func sayWhatIsWaitedFor(at now: LocalTime) {
    guard let reason = player.waitReason else {
      wait = nil
      return
    }
    if wait?.reason != reason { wait = (reason, now, false) }
    guard let since = wait?.since, wait?.isSaid == false, since + Self.silence <= now else {
      return
    }
    wait?.isSaid = true
    if isJSON {
      post(.waiting(reason: reason))
    } else if !terminal.isInteractive {
      terminal.print(reason)
    }
  }

  // MARK: - What happens

  private func show(_ event: GroupEvent) {
    if case .group(.paused) = event.change { isPaused = true }
    if case .group(.resumed) = event.change { isPaused = false }
    if isJSON { return post(event) }
    // A file that breaks off may be read to there before it sounds.
    if case .group(.itemFailed(let item, let error)) = event.change, !error.hasSounded,
      player.isOnlyFailure(item)
    {
      return
    }
    if let line = EventSentences.line(event.change) { terminal.print(line) }
  }

  private func warn(_ line: String) {
    let text = StyledText("tutti: " + line).text(isColoured: false)
    errors.post(Array((text + "\n").utf8))
  }

  private func post(_ change: GroupEvent.Change) {
    post(GroupEvent(revision: player.revision, change))
  }

  private func post(_ event: GroupEvent) {
    writer.post(JSON.line(event), event.change.isPassing ? .passing : .lasting)
  }
}
