import ALSAOutput
import TestSupport
import Testing

private struct NoMixer: Error {}

private func isAbsent(_ mixer: consuming Mixer?) -> Bool {
  if case .some = mixer { false } else { true }
}

@Suite struct MixerTests {
  @Test func `a control that goes by decibels is found and set by them`() throws {
    let card = try VirtualCard()
    guard let mixer = try Mixer.open(.automatic, card: card.device) else { throw NoMixer() }
    #expect(mixer.name == "Digital")
    try mixer.set(gain: 1)
    #expect(try card.mixer() == "60 1 0")
    try mixer.set(gain: 0.5)
    #expect(try card.mixer() == "54 1 0")
    try mixer.set(gain: 5)
    #expect(try card.mixer() == "60 1 0")
  }

  @Test func `silence is mute`() throws {
    let card = try VirtualCard()
    guard let mixer = try Mixer.open(.automatic, card: card.device) else { throw NoMixer() }
    try mixer.set(gain: 1)
    for gain: Float in [0, -1, .nan] {
      try mixer.set(gain: gain)
      #expect(try card.mixer() == "0 0 0")
    }
  }

  @Test func `a control without decibels is set by its range`() throws {
    let card = try VirtualCard()
    guard let mixer = try Mixer.open(.named("Tone"), card: card.device) else { throw NoMixer() }
    try mixer.set(gain: 0.3)
    #expect(try card.mixer() == "0 0 3")
  }

  @Test func `a control that does not exist is an error that names those that do`() throws {
    let card = try VirtualCard()
    #expect {
      _ = try Mixer.open(.named("Treble"), card: card.device)
    } throws: { error in
      "\(error)"
        == "sound device \"\(card.device)\" does not support the mixer control Treble; "
        + "it has: Tone, Digital"
    }
  }

  @Test func `no mixer where there is none or none is wanted`() throws {
    let card = try VirtualCard()
    #expect(try isAbsent(Mixer.open(.none, card: card.device)))
    #expect(try isAbsent(Mixer.open(.automatic, card: "hw:31")))
  }

  @Test func `a choice is read from a word`() {
    #expect(MixerChoice("auto") == .automatic)
    #expect(MixerChoice("none") == MixerChoice.none)
    #expect(MixerChoice("PCM") == .named("PCM"))
  }
}
