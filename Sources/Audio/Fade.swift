/// The shape of every fade: half a turn of a raised cosine, from 0 at 0 to 1 at 1. Two of them, one
/// reversed, add up to one, so that a cross-fade between equal signals is not heard.
@_noLocks @_noAllocation
package func fadeIn(at progress: Double) -> Float {
  guard progress > 0 else { return 0 }
  guard progress < 1 else { return 1 }
  return Float(0.5 + 0.5 * sineOfHalfTurns(progress - 0.5))
}
