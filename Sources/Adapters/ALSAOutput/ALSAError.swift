import CALSA
import Glibc

/// A call of alsa-lib that failed. `description` is one line for users.
package struct ALSAError: Error, Hashable, Sendable, CustomStringConvertible {
  package var device: String
  /// The function's name.
  package var call: String
  /// The call's result: a negative `errno`.
  package var code: Int32
  /// The requested property that the device lacks, such as a format; `nil` for all other failures.
  package var unsupported: String?

  package init(device: String, call: String, code: Int32, unsupported: String? = nil) {
    self.device = device
    self.call = call
    self.code = code
    self.unsupported = unsupported
  }

  package var description: String {
    if let unsupported { return "sound device \"\(device)\" does not support \(unsupported)" }
    // The name of an impossible card, such as hw:99.
    let isNoName = call == "snd_pcm_open" && code == -EINVAL
    return switch isNoName ? ENOENT : -code {
    case ENOENT, ENODEV, ENXIO:
      "there is no sound device \"\(device)\"; `aplay -L` lists those of this machine"
    case EBUSY:
      "sound device \"\(device)\" is in use by another program"
    case EPERM:
      "sound device \"\(device)\" is not allowed for this service; see DeviceAllow= of its unit"
    case EACCES:
      "no permission to open sound device \"\(device)\"; the user must be in the group `audio`"
    default:
      "sound device \"\(device)\": \(call): \(String(cString: snd_strerror(code)))"
    }
  }
}
