import Audio
import Glibc
import Testing

/// The gain in dB of an analogue filter with its corner at 1, at `s`, a multiple of the corner.
private func analogue(_ band: SoundBand, at s: Double) -> Double {
  let a = pow(10, band.gain / 40)
  let root = a.squareRoot() / band.q
  let ss = -s * s
  // Numerators and denominators as real and imaginary parts of polynomials in js.
  let (top, bottom): ((Double, Double), (Double, Double)) =
    switch band.kind {
    case .peak: ((ss + 1, s * a / band.q), (ss + 1, s / (a * band.q)))
    case .lowPass: ((1, 0), (ss + 1, s / band.q))
    case .highPass: ((ss, 0), (ss + 1, s / band.q))
    case .lowShelf: ((a * (ss + a), a * root * s), (a * ss + 1, root * s))
    case .highShelf: ((a * (a * ss + 1), a * root * s), (ss + a, root * s))
    }
  return decibels(hypot(top.0, top.1) / hypot(bottom.0, bottom.1))
}

private let rates = [44_100, 48_000, 88_200, 96_000, 176_400, 192_000]

private func program(_ rate: Int, attenuation: Double = 0, _ change: (inout SoundSetting) -> Void)
  -> SoundProgram
{
  var setting = SoundSetting()
  change(&setting)
  return SoundProgram(setting, rate: rate, attenuation: attenuation)
}

/// The first channel of what comes out for these frames, in both channels, in pieces of any size.
private func run(_ program: SoundProgram, _ samples: [Double], piece: Int = 200) -> [Double] {
  var (state, left, right) = (SoundState(), samples, samples)
  var done = 0
  while done < samples.count {
    let count = min(piece, samples.count - done)
    left.withUnsafeMutableBufferPointer { left in
      right.withUnsafeMutableBufferPointer { right in
        state.run(program, left.baseAddress! + done, right.baseAddress! + done, frames: count)
      }
    }
    done += count
  }
  return left
}

/// The gain in dB of an impulse response at a frequency in turns a frame.
private func gain(_ response: [Double], at turns: Double) -> Double {
  var (re, im) = (0.0, 0.0)
  for (n, value) in response.enumerated() {
    re += value * cos(2 * .pi * turns * Double(n))
    im -= value * sin(2 * .pi * turns * Double(n))
  }
  return decibels(hypot(re, im))
}

@Suite struct SoundProgramTests {
  @Test func `gains agree with the C library`() {
    for step in -800...800 {
      let level = Double(step) / 10
      #expect(abs(gain(ofDecibels: level) / pow(10, level / 20) - 1) < 1e-13)
      #expect(abs(decibels(ofGain: pow(10, level / 20)) - level) < 1e-11)
    }
  }

