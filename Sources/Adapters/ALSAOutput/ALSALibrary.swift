import CALSA
import Glibc

/// alsa-lib's settings for the whole process.
package enum ALSALibrary {
  /// Switches off alsa-lib's messages on stderr, whose content is in `ALSAError`, and its locks, because one thread
  /// owns each handle. Call once, before the first device is opened and before other threads exist, because it sets
  /// an environment variable.
  package static func configure() {
    setenv("LIBASOUND_THREAD_SAFE", "0", 0)
    calsa_silence_messages()
  }

  /// Returns the reason why a device cannot be opened at the moment; `nil` if it can.
  package static func obstacle(toOpening device: String) -> ALSAError? {
    do throws(ALSAError) {
      _ = try PCMDevice(opening: device)
      return nil
    } catch {
      return error
    }
  }
}
