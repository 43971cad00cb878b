import Clock
import House
import LinuxIO
import Sender
import WireProtocol

/// Keeps the file from which another process goes on with what the groups play. See docs/protocol/coming-back.md. For the
/// loop's thread.
final class HouseStreams {
  /// The records that the process before has left, by its groups; their clock leads count the sleep since.
  private(set) var left: [String: StreamRecord] = [:]
  private var records: [String: StreamRecord] = [:]
  private let file: StateFile
  private let senderID: Identifier
  /// Nil where the system does not say which start of the machine this is: then nothing is kept.
  private let boot: Identifier?
  /// Time that the machine has slept since it started.
  private let asleep: () -> Nanoseconds
  private let writer: NewestValueThread<(number: UInt64, bytes: [UInt8])>
  private var posted: UInt64 = 0
  private var written: UInt64 = 0
  /// True if there is something new since the last post.
  private var isNew = false
  /// Numbers of the record of the tables that was given to the disk last, and of the newest one that the disk has answered.
  private var tables: (saving: UInt64, decided: UInt64) = (0, 0)
  /// Contents that wait for the tables of a number, in the order of these.
  private(set) var held: [(tables: UInt64, number: UInt64, bytes: [UInt8])] = []
  /// Bodies that wait for the file of this number, or a later one.
  private var waiting: [(number: UInt64, body: () -> Void)] = []

  /// - Parameters:
  ///   - path: of the household's tables, beside which it is kept.
  ///   - tell: gets one line about a file that is of no use.
  ///   - wrote: called on the writer's thread with the number of a file that is there; hand it to `wrote(_:)`.
  init(
    path: String, senderID: Identifier,
    asleep: @escaping () -> Nanoseconds = { HostClock.timeSuspended }, tell: (String) -> Void,
    wrote: @escaping @Sendable (UInt64) -> Void = { _ in }
  ) throws(IOError) {
    let file = StateFile(path: path + ".streams")
    (self.file, self.senderID, self.asleep) = (file, senderID, asleep)
    boot = Self.boot
    writer = try NewestValueThread(name: "streams") {
      { job in
        do {
          try file.keep(job.bytes)
        } catch {
          // Music plays on. The next process begins anew, instead of where this one was before.
          try? file.remove()
        }
        wrote(job.number)
      }
    }
    if let problem = read() {
      tell("what rooms still play cannot be gone on with: \(file.path) \(problem)")
    }
  }

  static var boot: Identifier? {
    let id = StateFile(path: "/proc/sys/kernel/random/boot_id")
    guard let text = (try? id.read(limit: 64)).flatMap(\.self) else { return nil }
    return Identifier(hex: String(decoding: text, as: UTF8.self).filter(\.isHexDigit))
  }

  /// Returns why the file is of no use; nil if it is, and if there is none.
  private func read() -> String? {
    let journal: StreamJournal
    do {
      guard let bytes = try file.read(limit: StreamJournal.byteLimit) else { return nil }
      journal = try StreamJournal(decoding: bytes)
    } catch let error as IOError {
      return "cannot be read: \(error)"
    } catch {
      return "is damaged or of another version: \(error)"
    }
    guard !journal.streams.isEmpty else { return nil }
    guard journal.senderID == senderID else { return "is of another sender" }
    guard journal.boot == boot else { return "is of an earlier start of this machine" }
    let slept = SuspendDetector.sleep(from: journal.slept, to: asleep())
    for stream in journal.streams {
      var record = stream.record
      record.clockLead = record.clockLead + slept
      left[stream.group] = record
    }
    return nil
  }

  /// Takes up these streams of the process before, and no others. Nothing may be told to a room before this returns: a
  /// process that ends now leaves numbers that this one has not used.
  func claim(_ claims: [String: StreamRecord]) {
    records = claims
    if let bytes { try? file.keep(bytes) }
  }

  /// `post` gives it to the disk.
  ///
  /// - Parameter record: nil if the group has nothing that could be gone on with.
  func keep(_ record: StreamRecord?, of group: String) {
    records[group] = record
    isNew = true
  }

  /// The tables of this number were given to the disk.
  func saving(_ number: UInt64) { tables.saving = max(tables.saving, number) }

  /// The disk has the tables of this number, or does not take them.
  func decided(_ number: UInt64) {
    tables.decided = max(tables.decided, number)
    let ready = held.prefix { $0.tables <= tables.decided }
    held.removeFirst(ready.count)
    if let last = ready.last { writer.post((last.number, last.bytes)) }
  }

  /// Gives what was kept to the disk, once that has the tables as they are now. A process that is killed between both leaves
  /// an edit as it was before, and never the place that it led to without the edit.
  func post() {
    guard isNew, let bytes else { return }
    isNew = false
    posted += 1
    guard tables.decided < tables.saving else { return writer.post((posted, bytes)) }
    // While the disk hangs, edits go on: the next content and the newest are enough.
    if held.count > 1 { held.removeLast() }
    held.append((tables.saving, posted, bytes))
  }

  /// Calls `body` once the file says all that was kept so far: the next process does not undo what was answered.
  func afterWriting(_ body: @escaping () -> Void) {
    post()
    if written >= posted { body() } else { waiting.append((posted, body)) }
  }

  func wrote(_ number: UInt64) {
    written = max(written, number)
    let done = waiting.filter { $0.number <= number }
    waiting.removeAll { $0.number <= number }
    for waiting in done { waiting.body() }
  }

  /// Lets nobody wait any longer.
  func endWaiting() { wrote(posted) }

  private var bytes: [UInt8]? {
    guard let boot else { return nil }
    let streams = records.sorted { $0.key < $1.key }
      .map { StreamJournal.Stream(group: $0.key, record: $0.value) }
    return StreamJournal(
      boot: boot, senderID: senderID, slept: asleep(), streams: streams
    ).encoded()
  }

  /// Waits for no tables any more. False where the disk takes longer.
  func finish(within milliseconds: Int32) -> Bool {
    decided(tables.saving)
    post()
    return writer.finish(within: milliseconds)
  }
}
