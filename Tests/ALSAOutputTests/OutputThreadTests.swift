import ALSAOutput
import Clock
import Output
import OutputTestSupport
import TestSupport
import Testing

/// The sound that a card heard. The left channel: the device frame that each frame claims to be,
/// and 0 for silence. The right channel: how often the source had been told to render again.
private func ramp(_ card: VirtualCard) throws -> (frames: [Int64], versions: [Int32]) {
  let samples = try card.heard(as: Int32.self)
  let count = samples.count / 2
  return (
    (0..<count).map { Int64(samples[2 * $0]) >> 8 },
    (0..<count).map { samples[2 * $0 + 1] / -(1 << 24) }
  )
}

/// The card runs ten times slower than the clock, so that a stall of the machine of a second is not
/// audible.
private let slow = "PPM=-900000"

@Suite(.timeLimit(.minutes(10))) struct OutputThreadTests {
  @Test func `a card hears silence first, then each frame once and in order`() throws {
    let card = try VirtualCard(slow)
    let output = RunningOutput(OutputSettings(device: card.device))
    output.wait(for: .opened)
    let device = try #require(output.control.device)
    let start = Int64(device.startFrames)
    output.script.waitUntilRendered(Int64(device.leadFrames) + 4000)
    output.stop()
    let frames = try ramp(card).frames
    try #require(output.control.underruns == 0)
    #expect(frames.prefix(Int(start)).allSatisfy { $0 == 0 })
    #expect(frames.dropFirst(Int(start)).elementsEqual(start..<Int64(frames.count)))
    #expect(Int64(frames.count) == output.script.rendered)
  }

  @Test func `what is no longer right is taken back from the card and rendered again`() throws {
    let card = try VirtualCard(slow)
    let output = RunningOutput(OutputSettings(device: card.device))
    output.wait(for: .opened)
    output.script.waitUntilRendered(28_000)
    let wrong = output.script.rendered - 1000
    output.script.renderAgain(from: wrong)
    output.script.waitUntilRendered(output.script.rendered + 2000)
    output.stop()
    try #require(output.control.underruns == 0)
    let (frames, versions) = try ramp(card)
    #expect(output.script.rewound == wrong)
    #expect(output.control.rewinds == 1)
    let lead = frames.firstIndex { $0 != 0 } ?? 0
    #expect(frames.dropFirst(lead).elementsEqual(Int64(lead)..<Int64(frames.count)))
    #expect(versions.prefix(Int(wrong)).allSatisfy { $0 == 0 })
    #expect(versions.dropFirst(Int(wrong)).allSatisfy { $0 == 1 })
  }

  @Test func `what the card is about to read is not taken back`() throws {
    let card = try VirtualCard(slow)
    let output = RunningOutput(OutputSettings(device: card.device))
    output.wait(for: .opened)
    output.script.waitUntilRendered(28_000)
    output.script.renderAgain(from: 0)
    output.script.waitUntilRendered(28_500)
    output.stop()
    try #require(output.control.underruns == 0)
    let versions = try ramp(card).versions
    let rewound = try #require(output.script.rewound)
    let heard = try #require(output.script.heardAtRewind)
    #expect(versions.firstIndex(of: 1) == Int(rewound))
    // Allow for the frames that were heard between the two readings of the card.
    #expect(rewound - heard >= 470)
  }

  @Test func `a card that keeps what it has says so to the source`() throws {
    let card = try VirtualCard(slow)
    var settings = OutputSettings(device: card.device)
    settings.usesRewind = false
    let output = RunningOutput(settings)
    output.wait(for: .opened)
    output.script.waitUntilRendered(8000)
    output.script.renderAgain(from: 100)
    output.script.waitUntilRendered(output.script.rendered + 1000)
    output.stop()
    try #require(output.control.underruns == 0)
    let (frames, versions) = try ramp(card)
    let rewound = try #require(output.script.rewound)
    #expect(versions.firstIndex(of: 1) == Int(rewound))
    #expect(frames.count == Int(output.script.rendered))
    #expect(output.control.rewinds == 0)
  }

  @Test(arguments: [VirtualCard.Control.underrun, .suspend])
  func `after a gap the card is started again with silence`(fault: VirtualCard.Control) throws {
    let card = try VirtualCard()
    let output = RunningOutput(OutputSettings(device: card.device))
    output.wait(for: .opened)
    output.script.waitUntilRendered(28_000)
    let before = output.control.underruns
    try card.set(fault)
    if fault == .suspend {
      output.wait(for: .suspended)
      try card.clear(.suspend)
    }
    while output.control.underruns == before { _ = output.nextEvent() }
    let restarted = output.script.rendered
    output.script.waitUntilRendered(restarted + 4000)
    output.stop()
    #expect(try card.starts().count >= 2)
    #expect(try ramp(card).frames.contains(restarted + 2000))
  }

  @Test func `a card that runs dry as soon as it is started is given a pause before each start`()
    throws
  {
    let card = try VirtualCard()
    let output = RunningOutput(OutputSettings(device: card.device))
    output.wait(for: .opened)
    try card.set(.dry)
    let before = output.control.underruns
    while output.control.underruns < before + 20 { _ = output.nextEvent() }
    output.stop()
    // The first start after a gap is immediate.
    let starts = try card.starts().suffix(19).map(\.nanoseconds)
    #expect(zip(starts, starts.dropFirst()).allSatisfy { $1 - $0 >= 5_000_000 })
  }

  @Test func `a device that vanishes is opened again when it is back`() throws {
    let card = try VirtualCard()
    let output = RunningOutput(OutputSettings(device: card.device))
    output.wait(for: .opened)
    output.script.waitUntilRendered(28_000)
    try card.set(.vanish)
    output.wait(for: .lost(code: -19))
    output.wait(for: .unavailable)
    try card.clear(.vanish)
    output.wait(for: .opened)
    output.script.waitUntilRendered(40_000)
    output.stop()
    #expect(output.control.failure == nil)
    #expect(try ramp(card).frames.contains(39_000))
  }

  @Test func `a device that is not there at first is waited for`() throws {
    let card = try VirtualCard()
    try card.set(.vanish)
    let output = RunningOutput(OutputSettings(device: card.device))
    #expect(output.nextEvent() == .unavailable)
    try card.clear(.vanish)
    output.wait(for: .opened)
    output.stop()
  }

  @Test(
    arguments: [1, 3, 48, 256, 480, 882, 2048].map { ($0, 48_000) } + [(0, 44_100), (441, 44_100)])
  func `each position was true at its time, give or take its uncertainty`(
    step: Int, rate: Int
  ) throws {
    let ppm = 40.0
    let card = try VirtualCard("PPM=\(ppm)", "STEP=\(step)", "RATE=\(rate)")
    var settings = OutputSettings(device: card.device)
    settings.startSilence = settings.rewindableLead
    let output = RunningOutput(settings)
    output.wait(for: .opened)
    var seconds: Int64 = 2
    output.script.waitUntilRendered(Int64(rate) * seconds)
    // On a busy machine, few moves are seen in time.
    while step == 0 || step > 24,
      output.script.observations.count(where: { $0.uncertainty < .microseconds(50) }) < 8,
      seconds < 60
    {
      seconds += 1
      output.script.waitUntilRendered(Int64(rate) * seconds)
    }
    output.stop()
    #expect(seconds < 60)
    // There are several starts if the machine stalled.
    let starts = try card.starts()
    let errors = try output.script.observations.map { seen in
      let start = try #require(
        starts.last { $0.nanoseconds <= (seen.time + seen.uncertainty).nanoseconds })
      let elapsed = Double(seen.time.nanoseconds - start.nanoseconds) * 1e-9
      let error = Double(seen.frame.index - start.frame) - elapsed * Double(rate) * (1 + ppm * 1e-6)
      #expect(error.magnitude <= seen.uncertainty.seconds * Double(rate) + 0.51)
      return error
    }
    #expect(errors.count >= 8)
    // Single readings on a busy machine may be far off, as their uncertainty says.
    if (1..<24).contains(step) { #expect(errors.map(\.magnitude).sorted()[errors.count / 2] < 0.5) }
  }
}
