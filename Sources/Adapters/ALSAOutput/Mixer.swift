import CALSA
import Glibc

/// The choice of the component that sets the volume.
package enum MixerChoice: Hashable, Sendable {
  /// The card, if it has a control in decibels; else the renderer.
  case automatic
  /// The renderer.
  case none
  /// The card's control of this name.
  case named(String)

  /// Reads a setting: `auto`, `none` or a name.
  package init(_ text: String) {
    self =
      switch text {
      case "auto": .automatic
      case "none": .none
      default: .named(text)
      }
  }
}

/// A card's own volume control. Not for the output thread.
package struct Mixer: ~Copyable {
  /// Names that drivers give to the control of the loudspeaker's signal, in order of preference.
  private static let usualNames = [
    "Digital", "Master", "PCM", "Speaker", "Headphone", "Line Out", "Playback", "HDMI",
  ]

  /// The control's name.
  package let name: String
  private let card: String
  private let handle: OpaquePointer
  private let element: OpaquePointer

  /// Opens the control of `card`, which is ALSA's name of it, such as `hw:0`.
  ///
  /// Returns `nil` for `none`, or if `automatic` finds no control: then the renderer sets the volume.
  ///
  /// - Throws: `ALSAError` if the named control does not exist; `description` lists those that do.
  package static func open(_ choice: MixerChoice, card: String) throws(ALSAError) -> Mixer? {
    switch choice {
    case .none: return nil
    case .automatic:
      // A card without a mixer is no error here.
      guard let mixer = try? Mixer(card: card, name: nil), mixer.decibels != nil else { return nil }
      return mixer
    case .named(let name): return try Mixer(card: card, name: name)
    }
  }

  private init(card: String, name: String?) throws(ALSAError) {
    var opened: OpaquePointer?
    let code = snd_mixer_open(&opened, 0)
    guard code >= 0, let handle = opened else {
      throw ALSAError(device: card, call: "snd_mixer_open", code: code)
    }
    var failure = snd_mixer_attach(handle, card)
    if failure >= 0 { failure = snd_mixer_selem_register(handle, nil, nil) }
    if failure >= 0 { failure = snd_mixer_load(handle) }
    let elements = failure >= 0 ? Self.playbackElements(handle) : []
    let wanted = name.map { [$0] } ?? Self.usualNames
    let found = wanted.lazy.compactMap { name in elements.first { $0.name == name } }.first
    guard let found else {
      snd_mixer_close(handle)
      guard failure >= 0 else {
        throw ALSAError(device: card, call: "snd_mixer_attach", code: failure)
      }
      let names = elements.map(\.name).joined(separator: ", ")
      throw ALSAError(
        device: card, call: "snd_mixer_find_selem", code: -ENOENT,
        unsupported: "the mixer control \(wanted.joined(separator: ", ")); it has: "
          + (names.isEmpty ? "none" : names))
    }
    self.name = found.name
    self.card = card
    self.handle = handle
    element = found.element
  }

  deinit { snd_mixer_close(handle) }

  private static func playbackElements(
    _ handle: OpaquePointer
  ) -> [(name: String, element: OpaquePointer)] {
    var result: [(String, OpaquePointer)] = []
    var next = snd_mixer_first_elem(handle)
    while let element = next {
      if snd_mixer_selem_has_playback_volume(element) != 0,
        let name = snd_mixer_selem_get_name(element)
      {
        result.append((String(cString: name), element))
      }
      next = snd_mixer_elem_next(element)
    }
    return result
  }

  /// The control's range in hundredths of a decibel; `nil` if the driver does not tell.
  private var decibels: ClosedRange<Int>? {
    var least = 0
    var most = 0
    guard snd_mixer_selem_get_playback_dB_range(element, &least, &most) >= 0, least < most else {
      return nil
    }
    return least...most
  }

  /// Sets the volume as a factor of the amplitude, 0...1. 1 is the card's 0 dB, because higher levels
  /// distort. 0 mutes, or sets the lowest level.
  package func set(gain: Float) throws(ALSAError) {
    let isMuted = !(gain > 0)
    var code: Int32
    if let decibels {
      let full = decibels.contains(0) ? 0 : decibels.upperBound
      // Factors below 10^-10 are the bottom of every range.
      let level = isMuted ? -20_000 : full + Int((2000 * log10(max(min(gain, 1), 1e-10))).rounded())
      let clamped = min(max(level, decibels.lowerBound), decibels.upperBound)
      code = snd_mixer_selem_set_playback_dB_all(element, clamped, 0)
    } else {
      var least = 0
      var most = 0
      snd_mixer_selem_get_playback_volume_range(element, &least, &most)
      let share = isMuted ? 0 : Double(min(gain, 1))
      let level = least + Int((Double(most - least) * share).rounded())
      code = snd_mixer_selem_set_playback_volume_all(element, level)
    }
    if code >= 0, snd_mixer_selem_has_playback_switch(element) != 0 {
      code = snd_mixer_selem_set_playback_switch_all(element, isMuted ? 0 : 1)
    }
    guard code >= 0 else {
      throw ALSAError(device: card, call: "snd_mixer_selem_set_playback", code: code)
    }
  }
}
