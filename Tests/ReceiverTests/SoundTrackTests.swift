import Audio
import Clock
import Glibc
import Receiver
import TestSupport
import Testing

private let rate = TestRoom.rate

private func tone(_ frame: Int64) -> Float {
  Float(0.4 * sin(2 * .pi * 440 * Double(frame) / Double(rate)))
}

private func program(_ change: (inout SoundSetting) -> Void) -> SoundProgram {
  var setting = SoundSetting()
  change(&setting)
  return SoundProgram(setting, rate: rate, attenuation: 0)
}

private let boost = program {
  $0.bands = [SoundBand(.peak, frequency: 440, gain: -9, q: 2)]
  $0.treble = 6
}

/// A room that plays from device frame 9,600 on, for ten seconds.
private func playingRoom(
  fir: ImpulseResponse? = nil, _ content: @escaping (Int64) -> Float = tone
) -> TestRoom {
  let room = TestRoom(fir: fir, content: content)
  room.feed(0..<480_000)
  room.sendAnchor(.playing, frame: 0, atDevice: 9_600)
  return room
}

/// The level of a signal, or of the difference from another one, in dB.
private func level(_ signal: [Float], minus other: [Float]? = nil) -> Double {
  let rest =
    other.map { zip(signal, $0).map { Double($0) - Double($1) } } ?? signal.map(Double.init)
  let power = rest.reduce(0) { $0 + $1 * $1 } / Double(rest.count)
  return 10 * log10(max(power, 1e-30))
}

@Suite struct SoundTrackTests {
  @Test func `without a setting every sample is as it was`() {
    let (plain, room) = (playingRoom(), playingRoom(fir: linearPhase()))
    room.send(.sound(SoundProgram()))
    room.send(.useFIR(false))
    for turn in 1...100 {
      for each in [plain, room] {
        if turn % 9 == 0 { each.send(.gain(turn % 2 == 0 ? 1 : 0.5)) }
        if turn == 40 { each.sendAnchor(.paused, frame: 24_000, atDevice: 33_600) }
        each.turn()
      }
    }
    #expect(plain.samples(0..<48_000) == room.samples(0..<48_000))
    #expect(level(room.signal(12_000..<20_000)) > -20)
  }

  @Test(arguments: [Float.nan, .infinity])
  func `one sample that is no number is over with its block`(sample: Float) {
    let (plain, room) = (playingRoom(), playingRoom { $0 == 24_000 ? sample : tone($0) })
    for each in [plain, room] {
      each.send(.sound(boost))
      each.run(toDevice: 96_000)
    }
    let rest = room.signal(60_000..<96_000)
    #expect(level(rest, minus: plain.signal(60_000..<96_000)) < level(rest) - 60)
  }

  @Test func `after a setting was taken away every sample is as it was`() {
    let (plain, room) = (playingRoom(), playingRoom())
    for (frame, program) in [(19_200, boost), (48_000, SoundProgram())] {
      room.run(toDevice: frame)
      room.send(.sound(program))
    }
    plain.run(toDevice: 96_000)
    room.run(toDevice: 96_000)
    #expect(plain.samples(0..<19_200) == room.samples(0..<19_200))
    #expect(plain.samples(60_000..<96_000) == room.samples(60_000..<96_000))
  }

  @Test func `a setting is faded in as it was designed, soon, and exactly`() throws {
    let (plain, room) = (playingRoom(), playingRoom())
    room.run(toDevice: 24_000)
    room.send(.sound(boost))
    plain.run(toDevice: 72_000)
    room.run(toDevice: 72_000)
    let (dry, heard) = (plain.signal(0..<72_000), room.signal(0..<72_000))
    let first = try #require(zip(dry, heard).enumerated().first { $0.element.0 != $0.element.1 })
    // Within the frames that cannot be taken back any more, and a period.
    #expect(first.offset < 24_000 + TestRoom.rewindMargin + 2 * TestRoom.periodFrames)
    // The first frames of the fade differ by less than a sample can show.
    let starts = first.offset - 12...first.offset
    let faded = starts.map { Self.fade(dry, from: $0, boost) }
    let residual = faded.map { level(heard, minus: $0) }.min()
    #expect(residual ?? 0 < -120)
  }

  /// Returns a signal as a cross-fade of 50 ms to the filter leaves it.
  private static func fade(_ dry: [Float], from start: Int, _ program: SoundProgram) -> [Float] {
    var left = dry[start...].map(Double.init)
    var (right, state) = (left, SoundState())
    left.withUnsafeMutableBufferPointer { left in
      right.withUnsafeMutableBufferPointer { right in
        state.run(program, left.baseAddress!, right.baseAddress!, frames: left.count)
      }
    }
    return dry.indices.map { frame in
      guard frame >= start else { return dry[frame] }
      let share = fadeIn(at: Double(frame - start) / Double(rate / 20))
      return dry[frame] + (Float(left[frame - start]) - dry[frame]) * share
    }
  }

  @Test(arguments: 1...8 as ClosedRange<UInt64>)
  func `however often it is changed, nothing jumps`(seed: UInt64) {
    var generator = SplitMix64(seed: seed)
    let room = playingRoom(fir: linearPhase())
    let programs = [
      boost, SoundProgram(), program { $0.bass = 8 }, program { $0.hasCrossfeed = true },
    ]
    while room.played < 192_000 {
      switch Int.random(in: 0..<40, using: &generator) {
      case 0...4: room.send(.sound(programs.randomElement(using: &generator)!))
      case 5: room.send(.useFIR(.random(using: &generator)))
      case 6: room.send(.gain(.random(in: 0.5...1, using: &generator)))
      default: break
      }
      room.turn()
    }
    let heard = room.signal(9_600 + 480..<190_000)
    // The second difference of a tone of 440 Hz is 0.0033 of its amplitude, and a fade adds a little.
    let bends = heard.indices.dropFirst(2).map {
      abs(heard[$0] - 2 * heard[$0 - 1] + heard[$0 - 2])
    }
    #expect(bends.max() ?? 1 < 0.0033 * 0.4 * 1.5)
  }

