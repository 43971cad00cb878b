/// The outputs of a session, in order, until its driver takes them. Its storage is kept from one turn to the
/// next. Drivers ask it hundreds of times a second, so it is compiled for each kind of output.
package struct OutputQueue<Output> {
  @usableFromInline var outputs: [Output] = []
  @usableFromInline var takenCount = 0

  @inlinable package init() {}

  @inlinable package mutating func append(_ output: Output) { outputs.append(output) }

  @inlinable package mutating func append(contentsOf more: some Sequence<Output>) {
    outputs.append(contentsOf: more)
  }

  /// Returns the next output; nil if none is left.
  @inlinable package mutating func next() -> Output? {
    guard takenCount < outputs.count else {
      if takenCount > 0 { outputs.removeAll(keepingCapacity: true) }
      takenCount = 0
      return nil
    }
    defer { takenCount += 1 }
    return outputs[takenCount]
  }

  /// The outputs that nobody has taken yet.
  @inlinable package var waiting: ArraySlice<Output> { outputs[takenCount...] }
}
