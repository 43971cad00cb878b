package import Clock
internal import Synchronization
package import WireProtocol

/// A room in this process, which its sender reaches by queues instead of sockets. Each end may have a thread of its
/// own; posting to one end wakes its thread.
///
/// No bytes leave the process, so nothing is encrypted, and each end trusts the identity that the other states: whoever
/// could pose as either end can read the memory of both. Nobody else can reach the room, because it listens nowhere.
/// Its address is made by `HostedConnections` alone; no text and no packet can be parsed as one.
package final class HostedRoom: Sendable {
  /// Messages to the room. Connections have numbers, which are never reused.
  package enum ToRoom: Sendable {
    case connected(Int, SecuredPeer)
    case received(Int, [UInt8])
    case closed(Int)
    case datagram([UInt8], at: LocalTime)
  }

  enum ToSender: Sendable {
    case received(Int, [UInt8])
    case closed(Int, reason: String)
    case timeRequest([UInt8], at: LocalTime)
    case ask([UInt8], at: LocalTime)
    /// The room has taken bytes that were posted.
    case drained
  }

  /// Largest number of bytes that wait at one end. Beyond it, the other end evidently does not run: a connection is
  /// closed, and datagrams are lost, as in a network.
  package static let byteLimit = 8 << 20

  package let id: Identifier
  private let room: HostedQueue<ToRoom>
  private let sender: HostedQueue<ToSender>

  /// - Parameters:
  ///   - room: wakes the thread of the room's end.
  ///   - sender: wakes the thread of the sender's end.
  package init(id: Identifier, room: Waker, sender: Waker) {
    self.id = id
    self.room = HostedQueue(room)
    self.sender = HostedQueue(sender)
  }

  // MARK: - The room's end

  package func take() -> [ToRoom] {
    let taken = room.take()
    if taken.contains(where: { if case .received = $0 { true } else { false } }) {
      sender.post(.drained)
    }
    return taken
  }

  package func send(_ bytes: [UInt8], on connection: Int) {
    guard !sender.post(.received(connection, bytes), bytes: bytes.count) else { return }
    room.post(.closed(connection))
    sender.post(.closed(connection, reason: "this machine is too busy"))
  }

  package func close(_ connection: Int) {
    sender.post(.closed(connection, reason: "the room closed the connection"))
  }

  /// Returns the time at which the request left, which is also the time of its arrival.
  package func sendTimeRequest(_ bytes: [UInt8]) -> LocalTime {
    let now = HostClock.now
    _ = sender.post(.timeRequest(bytes, at: now), bytes: bytes.count)
    return now
  }

  package func sendAsk(_ bytes: [UInt8]) {
    _ = sender.post(.ask(bytes, at: HostClock.now), bytes: bytes.count)
  }

  // MARK: - The sender's end

  func takeFromRoom() -> [ToSender] { sender.take() }

  func connect(_ connection: Int, _ peer: SecuredPeer) { room.post(.connected(connection, peer)) }

  /// Returns false if the connection was closed, because the room takes nothing.
  func post(_ bytes: [UInt8], on connection: Int) -> Bool {
    if room.post(.received(connection, bytes), bytes: bytes.count) { return true }
    room.post(.closed(connection))
    return false
  }

  func closeFromSender(_ connection: Int) { room.post(.closed(connection)) }

  /// Returns the time at which the datagram left, which is also the time of its arrival.
  func post(datagram bytes: [UInt8]) -> LocalTime {
    let now = HostClock.now
    _ = room.post(.datagram(bytes, at: now), bytes: bytes.count)
    return now
  }

  /// Number of bytes that the room has not taken, on all connections.
  var queuedBytes: Int { room.bytes }
}

/// One direction of a line between two threads.
private final class HostedQueue<Element: Sendable>: Sendable {
  private let state = Mutex<(elements: [Element], bytes: Int)>(([], 0))
  private let waker: Waker

  init(_ waker: Waker) { self.waker = waker }

  var bytes: Int { state.withLock { $0.bytes } }

  /// Returns false without posting if the queue has no space for so many bytes.
  @discardableResult
  func post(_ element: Element, bytes: Int = 0) -> Bool {
    let isKept = state.withLock { state in
      guard bytes == 0 || state.bytes + bytes <= HostedRoom.byteLimit else { return false }
      state.elements.append(element)
      state.bytes += bytes
      return true
    }
    waker.wake()
    return isKept
  }

  func take() -> [Element] {
    state.withLock { state in
      defer { state = ([], 0) }
      return state.elements
    }
  }
}