  @Test func `frames that are rendered again are the same`() {
    let (steady, room) = (playingRoom(), playingRoom())
    for each in [steady, room] { each.send(.sound(boost)) }
    while room.played < 96_000 {
      // A gain that changes nothing that is heard: the channel that it would lower is silent.
      if room.played % 4_800 == 0 {
        room.send(.channelMap(left: only, right: ChannelMix(left: 0, right: 1)))
      }
      if room.played % 4_800 == 2_400 {
        room.send(.channelMap(left: only, right: ChannelMix(left: 0, right: 0.9)))
      }
      room.turn()
      steady.turn()
    }
    #expect(room.rewindCount > 15)
    #expect(steady.signal(0..<96_000) == room.signal(0..<96_000))
  }

  private let only = ChannelMix(left: 1, right: 0)
}

/// A filter of linear phase that lowers the treble: 2,001 frames with the peak in the middle.
private func linearPhase() -> ImpulseResponse {
  let sinc = KaiserSinc(halfWidth: 1_000, cutoff: 0.3, beta: 8)
  return ImpulseResponse(rate: rate, channels: [sinc.coefficients(count: 2_001, centre: 1_000)])!
}

/// A filter of linear phase that makes all half as loud.
private func quieter() -> ImpulseResponse {
  var values = [Float](repeating: 0, count: 4_001)
  values[2_000] = 0.5
  return ImpulseResponse(rate: rate, channels: [values])!
}

@Suite struct FIRTrackTests {
  /// An impulse every 4,800 frames.
  private static func clicks(_ frame: Int64) -> Float { frame % 4_800 == 2_400 ? 0.5 : 0 }

  @Test func `an impulse is heard at its frame`() {
    let (plain, room) = (playingRoom(Self.clicks), playingRoom(fir: linearPhase(), Self.clicks))
    room.send(.useFIR(true))
    for each in [plain, room] { each.run(toDevice: 96_000) }
    let heard = room.signal(0..<96_000)
    for (frame, value) in plain.signal(0..<90_000).enumerated() where value > 0.25 {
      let loudest = (frame - 1_000...frame + 1_000).max { abs(heard[$0]) < abs(heard[$1]) }
      #expect(loudest == frame)
      #expect(abs(heard[frame] - 0.5 * 0.3) < 0.001)
      for distance in 1...900 {
        #expect(abs(heard[frame - distance] - heard[frame + distance]) < 1e-5)
      }
    }
    #expect(plain.signal(0..<90_000).count { $0 > 0.25 } == 17)
  }

  @Test func `switched on and off, it fades in and out as it was designed`() throws {
    let room = playingRoom(fir: quieter()) { _ in 0.4 }
    room.run(toDevice: 24_000)
    room.send(.useFIR(true))
    room.run(toDevice: 96_000)
    room.send(.useFIR(false))
    room.run(toDevice: 192_000)
    let gains = room.signal(9_900..<190_000).map { $0 / 0.4 }
    #expect(gains[..<14_100].allSatisfy { $0 == 1 })
    #expect(gains[50_000..<86_100].allSatisfy { abs($0 - 0.5) < 1e-6 })
    #expect(gains[110_000...].allSatisfy { abs($0 - 1) < 1e-6 })
    // The cosine is steepest in the middle, by π/2 relative to a straight line.
    let steps = zip(gains, gains.dropFirst()).map { abs($0 - $1) }
    #expect((steps.max() ?? 1) < 0.5 * Float.pi / 2 / 2_400 + 1e-6)
    let changing = steps.indices.filter { steps[$0] > 1e-6 }
    #expect(changing.count < 2 * 2_400)
  }

  @Test func `what rewinds the card leaves the filtered sound as it was`() {
    let (steady, room) = (playingRoom(fir: linearPhase()), playingRoom(fir: linearPhase()))
    for each in [steady, room] { each.send(.useFIR(true)) }
    while room.played < 96_000 {
      let other = ChannelMix(left: 0, right: room.played % 9_600 < 4_800 ? 0.9 : 1)
      if room.played % 2_400 == 0 {
        room.send(.channelMap(left: ChannelMix(left: 1, right: 0), right: other))
      }
      room.turn()
      steady.turn()
    }
    #expect(room.rewindCount > 15)
    #expect(steady.signal(0..<96_000) == room.signal(0..<96_000))
  }

  @Test func `a pause, a resume and a restart of the card keep the place`() {
    let (plain, room) = (playingRoom(Self.clicks), playingRoom(fir: linearPhase(), Self.clicks))
    room.send(.useFIR(true))
    for each in [plain, room] {
      each.run(toDevice: 24_000)
      each.sendAnchor(.paused, frame: 20_400, atDevice: 30_000)
      each.run(toDevice: 36_000)
      each.sendAnchor(.playing, frame: 20_400, atDevice: 42_000)
      each.run(toDevice: 96_000)
      each.restartCard()
      each.run(toDevice: 192_000)
    }
    let (dry, heard) = (plain.signal(0..<185_000), room.signal(0..<185_000))
    var count = 0
    for (frame, value) in dry.enumerated() where value > 0.25 && (frame < 90_000 || frame > 105_000)
    {
      count += 1
      let near = frame - 1_000...frame + 1_000
      #expect(near.max { abs(heard[$0]) < abs(heard[$1]) } == frame)
    }
    #expect(count > 25)
    #expect(heard[33_000..<40_000].allSatisfy { abs($0) < 1e-6 })
  }
}
