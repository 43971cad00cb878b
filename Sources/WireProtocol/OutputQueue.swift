/// The outputs of a session, in order, until its driver takes them. Its storage is kept from one turn to the
/// next.
package struct OutputQueue<Output> {
  private var outputs: [Output] = []
  private var takenCount = 0

  package init() {}

  package mutating func append(_ output: Output) { outputs.append(output) }

  package mutating func append(contentsOf more: some Sequence<Output>) {
    outputs.append(contentsOf: more)
  }

  /// Returns the next output; nil if none is left.
  package mutating func next() -> Output? {
    guard takenCount < outputs.count else {
      outputs.removeAll(keepingCapacity: true)
      takenCount = 0
      return nil
    }
    defer { takenCount += 1 }
    return outputs[takenCount]
  }

  /// The outputs that nobody has taken yet.
  package var waiting: ArraySlice<Output> { outputs[takenCount...] }
}
