import Testing

/// Programs in simulated time that seek again and again: samples and packets of any rate, one renderer or two, rates from
/// 0.5 to 2. Each place is heard on its sample from its beginning, nothing of the old timeline is heard after the instant
/// that was returned, and nothing is said to be late.
@Suite struct SeekPropertyTests {
  static func seek(seeds: Range<UInt64>, each count: Int) async {
    for seed in seeds {
      let program = SimulatedProgram(seed: seed)
      await program.run(seeks: count)
      guard let fault = program.fault else { continue }
      Issue.record("seed \(seed): \(fault)\n\(program.steps.joined(separator: "\n"))")
      return
    }
  }

  @Test(.timeLimit(.minutes(5))) func `each seek is heard on its sample`() async {
    await Self.seek(seeds: 0..<6, each: 5)
  }
}

@Suite struct SeekPropertyLongTests {
  @Test(.timeLimit(.minutes(30))) func `a thousand seeks are heard on their samples`() async {
    await SeekPropertyTests.seek(seeds: 100..<300, each: 5)
  }
}
