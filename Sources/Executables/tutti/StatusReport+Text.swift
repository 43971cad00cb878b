import Driver
import House
import Sender
import Service

extension BufferingReport {
  /// Text for people.
  var sentence: String {
    "\(NumberText.fixed(arrivedS, 1)) of \(NumberText.fixed(neededS, 1)) s"
  }
}

extension EffectsReport {
  /// Text for people; empty if there are no effects.
  var sentence: String {
    var parts: [String] = []
    if rate != 1 { parts.append("×" + NumberText.fixed(rate, 2)) }
    if pitch != 0 { parts.append("pitch " + NumberText.signed(pitch)) }
    if let loudness { parts.append("\(NumberText.short(loudness)) LUFS") }
    if let crossfadeS { parts.append("crossfade \(NumberText.short(crossfadeS)) s") }
    parts += filters.map(\.kind.rawValue)
    return parts.joined(separator: " ")
  }
}
