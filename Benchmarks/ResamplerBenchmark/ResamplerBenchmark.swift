import Audio
import CResamplers
import Clock
import Glibc
import TestSupport

/// Compares our interpolators with the usual libraries at the same job, in one run on one machine.
///
///     TUTTI_BENCHMARKS=1 swift run -c release resampler-benchmark
///
/// Needs libsoxr-dev, libsamplerate0-dev and libzita-resampler-dev.
@main
struct ResamplerBenchmark {
  static func main() {
    printTable(
      of: driftCandidates(rate: 48_000),
      title: "48 kHz stereo, +50 ppm (the receiver follows a sound card)",
      rate: 48_000, ratio: 1 + 50e-6)
    printTable(
      of: driftCandidates(rate: 44_100), title: "44.1 kHz stereo, +50 ppm",
      rate: 44_100, ratio: 1 + 50e-6)
    printTable(
      of: conversionCandidates, title: "44.1 kHz to 48 kHz stereo (the sender converts a stream)",
      rate: 44_100, ratio: 48_000 / 44_100)
  }

  /// Resamplers that may change their ratio while they run.
  static func driftCandidates(rate: Int) -> [Candidate] {
    let taps = ResamplerKernel(channelCount: 2, sampleRate: rate).tapCount
    return [
      Candidate(name: "ours, \(taps) taps x 64 phases, cubic") {
        follow($0, rate: rate, ratio: $1)
      },
      .library("soxr variable rate", RESAMPLER_SOXR_VARIABLE),
      .library("libsamplerate medium", RESAMPLER_SRC_MEDIUM),
      .library("libsamplerate best", RESAMPLER_SRC_BEST),
      .library("zita VResampler 48", RESAMPLER_ZITA_48),
      .library("zita VResampler 96", RESAMPLER_ZITA_96),
    ]
  }

  static let conversionCandidates = [
    Candidate(name: "ours, 192 taps x 160 phases", run: convert),
    .library("soxr HQ", RESAMPLER_SOXR_HQ),
    .library("soxr VHQ", RESAMPLER_SOXR_VHQ),
    .library("libsamplerate medium", RESAMPLER_SRC_MEDIUM),
    .library("libsamplerate best", RESAMPLER_SRC_BEST),
    .library("zita VResampler 96", RESAMPLER_ZITA_96),
  ]
}

/// Tones for the quality figures, in Hz. None divides a rate, so all phases occur.
private let tones = [997.0, 6_007, 10_007, 15_013, 19_013, 20_011]

private func printTable(
  of candidates: [Candidate], title: String, rate: Int, ratio: Double
) {
  print("\n\(title): THD+N in dB, CPU in % of a core\n")
  let heads = tones.map { "\(Int($0)) Hz" } + ["worst", "gain 20 kHz", "CPU"]
  print("| \(padded("", 34)) |" + heads.map { " \(padded($0, 11)) |" }.joined())
  print("| --- |" + heads.map { _ in " --- |" }.joined())
  for candidate in candidates {
    var cells: [String] = []
    var gain = 0.0
    for hertz in tones {
      let fit = quality(of: candidate, hertz: hertz, rate: rate, ratio: ratio)
      cells.append(decimals(fit.residualDecibels, 1))
      gain = decibels(fit.amplitude / 0.5)
    }
    cells.append(decimals(worst(of: candidate, rate: rate, ratio: ratio), 1))
    cells += [decimals(gain, 3), decimals(load(of: candidate, rate: rate, ratio: ratio), 3)]
    print("| \(padded(candidate.name, 34)) |" + cells.map { " \(padded($0, 11)) |" }.joined())
  }
}

/// Fits one second of a tone. Refines the frequency first, because some libraries round the ratio.
private func quality(
  of candidate: Candidate, hertz: Double, rate: Int, ratio: Double
) -> SineFit {
  let mono = sine(hertz: hertz, rate: rate, frames: 0..<rate)
  let output = candidate.run(mono.flatMap { [$0, $0] }, ratio)
  let left = stride(from: 0, to: output.count, by: 2).map { output[$0] }
  let inner = Array(left[left.count / 4..<left.count * 7 / 8])
  let half = inner.count / 2
  var cyclesPerSample = hertz / (Double(rate) * ratio)
  for _ in 0..<2 {
    let first = SineFit(inner[..<half], cyclesPerSample: cyclesPerSample)
    let second = SineFit(inner[half...], cyclesPerSample: cyclesPerSample)
    let turns = second.phase - first.phase - cyclesPerSample * Double(half)
    cyclesPerSample += (turns - turns.rounded()) / Double(half)
  }
  return SineFit(inner, cyclesPerSample: cyclesPerSample)
}

/// The worst of 40 tones up to 20 kHz: a few tones alone may happen to lie between the side lobes.
private func worst(of candidate: Candidate, rate: Int, ratio: Double) -> Double {
  stride(from: 257.0, to: 20_000, by: 500).map {
    quality(of: candidate, hertz: $0, rate: rate, ratio: ratio).residualDecibels
  }.max() ?? 0
}

/// CPU time for noise in % of its duration: the best of seven runs of ten seconds of sound.
private func load(of candidate: Candidate, rate: Int, ratio: Double) -> Double {
  let seconds = 10
  var generator = SplitMix64(seed: 1)
  let noise = (0..<2 * seconds * rate).map { _ in Float.random(in: -0.5...0.5, using: &generator) }
  var best = Double.infinity
  for _ in 0..<7 {
    let start = processSeconds()
    let output = candidate.run(noise, ratio)
    best = min(best, processSeconds() - start)
    precondition(output.count > noise.count / 2)
  }
  return best / Double(seconds) * 100
}

private func processSeconds() -> Double {
  var time = timespec()
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
  return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
}

private func padded(_ text: String, _ width: Int) -> String {
  text + String(repeating: " ", count: max(width - text.count, 0))
}

private func decimals(_ value: Double, _ count: Int) -> String {
  let scale = pow(10, Double(count))
  // Adding zero removes the sign of a negative zero.
  return "\((value * scale).rounded() / scale + 0)"
}
