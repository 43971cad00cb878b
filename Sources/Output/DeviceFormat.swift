/// The sample formats of cards, all little-endian, from the most to the least preferred.
package enum DeviceFormat: String, CaseIterable, Sendable {
  case int32 = "s32"
  /// 24 bits in the lower part of four bytes.
  case int24 = "s24"
  /// 24 bits in three bytes.
  case packed24 = "s24_3le"
  case float32 = "float"
  case int16 = "s16"

  package var bytesPerSample: Int {
    switch self {
    case .int32, .int24, .float32: 4
    case .packed24: 3
    case .int16: 2
    }
  }
}
