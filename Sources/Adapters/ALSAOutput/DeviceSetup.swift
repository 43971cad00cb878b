import Audio
import CALSA
import Clock
import Glibc
import Output

/// Agrees with a card on rate, format, channels and buffers, and describes the result.
struct DeviceSetup: ~Copyable {
  private let settings: OutputSettings
  private let hardware: OpaquePointer
  private let software: OpaquePointer

  init(_ settings: OutputSettings) throws(ALSAError) {
    var hardware: OpaquePointer?
    var software: OpaquePointer?
    guard snd_pcm_hw_params_malloc(&hardware) >= 0, let hardware,
      snd_pcm_sw_params_malloc(&software) >= 0, let software
    else { throw ALSAError(device: settings.device, call: "malloc", code: -ENOMEM) }
    self.settings = settings
    self.hardware = hardware
    self.software = software
  }

  deinit {
    snd_pcm_hw_params_free(hardware)
    snd_pcm_sw_params_free(software)
  }

  /// The agreed settings. The card is prepared but not running, so `canRewind` and the properties of the position are
  /// guesses until `DeviceProbe` has watched it run.
  func apply(to pcm: borrowing PCMDevice) throws(ALSAError) -> DeviceDescription {
    var description = try agree(with: pcm)
    description.positionTime = try askForStamps(pcm)
    try keepLead(on: pcm, &description)
    return description
  }

  /// The same for a card that records: it wakes its reader with each period.
  func applyCapture(to pcm: borrowing PCMDevice) throws(ALSAError) -> DeviceDescription {
    var description = try agree(with: pcm)
    description.positionTime = try askForStamps(pcm)
    try pcm.check(snd_pcm_sw_params_current(pcm.handle, software), "snd_pcm_sw_params_current")
    snd_pcm_sw_params_set_avail_min(
      pcm.handle, software, snd_pcm_uframes_t(description.periodFrames))
    // Stops when all of its ring is full.
    snd_pcm_sw_params_set_stop_threshold(
      pcm.handle, software, snd_pcm_uframes_t(description.ringFrames))
    try pcm.check(snd_pcm_sw_params(pcm.handle, software), "snd_pcm_sw_params")
    return description
  }

  private func agree(with pcm: borrowing PCMDevice) throws(ALSAError) -> DeviceDescription {
    try pcm.check(snd_pcm_hw_params_any(pcm.handle, hardware), "snd_pcm_hw_params_any")
    // Resampling is the renderer's; alsa-lib's would hide the card's true rate.
    try pcm.check(
      snd_pcm_hw_params_set_rate_resample(pcm.handle, hardware, 0),
      "snd_pcm_hw_params_set_rate_resample")
    try pcm.check(
      snd_pcm_hw_params_set_access(pcm.handle, hardware, SND_PCM_ACCESS_RW_INTERLEAVED),
      "snd_pcm_hw_params_set_access")
    let format = try chooseFormat(pcm)
    let channels = try chooseChannels(pcm)
    let rate = try chooseRate(pcm)
    let (period, ring) = try chooseBuffers(pcm, rate: rate)
    try pcm.check(snd_pcm_hw_params(pcm.handle, hardware), "snd_pcm_hw_params")

    return DeviceDescription(
      device: settings.device, identity: DeviceIdentity.of(pcm, named: settings.device),
      sampleRate: rate, channelCount: channels, format: format, periodFrames: period,
      ringFrames: ring, leadFrames: 0, startFrames: 0, canRewind: settings.usesRewind,
      positionTime: .reading, positionStep: 1)
  }

  /// Chooses how many frames to keep written ahead, and has the card wake the loop accordingly. Also
  /// while it runs.
  func keepLead(
    on pcm: borrowing PCMDevice, _ description: inout DeviceDescription
  ) throws(ALSAError) {
    let (period, ring) = (description.periodFrames, description.ringFrames)
    func frames(_ span: Nanoseconds) -> Int {
      let frames = Int(span.count) * description.sampleRate / 1_000_000_000
      return min(max(frames, 2 * period), ring)
    }
    let lead = frames(description.canRewind ? settings.rewindableLead : settings.lead)
    description.leadFrames = lead
    description.startFrames = min(frames(settings.startSilence), lead)

    try pcm.check(snd_pcm_sw_params_current(pcm.handle, software), "snd_pcm_sw_params_current")
    var boundary = snd_pcm_uframes_t(0)
    snd_pcm_sw_params_get_boundary(software, &boundary)
    // Wakes with each period that the card has played. Half a period less is asked for: what was written
    // a moment after an interrupt is not quite a period short at the next one.
    let wake = snd_pcm_uframes_t(ring - lead + period / 2)
    snd_pcm_sw_params_set_avail_min(pcm.handle, software, wake)
    // Never starts by itself, stops when all has been played.
    snd_pcm_sw_params_set_start_threshold(pcm.handle, software, boundary)
    snd_pcm_sw_params_set_stop_threshold(pcm.handle, software, snd_pcm_uframes_t(ring))
    try pcm.check(snd_pcm_sw_params(pcm.handle, software), "snd_pcm_sw_params")
  }

