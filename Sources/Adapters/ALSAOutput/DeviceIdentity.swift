import CALSA
import Glibc

/// Recognises a card after it was unplugged, or after a restart.
enum DeviceIdentity {
  /// Returns the card's identifier, its parts (vendor and product for USB) and the device's number, or
  /// the ALSA name of a device without a card. Card numbers are left out, because they change with the
  /// order of plugging.
  static func of(_ pcm: borrowing PCMDevice, named name: String) -> String {
    var info: OpaquePointer?
    guard snd_pcm_info_malloc(&info) >= 0, let info else { return name }
    defer { snd_pcm_info_free(info) }
    guard snd_pcm_info(pcm.handle, info) >= 0 else { return name }
    let card = snd_pcm_info_get_card(info)
    guard card >= 0, let parts = cardParts(card) else { return name }
    return "\(parts)/\(snd_pcm_info_get_device(info))"
  }

  /// True if a kernel driver answers, rather than a plugin of alsa-lib without a card.
  static func isCard(_ pcm: borrowing PCMDevice) -> Bool {
    var info: OpaquePointer?
    guard snd_pcm_info_malloc(&info) >= 0, let info else { return false }
    defer { snd_pcm_info_free(info) }
    return snd_pcm_info(pcm.handle, info) >= 0 && snd_pcm_info_get_card(info) >= 0
  }

  private static func cardParts(_ card: Int32) -> String? {
    var control: OpaquePointer?
    guard snd_ctl_open(&control, "hw:\(card)", SND_CTL_NONBLOCK) >= 0, let control else {
      return nil
    }
    defer { snd_ctl_close(control) }
    var info: OpaquePointer?
    guard snd_ctl_card_info_malloc(&info) >= 0, let info else { return nil }
    defer { snd_ctl_card_info_free(info) }
    guard snd_ctl_card_info(control, info) >= 0,
      let identifier = snd_ctl_card_info_get_id(info),
      let components = snd_ctl_card_info_get_components(info)
    else { return nil }
    return "\(String(cString: identifier))/\(String(cString: components))"
  }

  /// True for sound servers, which take written frames at once: their plugins move the pointer back
  /// when asked to, but the frames still play.
  static func isSoundServer(_ pcm: borrowing PCMDevice) -> Bool {
    var info: OpaquePointer?
    guard snd_pcm_info_malloc(&info) >= 0, let info else { return false }
    defer { snd_pcm_info_free(info) }
    guard snd_pcm_info(pcm.handle, info) >= 0, let name = snd_pcm_info_get_name(info) else {
      return false
    }
    let servers: [String] = ["PulseAudio", "PipeWire", "JACK", "BlueALSA"]
    return servers.contains { strstr(name, $0) != nil }
  }
}
