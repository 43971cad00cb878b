import Clock
import Sender
import Testing

/// Tests, in simulated time, of when the program of an input is started and ended, and of how often it may tell something.
@Suite struct InputRunTests {
  private static func time(_ seconds: Double) -> LocalTime {
    LocalTime(nanoseconds: Int64((seconds * 1e9).rounded()))
  }

  private static func outputs(_ run: inout InputRun) -> [InputRun.Output] {
    var found: [InputRun.Output] = []
    while let output = run.nextOutput() { found.append(output) }
    return found
  }

  /// Lets a program run for some seconds each time. Returns the times of its starts, and the lines.
  private func trial(
    for span: Double, running seconds: (Int) -> Double
  ) -> (starts: [Double], lines: [String]) {
    var run = InputRun(at: Self.time(0))
    var (starts, lines): ([Double], [String]) = ([], [])
    var now = 0.0
    var end: Double?
    while now < span {
      run.turn(at: Self.time(now))
      if end == now {
        run.ended(.signal(9), at: Self.time(now))
        end = nil
      }
      for output in Self.outputs(&run) {
        switch output {
        case .start:
          end = now + seconds(starts.count)
          starts.append(now)
        case .tell(let line): lines.append(line)
        case .terminate, .kill: Issue.record("nobody has ended it")
        }
      }
      let next = run.nextDeadline.map { Double($0.nanoseconds) / 1e9 }
      now = max([next, end].compactMap(\.self).min() ?? span, now)
    }
    return (starts, lines)
  }

  @Test func `a program that ends at once is started ever more seldom, and told of once`() {
    let (starts, lines) = trial(for: 3_600) { _ in 0.5 }
    let pauses = zip(starts, starts.dropFirst()).map { $1 - $0 - 0.5 }
    #expect(pauses.prefix(7) == [1, 2, 4, 8, 16, 32, 60])
    #expect(pauses.dropFirst(6).allSatisfy { $0 == 60 } && starts.count == 65)
    #expect(lines == ["was ended by signal 9; it is started again, at the latest every 60 s"])
  }

  @Test func `a program that has run well for a while is started at once, and told of again`() {
    let (starts, lines) = trial(for: 1_000) { $0 < 3 ? 1 : 400 }
    #expect(starts == [0, 2, 5, 10, 411, 812])
    #expect(lines.count == 3)
  }

  @Test func `why it cannot be started is told with its last words`() {
    var run = InputRun(at: Self.time(0))
    run.turn(at: Self.time(0))
    #expect(Self.outputs(&run) == [.start] && run.problem == nil)
    run.ended(.notStarted("x: No such file or directory"), at: Self.time(0))
    #expect(run.problem == "cannot be started: x: No such file or directory")
    run.turn(at: Self.time(1))
    #expect(run.problem == nil)
    run.ended(.code(1), saying: "port 5000 is in use", at: Self.time(1))
    #expect(run.problem == "has ended with code 1: port 5000 is in use")
  }

  @Test func `who does not end when asked is killed, and nothing is started after that`() {
    var run = InputRun(at: Self.time(0))
    run.turn(at: Self.time(0))
    run.stop(at: Self.time(5))
    #expect(Self.outputs(&run) == [.start, .terminate])
    run.turn(at: Self.time(6.9))
    #expect(Self.outputs(&run) == [] && run.nextDeadline == Self.time(7))
    run.turn(at: Self.time(7))
    run.stop(at: Self.time(7))
    #expect(Self.outputs(&run) == [.kill] && run.nextDeadline == nil && !run.isOver)
    run.ended(.signal(9), at: Self.time(7.1))
    #expect(run.isOver && Self.outputs(&run) == [])
    var waiting = InputRun(at: Self.time(0))
    waiting.stop(at: Self.time(0))
    waiting.turn(at: Self.time(0))
    #expect(waiting.isOver && waiting.nextDeadline == nil && Self.outputs(&waiting) == [])
  }

  @Test func `a program may tell as much as it likes, and is heard five times a second`() {
    var news = InputNews(at: Self.time(0))
    var told: [[InputEvent]] = []
    for step in 0..<10_000 {
      let now = Self.time(Double(step) / 1_000)
      news.take(.volume(Double(step % 100)))
      news.take(step % 2 == 0 ? .playing : .paused)
      news.take(.title(.init(title: "\(step)")))
      if let events = news.turn(at: now) { told.append(events) }
    }
    #expect(told.count == 50)
    #expect(told.last == [.volume(0), .playing] && news.metadata.title == "9999")
    #expect(news.deadline == Self.time(10))
    #expect(news.turn(at: Self.time(10)) == [.volume(99), .paused])
    #expect(news.deadline == nil && news.turn(at: Self.time(11)) == nil)
  }

  @Test func `a picture is told once, and its end`() throws {
    var news = InputNews(at: Self.time(0))
    let picture = try #require(Artwork(bytes: [1], mimeType: "image/png"))
    news.take(.cover(picture))
    #expect(news.turn(at: Self.time(0)) == [.cover(picture)])
    news.take(.cover(picture))
    #expect(news.turn(at: Self.time(1)) == [])
    news.take(.cover(nil))
    #expect(news.turn(at: Self.time(2)) == [.cover(nil)])
  }
}