  @Test(arguments: rates)
  func `each kind of band has the response of its design`(rate: Int) {
    for kind in SoundBand.Kind.allCases {
      for frequency in [20, 63.5, 1_000, 7_999.9, 19_000] as [Double] {
        for level in [-12, 5.25, 12] as [Double] {
          for q in [0.1, 0.71, 4, 10] as [Double] {
            let band = SoundBand(kind, frequency: frequency, gain: level, q: q)
            let filter = Biquad(band, rate: rate)
            let corner = tan(.pi * frequency / Double(rate))
            for part in [0.01, 0.3, 0.9, 1, 1.1, 4, 30] as [Double] {
              let turns = min(frequency * part / Double(rate), 0.49)
              let expected = analogue(band, at: tan(.pi * turns) / corner)
              let found = decibels(filter.power(at: turns).squareRoot())
              if expected > -150 { #expect(abs(found - expected) < 0.001) }
            }
          }
        }
      }
    }
  }

  @Test(arguments: [44_100, 192_000])
  func `what is rendered has the response of the design`(rate: Int) {
    let bands = [
      SoundBand(.lowShelf, frequency: 80, gain: 6, q: 0.7),
      SoundBand(.peak, frequency: 250, gain: -9, q: 3),
      SoundBand(.peak, frequency: 1_000, gain: 4, q: 1.4),
      SoundBand(.highShelf, frequency: 6_000, gain: -3, q: 0.5),
      SoundBand(.highPass, frequency: 30, q: 0.71),
    ]
    let program = program(rate) { $0.bands = bands }
    var impulse = [Double](repeating: 0, count: rate)
    impulse[0] = 1
    let response = run(program, impulse)
    for frequency in [25, 80, 200, 250, 300, 1_000, 3_000, 10_000, 18_000] as [Double] {
      let expected =
        bands.reduce(0) { sum, band in
          sum
            + analogue(
              band,
              at: tan(.pi * frequency / Double(rate)) / tan(.pi * band.frequency / Double(rate)))
        } + decibels(program.leftGain)
      #expect(abs(gain(response, at: frequency / Double(rate)) - expected) < 0.01)
    }
  }

  @Test func `every band is stable at every rate`() {
    for rate in AudioFormat.supportedRates {
      for kind in SoundBand.Kind.allCases {
        for frequency in [0, 20, 21, 500, 9_000, 19_999.9, 1e9, .nan] as [Double] {
          for level in [-100, -12, 0, 12, .nan] as [Double] {
            for q in [0, 0.1, 10, .infinity] as [Double] {
              let band = SoundBand(kind, frequency: frequency, gain: level, q: q)
              #expect(Biquad(band, rate: rate).isStable)
            }
          }
        }
      }
    }
  }

  @Test(arguments: [44_100, 96_000])
  func `no sine gets louder, whatever is boosted`(rate: Int) {
    let program = program(rate) {
      $0.bands = [40, 41, 1_000, 1_001, 5_000, 12_000, 12_100, 20_000].map {
        SoundBand(.peak, frequency: $0, gain: 12, q: 10)
      }
      ($0.bass, $0.treble) = (10, 10)
    }
    for step in 0...2_000 {
      let frequency = 10 * pow(2, Double(step) / 181)
      guard frequency < Double(rate) / 2 else { continue }
      let level = decibels(program.power(at: frequency, rate: rate).squareRoot() * program.leftGain)
      #expect(level < 0.1)
    }
    #expect(program.leftGain == program.rightGain)
    #expect(decibels(program.leftGain) < -20)
  }

  @Test func `loudness never makes a room louder than at full volume`() {
    for attenuation in stride(from: 0.0, through: 60, by: 0.5) {
      let program = program(48_000, attenuation: attenuation) { $0.hasLoudness = true }
      for frequency in [20, 60, 100, 1_000, 8_000, 20_000] as [Double] {
        let boost = decibels(program.power(at: frequency, rate: 48_000).squareRoot())
        #expect(boost < attenuation + 0.001)
      }
    }
    let quiet = program(48_000, attenuation: 40) { $0.hasLoudness = true }
    #expect(abs(decibels(quiet.power(at: 20, rate: 48_000).squareRoot()) - 12) < 0.6)
    #expect(abs(decibels(quiet.power(at: 1_000, rate: 48_000).squareRoot())) < 0.5)
  }

  @Test func `both parts of a crossover add up to what was sent`() {
    let rate = 48_000
    var impulse = [Double](repeating: 0, count: rate)
    impulse[0] = 1
    let parts = [Crossover.Part.low, .high].map { part in
      run(program(rate) { $0.crossover = Crossover(part, frequency: 80) }, impulse)
    }
    let sum = zip(parts[0], parts[1]).map(+)
    for frequency in [20, 60, 80, 100, 1_000, 15_000] as [Double] {
      #expect(abs(gain(sum, at: frequency / Double(rate))) < 0.001)
      let low = gain(parts[0], at: frequency / Double(rate))
      if frequency == 80 { #expect(abs(low + 6.02) < 0.01) }
      if frequency == 20 { #expect(abs(low) < 0.1) }
    }
  }

  @Test func `crossfeed leaves the middle as it is`() {
    let program = program(48_000) { $0.hasCrossfeed = true }
    let samples = sine(hertz: 200, rate: 48_000, frames: 0..<4_800).map(Double.init)
    let heard = run(program, samples)
    for (sample, value) in zip(samples, heard) {
      #expect(abs(sample * program.leftGain - value) < 1e-12)
    }
  }

  @Test func `balance lowers the other side alone`() {
    let right = program(48_000) { $0.balance = 40 }
    #expect((right.leftGain, right.rightGain) == (0.6, 1))
    let left = program(48_000) { $0.balance = -100 }
    #expect((left.leftGain, left.rightGain) == (1, 0))
  }

  @Test func `what sets nothing does nothing`() {
    #expect(program(48_000) { _ in }.isOff)
    #expect(program(48_000) { $0.bands = [SoundBand(.peak, frequency: 50, gain: 0)] }.isOff)
    #expect(program(48_000) { $0.hasLoudness = true }.isOff)
    #expect(program(48_000) { ($0.bass, $0.isOn) = (6, false) }.isOff)
    #expect(program(48_000) { $0.distance = 4 }.isOff)
    #expect(!program(48_000) { $0.bass = 6 }.isOff)
  }

  @Test func `a state is as good in small pieces`() {
    let program = program(48_000) {
      $0.bands = [SoundBand(.peak, frequency: 100, gain: 6, q: 2)]
      $0.hasCrossfeed = true
    }
    let samples = sine(hertz: 120, rate: 48_000, frames: 0..<1_000).map(Double.init)
    #expect(run(program, samples, piece: 1) == run(program, samples, piece: 1_000))
  }
}
