/// Values of sent datagrams, kept until their transmit stamps come. Stamps come at once or never, so if many are
/// awaited, all of them are too old to be of use and are forgotten.
package struct AwaitedStamps<Value> {
  @inlinable package static var limit: Int { 512 }

  @usableFromInline var values: [TransmitID: Value] = [:]

  @inlinable package init() {}

  @inlinable package subscript(_ id: TransmitID) -> Value? { values[id] }

  @inlinable package mutating func note(_ id: TransmitID, for value: Value) {
    if values.count >= Self.limit { values.removeAll(keepingCapacity: true) }
    values[id] = value
  }
}
