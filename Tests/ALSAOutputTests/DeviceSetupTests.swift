import ALSAOutput
import Output
import OutputTestSupport
import TestSupport
import Testing

/// Opens a card, and returns the properties that it was set up with.
private func describe(
  _ card: VirtualCard, _ change: (inout OutputSettings) -> Void = { _ in }
) throws -> DeviceDescription {
  var settings = OutputSettings(device: card.device)
  change(&settings)
  let output = RunningOutput(settings)
  output.wait(for: .opened)
  output.stop()
  return try #require(output.control.device)
}

/// Returns the reason why a device cannot be opened.
private func failure(_ settings: OutputSettings) -> String? {
  let output = RunningOutput(settings)
  output.wait(for: .unavailable)
  output.stop()
  return output.control.failure
}

@Suite(.timeLimit(.minutes(10))) struct DeviceSetupTests {
  @Test func `a card that can do everything gets 32 bits, stereo and 48 kHz`() throws {
    let device = try describe(VirtualCard())
    #expect(device.format == .int32)
    #expect(device.channelCount == 2)
    #expect(device.sampleRate == 48_000)
    #expect(device.periodFrames == 480)
    #expect(device.ringFrames == 28_800)
  }

  @Test(arguments: [
    ("S16_LE", DeviceFormat.int16), ("S24_LE", .int24), ("S24_3LE", .packed24),
    ("S32_LE", .int32), ("FLOAT_LE", .float32),
  ])
  func `a card with one format gets that`(name: String, format: DeviceFormat) throws {
    #expect(try describe(VirtualCard("FORMAT=\(name)")).format == format)
  }

  @Test func `a format may be forced`() throws {
    #expect(try describe(VirtualCard()) { $0.format = .int16 }.format == .int16)
  }

  @Test(arguments: [(44_100, 48_000), (44_100, 44_100), (96_000, 48_000)])
  func `a card with one rate gets that`(rate: Int, wanted: Int) throws {
    let device = try describe(VirtualCard("RATE=\(rate)")) { $0.sampleRate = wanted }
    #expect(device.sampleRate == rate)
  }

  @Test(arguments: [1, 2, 6])
  func `a card with an odd number of channels gets them`(count: Int) throws {
    #expect(try describe(VirtualCard("CHANNELS=\(count)")).channelCount == count)
  }

  @Test func `a card that gives frames back is found to do so and gets the longer lead`() throws {
    let device = try describe(VirtualCard("PPM=-900000"))
    #expect(device.canRewind)
    #expect(device.leadFrames == 24_000)
    let other = try describe(VirtualCard("PPM=-900000")) { $0.usesRewind = false }
    #expect(!other.canRewind)
    #expect(other.leadFrames == 3840)
  }

  @Test(arguments: [1, 7, 48, 256, 441, 480, 882, 2048])
  func `a card that tells its position in steps is found to do so`(step: Int) throws {
    let device = try describe(VirtualCard("STEP=\(step)")) { $0.startSilence = $0.rewindableLead }
    #expect(device.positionStep == step)
  }

  @Test(arguments: [(44_100, 44), (48_000, 48), (88_200, 88)])
  func `a card that moves by milliseconds is found to do so`(rate: Int, step: Int) throws {
    let device = try describe(VirtualCard("RATE=\(rate)", "STEP=0")) {
      $0.startSilence = $0.rewindableLead
    }
    #expect(device.sampleRate == rate)
    #expect(device.positionStep == step)
    #expect(device.movesByMilliseconds)
  }

  @Test(arguments: [(44_100, 48), (44_100, 441), (88_200, 96), (48_000, 24)])
  func `a card that moves by other times is not taken for one`(rate: Int, step: Int) throws {
    let device = try describe(VirtualCard("RATE=\(rate)", "STEP=\(step)")) {
      $0.startSilence = $0.rewindableLead
    }
    #expect(device.positionStep == step)
    #expect(!device.movesByMilliseconds)
  }

  @Test(arguments: [
    (DeviceDescription.PositionTime.reading, 1, false, true), (.reading, 6000, false, true),
    (.reading, 6001, false, false),
    (.driverRaw, 1, false, false), (.driverRaw, 480, false, false), (.driverRaw, 48, true, true),
    (.driverMonotonic, 44, true, true),
  ])
  func `a position without a stamp of its own is watched as it moves`(
    time: DeviceDescription.PositionTime, step: Int, isByMilliseconds: Bool, isWatched: Bool
  ) throws {
    var device = try describe(VirtualCard("PPM=-900000"))
    device.positionTime = time
    device.positionStep = step
    device.movesByMilliseconds = isByMilliseconds
    #expect(device.movesAreWatched == isWatched)
  }

  @Test func `an absent device is named, with the way to list devices`() throws {
    let card = try VirtualCard()
    try card.set(.vanish)
    for name in [card.device, "hw:31", "no-such-device"] {
      #expect(
        failure(OutputSettings(device: name))
          == "there is no sound device \"\(name)\"; `aplay -L` lists those of this machine")
    }
  }

  @Test func `a device in use is said to be`() throws {
    let card = try VirtualCard()
    let settings = OutputSettings(device: card.device)
    let first = RunningOutput(settings)
    first.wait(for: .opened)
    #expect(
      failure(settings) == "sound device \"\(card.device)\" is in use by another program")
    first.stop()
  }

  @Test func `a format that the card lacks is named`() throws {
    let card = try VirtualCard("FORMAT=S16_LE")
    var settings = OutputSettings(device: card.device)
    settings.format = .float32
    #expect(
      failure(settings)
        == "sound device \"\(card.device)\" does not support the sample format float")
  }

  @Test func `a device without permission names the group`() {
    let error = ALSAError(device: "hw:0", call: "snd_pcm_open", code: -13)
    #expect(
      error.description
        == "no permission to open sound device \"hw:0\"; the user must be in the group `audio`")
    let forbidden = ALSAError(device: "hw:0", call: "snd_pcm_open", code: -1)
    #expect(
      forbidden.description
        == "sound device \"hw:0\" is not allowed for this service; see DeviceAllow= of its unit")
  }
}
