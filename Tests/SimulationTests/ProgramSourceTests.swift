import Clock
import Sender
import Testing

/// Stand-ins of librespot and bluez-alsa, as inputs that rooms buffer.
@Suite struct ProgramSourceTests {
  static let trials = [
    ProgramTrial(kind: .bluealsa, drift: 300), ProgramTrial(kind: .bluealsa, drift: -300),
    // It has no clock of its own.
    ProgramTrial(kind: .librespot, drift: 0),
  ]

  @Test(arguments: trials)
  func `for two hours a program has no hole, and loses next to nothing at a pause`(
    trial: ProgramTrial
  ) {
    Self.expectWhole(trial, for: 7_200)
  }

  /// - Parameter loss: seconds of music that may be left out after a pause.
  static func expectWhole(_ trial: ProgramTrial, for seconds: Double, loss: Double = 0.02) {
    let verdict = trial.play(for: seconds)
    print("   program", trial.kind, trial.drift, verdict)
    #expect(verdict.holes == 0)
    // After a pause the clock is measured anew, and the first bursts may have been late.
    #expect(verdict.jumps <= verdict.pauses + 1)
    #expect(verdict.lost < loss)
    #expect(verdict.ahead < 1.1)
    guard trial.kind == .bluealsa else { return }
    #expect(verdict.most - verdict.least < 5e-3)
  }

  @Test func `librespot tells each song while it plays`() {
    var (lines, news) = (InputLines(), InputNews(at: .init(nanoseconds: 0)))
    for song in 1...400 {
      let variables = [
        "PLAYER_EVENT": "track_changed", "NAME": "Song \(song)", "ARTISTS": "One\nTwo",
        "ALBUM": "Album",
      ]
      let told = LibrespotEvent.line { variables[$0] } ?? []
      // A line may be read in two pieces.
      for piece in [told.prefix(9), told.dropFirst(9)] {
        for event in lines.take(piece) { news.take(event) }
      }
      _ = news.turn(at: .init(nanoseconds: Int64(song) * 216_000_000_000))
      #expect(news.metadata.title == "Song \(song)")
      #expect(news.metadata.artist == "One, Two")
    }
  }
}

@Suite struct ProgramSourceLongTests {
  @Test(arguments: ProgramSourceTests.trials)
  func `for a day a program has no hole, and loses no more than a burst at a pause`(
    trial: ProgramTrial
  ) {
    // Among many pauses there is one after which the first burst comes so late that it is left out.
    ProgramSourceTests.expectWhole(trial, for: 86_400, loss: 0.13)
  }
}
