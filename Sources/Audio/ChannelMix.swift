/// The shares of the left and the right input channel in one output channel.
package struct ChannelMix: Hashable, Sendable {
  package var left: Float
  package var right: Float

  package init(left: Float, right: Float) {
    self.left = left
    self.right = right
  }
}
