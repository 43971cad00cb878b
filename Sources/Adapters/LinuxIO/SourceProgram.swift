internal import CSys
package import Clock
internal import Glibc

/// A program that gives an input its sound: it writes samples to its standard output. It runs in a process group of its own,
/// which ends with it, and at the latest with the thread that has started it. No shell takes part.
///
/// Its descriptor 3 is a pipe for what it tells of its music, if it is to tell something; its standard input has orders for it, if
/// it takes some.
package final class SourceProgram {
  package struct Settings: Hashable, Sendable {
    /// A program's path, or its name if it is in one of the folders of `PATH`, and its arguments.
    package var command: [String]
    /// Memory that each of its processes may map, in MiB.
    package var memoryMiB: Int
    package var hasEvents: Bool
    package var takesOrders: Bool

    package init(command: [String], memoryMiB: Int, hasEvents: Bool, takesOrders: Bool) {
      (self.command, self.memoryMiB) = (command, memoryMiB)
      (self.hasEvents, self.takesOrders) = (hasEvents, takesOrders)
    }
  }

  /// Files, sockets and pipes that each of its processes may have.
  package static let descriptorLimit: UInt64 = 256
  /// Bytes that are read at once of what it tells or complains of.
  package static let readLimit = 64 << 10

  /// Our end of a pipe. It stays valid after the program, for what it has written last.
  package final class PipeEnd: Sendable {
    private let end: FileDescriptor
    package var number: Int32 { end.number }

    init(_ end: consuming FileDescriptor) { self.end = end }
  }

  package enum News: Hashable, Sendable {
    /// It has told this of its music.
    case events([UInt8])
    /// It has said this to the terminal.
    case words([UInt8])
    /// With this exit code, or with the negative number of a signal. Its whole group is ended.
    case ended(Int32)
  }

  package let sound: PipeEnd
  private let process: Int32
  private let watch: FileDescriptor
  private let words: PipeEnd
  /// Nil unless it is to tell something, and unless it takes orders.
  private let events: PipeEnd?
  private let orders: PipeEnd?
  private var hasEnded = false
  /// Those that have not reached their end.
  private var hasWords = true
  private var hasEvents: Bool

  /// - Throws: `IOError` if it cannot be started, or if there are not enough descriptors.
  package init(_ settings: Settings) throws(IOError) {
    let sound = try Pipe()
    let words = try Pipe()
    let events = try Pipe()
    let orders = try Pipe()
    let nothing = FileDescriptor(open("/dev/null", O_RDWR | O_CLOEXEC))
    let ends = [
      settings.takesOrders ? orders.reading.number : nothing.number, sound.writing.number,
      words.writing.number, settings.hasEvents ? events.writing.number : -1,
    ]
    var limits = csys_source_limits(
      memory: UInt64(settings.memoryMiB) << 20, files: Self.descriptorLimit)
    var arguments: [UnsafeMutablePointer<CChar>?] = settings.command.map { strdup($0) } + [nil]
    defer { for argument in arguments { free(argument) } }
    var watch: Int32 = -1
    let name = settings.command.first ?? ""
    let result = csys_spawn_source(&arguments, ends, &limits, &watch)
    guard result > 0 else {
      throw IOError(call: "exec", code: -result, text: "\(name): \(IOError.reason(-result))")
    }
    process = result
    self.watch = FileDescriptor(watch)
    self.sound = sound.onlyReading()
    self.words = words.onlyReading()
    let told = events.onlyReading()
    self.events = settings.hasEvents ? told : nil
    let taken = orders.onlyWriting()
    self.orders = settings.takesOrders ? taken : nil
    hasEvents = settings.hasEvents
  }

  deinit {
    guard !hasEnded else { return }
    kill()
    while end() == nil { Self.wait(for: [watch.number], until: nil) }
  }

  /// Asks all its processes to end.
  package func terminate() { _ = csys_source_signal(process, SIGTERM) }

  /// Ends all its processes.
  package func kill() { _ = csys_source_signal(process, SIGKILL) }

  /// Gives it an order. Returns false if it does not take orders, or has not taken those before.
  package func order(_ line: [UInt8]) -> Bool {
    guard let orders else { return false }
    return line.withUnsafeBytes { Glibc.write(orders.number, $0.baseAddress, $0.count) }
      == line.count
  }

  /// Waits for news, until the waker is woken or the time is over. At the end it gives what was told before.
  package func news(or waker: Waker, until deadline: LocalTime?) -> [News] {
    let told = hasEvents ? events?.number ?? -1 : -1
    let ready = Self.wait(
      for: [watch.number, waker.number, hasWords ? words.number : -1, told], until: deadline)
    waker.clear()
    // Its end comes after everything that it has said; the rest of its group may go on saying things.
    let code = ready & 1 != 0 ? end() : nil
    var news: [News] = []
    if hasWords, ready & 4 != 0 || code != nil {
      let (bytes, isOver) = Self.read(words.number)
      if !bytes.isEmpty { news.append(.words(bytes)) }
      hasWords = !isOver
    }
    if let events, hasEvents, ready & 8 != 0 || code != nil {
      let (bytes, isOver) = Self.read(events.number)
      if !bytes.isEmpty { news.append(.events(bytes)) }
      hasEvents = !isOver
    }
    if let code { news.append(.ended(code)) }
    return news
  }

  private func end() -> Int32? {
    var code: Int32 = 0
    guard csys_source_end(process, &code) != 0 else { return nil }
    hasEnded = true
    return code
  }

  private static func read(_ descriptor: Int32) -> (bytes: [UInt8], isOver: Bool) {
    var count = 0
    let bytes = [UInt8](unsafeUninitializedCapacity: readLimit) { buffer, initialized in
      count = Glibc.read(descriptor, buffer.baseAddress, buffer.count)
      initialized = max(0, count)
    }
    return (bytes, count == 0)
  }

  /// The bits of those that can be read. Also without a program, for a pause.
  @discardableResult
  private static func wait(for descriptors: [Int32], until deadline: LocalTime?) -> UInt32 {
    var ready: UInt32 = 0
    let span = deadline.map { max(($0 - HostClock.now).count, 0) } ?? -1
    _ = csys_wait_any(descriptors, Int32(descriptors.count), &ready, span)
    return ready
  }

  /// Waits without a program.
  package static func pause(or waker: Waker, until deadline: LocalTime?) {
    wait(for: [waker.number], until: deadline)
    waker.clear()
  }

  private struct Pipe: ~Copyable {
    let reading: FileDescriptor
    let writing: FileDescriptor

    init() throws(IOError) {
      var ends: [Int32] = [-1, -1]
      try IOError.check("pipe2", csys_pipe(&ends), "a pipe")
      reading = FileDescriptor(ends[0])
      writing = FileDescriptor(ends[1])
    }

    consuming func onlyReading() -> PipeEnd { PipeEnd(reading) }
    consuming func onlyWriting() -> PipeEnd { PipeEnd(writing) }
  }
}

/// Where a command's program is.
package enum ProgramSearch {
  private static let usualFolders = "/usr/local/bin:/usr/bin:/bin"

  /// Returns the path of a program, by its path or by its name in one of the folders of `PATH`; nil if it is not there, or may not
  /// be started.
  package static func path(of name: String) -> String? {
    if name.contains("/") { return isProgram(name) ? name : nil }
    let folders = getenv("PATH").map { String(cString: $0) } ?? usualFolders
    return folders.split(separator: ":").map { "\($0)/\(name)" }.first(where: isProgram)
  }

  private static func isProgram(_ path: String) -> Bool { access(path, X_OK) == 0 }
}
