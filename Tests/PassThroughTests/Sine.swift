import Foundation
import TestSupport

extension Recording {
  /// 997 Hz at half of full scale, in both channels: no period is a whole number of frames.
  static func sine(rate: Int, _ frames: Range<Int>) -> Recording {
    var recording = Recording(rate: rate, frames: 0)
    recording.samples = frames.flatMap { frame in
      let value = sin(2 * .pi * 997 * Double(frame) / Double(rate)) * 16_384
      return [Int32(value.rounded()), Int32(value.rounded())]
    }
    return recording
  }
}
