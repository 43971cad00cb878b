package import Clock
import Glibc
import Synchronization

/// An event of the output. The output thread posts it, the session's thread takes it.
package enum OutputEvent: Hashable, Sendable {
  /// A device was opened; `OutputControl.device` describes it.
  case opened
  /// The device cannot be opened; `OutputControl.failure` has the reason. The thread tries again and
  /// again, and posts this once for each new reason.
  case unavailable
  /// The device went away while it played; `code` is alsa-lib's, a negative `errno`.
  case lost(code: Int32)
  /// The card ran dry, or the machine slept. Playing continues after a gap.
  case underrun
  /// The machine or the card was put to sleep; an `underrun` follows when it wakes.
  case suspended
  /// A file could not be written any further; `OutputControl.failure` has the reason.
  case ended

  fileprivate var word: UInt64 {
    switch self {
    case .opened: 1
    case .unavailable: 2
    case .lost(let code): 3 | UInt64(UInt32(bitPattern: code)) << 8
    case .underrun: 4
    case .ended: 5
    case .suspended: 6
    }
  }

  fileprivate init?(word: UInt64) {
    switch word & 0xFF {
    case 1: self = .opened
    case 2: self = .unavailable
    case 3: self = .lost(code: Int32(truncatingIfNeeded: word >> 8))
    case 4: self = .underrun
    case 5: self = .ended
    case 6: self = .suspended
    default: return nil
    }
  }
}

/// State shared by the output thread and the session's thread.
package final class OutputControl: Sendable {
  private static let capacity = 64

  /// A ring for one poster and one taker. Events that do not fit are counted in `droppedEvents`. Each of
  /// them also shows in a counter or a property here, so that the taker can catch up.
  private let events: InlineArray<64, Atomic<UInt64>>
  private let posted = Atomic<Int>(0)
  private let taken = Atomic<Int>(0)
  private let dropped = Atomic<Int>(0)
  private let stopping = Atomic<Bool>(false)
  private let underrunCount = Atomic<Int>(0)
  private let rewindCount = Atomic<Int>(0)
  private let rejectedReadings = Atomic<Int>(0)
  private let openingCount = Atomic<Int>(0)
  private let lostOpeningNumber = Atomic<Int>(0)
  private let ended = Atomic<Bool>(false)
  /// The output thread locks this only while it opens or closes a device, never while it plays.
  private let words = Mutex<(device: DeviceDescription?, failure: String?)>((nil, nil))
  private let wake: @Sendable () -> Void
  /// A pipe with a byte for each call of the output thread: the end to read, and that to write. Negative if the system has no
  /// descriptors left, and then each rest lasts as long as it may.
  private let calls: (heard: Int32, made: Int32)

  /// - Parameter wake: called on the output thread after each event; may not wait, lock or allocate.
  package init(wake: @escaping @Sendable () -> Void) {
    events = InlineArray { _ in Atomic(0) }
    self.wake = wake
    var ends: [Int32] = [-1, -1]
    _ = pipe(&ends)
    for end in ends {
      _ = fcntl(end, F_SETFL, O_NONBLOCK)
      _ = fcntl(end, F_SETFD, FD_CLOEXEC)
    }
    calls = (ends[0], ends[1])
  }

  deinit {
    close(calls.heard)
    close(calls.made)
  }

  /// Ends `run` within a period or, while a device is awaited, within 50 ms. Call it from any thread.
  package func stop() {
    stopping.store(true, ordering: .releasing)
    call()
  }
  package var isStopping: Bool { stopping.load(ordering: .acquiring) }

  /// Ends the output thread's rest, because a command waits that is to be obeyed at once. Call it from any thread.
  package func call() {
    var byte: UInt8 = 0
    // A pipe that is full has calls enough.
    _ = write(calls.made, &byte, 1)
  }

  /// Rests for `span`, or until it is called. Returns true if it was called. Output thread only.
  package func rest(for span: Nanoseconds) -> Bool {
    let (milliseconds, rest) = span.count.quotientAndRemainder(dividingBy: 1_000_000)
    var waiting = pollfd(fd: calls.heard, events: Int16(POLLIN), revents: 0)
    guard poll(&waiting, 1, Int32(clamping: milliseconds)) > 0 else {
      pause(for: Nanoseconds(rest))
      return false
    }
    var byte: UInt8 = 0
    while read(calls.heard, &byte, 1) == 1 {}
    return true
  }

  /// Removes and returns the oldest event; nil if there is none. For one thread at a time.
  package func takeEvent() -> OutputEvent? {
    let index = taken.load(ordering: .relaxed)
    guard index != posted.load(ordering: .acquiring) else { return nil }
    let word = events[index % Self.capacity].load(ordering: .relaxed)
    taken.store(index + 1, ordering: .releasing)
    return OutputEvent(word: word)
  }

  /// Describes the device in use, or last in use.
  package var device: DeviceDescription? { words.withLock { $0.device } }
  /// The reason why the device could not be opened or the file not be written; one line for users.
  package var failure: String? { words.withLock { $0.failure } }
  package var underruns: Int { underrunCount.load(ordering: .relaxed) }
  /// Number of times that frames were taken back from the card.
  package var rewinds: Int { rewindCount.load(ordering: .relaxed) }
  /// Number of position readings that took too long to be of use.
  package var rejected: Int { rejectedReadings.load(ordering: .relaxed) }
  package var droppedEvents: Int { dropped.load(ordering: .relaxed) }

  /// Number of times that a device was opened, and the number of the newest opening.
  package var openings: Int { openingCount.load(ordering: .acquiring) }
  /// The number of the last opening whose device was lost.
  package var lostOpening: Int { lostOpeningNumber.load(ordering: .acquiring) }
  package var hasEnded: Bool { ended.load(ordering: .acquiring) }

  package func post(_ event: OutputEvent) {
    switch event {
    case .underrun: underrunCount.add(1, ordering: .relaxed)
    case .lost: lostOpeningNumber.store(openings, ordering: .releasing)
    case .ended: ended.store(true, ordering: .releasing)
    case .opened, .unavailable, .suspended: break
    }
    let index = posted.load(ordering: .relaxed)
    if index - taken.load(ordering: .acquiring) < Self.capacity {
      events[index % Self.capacity].store(event.word, ordering: .relaxed)
      posted.store(index + 1, ordering: .releasing)
    } else {
      dropped.add(1, ordering: .relaxed)
    }
    wake()
  }

  /// Must not be called while the device plays, because it locks.
  package func postOpened(_ device: DeviceDescription) {
    words.withLock { $0 = (device, nil) }
    openingCount.add(1, ordering: .releasing)
    post(.opened)
  }

  /// Posts `event` unless the last failure had the same reason. Must not be called while the device
  /// plays, because it locks.
  package func postFailure(_ failure: String, _ event: OutputEvent) {
    let isNew = words.withLock { words in
      defer { words.failure = failure }
      return words.failure != failure
    }
    if isNew { post(event) }
  }

  package func countRewind() { rewindCount.add(1, ordering: .relaxed) }
  package func countRejectedReading() { rejectedReadings.add(1, ordering: .relaxed) }
}