  private func askForStamps(
    _ pcm: borrowing PCMDevice
  ) throws(ALSAError) -> DeviceDescription.PositionTime {
    try pcm.check(snd_pcm_sw_params_current(pcm.handle, software), "snd_pcm_sw_params_current")
    guard
      snd_pcm_sw_params_set_tstamp_mode(pcm.handle, software, SND_PCM_TSTAMP_ENABLE) >= 0
    else { return .reading }
    let kinds: [(snd_pcm_tstamp_type_t, DeviceDescription.PositionTime)] = [
      (SND_PCM_TSTAMP_TYPE_MONOTONIC_RAW, .driverRaw),
      (SND_PCM_TSTAMP_TYPE_MONOTONIC, .driverMonotonic),
    ]
    // Old kernels refuse the first kind only when the parameters are set.
    for (type, time) in kinds
    where snd_pcm_sw_params_set_tstamp_type(pcm.handle, software, type) >= 0
      && snd_pcm_sw_params(pcm.handle, software) >= 0
    {
      return time
    }
    return .reading
  }

  private func chooseFormat(_ pcm: borrowing PCMDevice) throws(ALSAError) -> DeviceFormat {
    let candidates = settings.format.map { [$0] } ?? DeviceFormat.allCases
    for format in candidates
    where snd_pcm_hw_params_set_format(pcm.handle, hardware, format.alsa) >= 0 {
      return format
    }
    let names = candidates.map(\.rawValue).joined(separator: ", ")
    throw unsupported("the sample format \(names)", call: "snd_pcm_hw_params_set_format")
  }

  /// Two; one on a mono card; as many as it insists on where it has no stereo.
  private func chooseChannels(_ pcm: borrowing PCMDevice) throws(ALSAError) -> Int {
    var least = UInt32(0)
    snd_pcm_hw_params_get_channels_min(hardware, &least)
    for count in [2, 1, least]
    where snd_pcm_hw_params_set_channels(pcm.handle, hardware, count) >= 0 {
      return Int(count)
    }
    throw unsupported("stereo or mono", call: "snd_pcm_hw_params_set_channels")
  }

  private func chooseRate(_ pcm: borrowing PCMDevice) throws(ALSAError) -> Int {
    let wanted = settings.sampleRate
    let nearestFirst = AudioFormat.supportedRates.sorted {
      (abs($0 - wanted), -$0) < (abs($1 - wanted), -$1)
    }
    for rate in nearestFirst
    where snd_pcm_hw_params_set_rate(pcm.handle, hardware, UInt32(rate), 0) >= 0 {
      return rate
    }
    throw unsupported(
      "any sample rate from 8000 to 192000 Hz", call: "snd_pcm_hw_params_set_rate")
  }

  private func chooseBuffers(
    _ pcm: borrowing PCMDevice, rate: Int
  ) throws(ALSAError) -> (period: Int, ring: Int) {
    var period = snd_pcm_uframes_t(Int(settings.period.count) * rate / 1_000_000_000)
    var ring = snd_pcm_uframes_t(Int(settings.ring.count) * rate / 1_000_000_000)
    try pcm.check(
      snd_pcm_hw_params_set_period_size_near(pcm.handle, hardware, &period, nil),
      "snd_pcm_hw_params_set_period_size_near")
    try pcm.check(
      snd_pcm_hw_params_set_buffer_size_near(pcm.handle, hardware, &ring),
      "snd_pcm_hw_params_set_buffer_size_near")
    snd_pcm_hw_params_get_period_size(hardware, &period, nil)
    guard period > 0, ring >= 2 * period else {
      throw unsupported("a ring of two periods", call: "snd_pcm_hw_params_set_buffer_size_near")
    }
    return (Int(period), Int(ring))
  }

  private func unsupported(_ what: String, call: String) -> ALSAError {
    ALSAError(device: settings.device, call: call, code: -EINVAL, unsupported: what)
  }
}
