package import Clock
package import LinuxIO
package import Receiver

/// The connection between a receiver's session and its senders: sockets, or queues within a process. Used on the
/// session's thread.
package protocol ReceiverLines: AnyObject {
  /// Turns an event of the reactor into inputs of the session, and passes them to `tell`, which may call every method
  /// here.
  func take(_ event: ReactorEvent, _ tell: (ReceiverSession.Input) -> Void)
  func send(_ bytes: [UInt8], to id: Receiver.ConnectionID)
  /// Closes the connection after pending bytes have been sent.
  func close(_ id: Receiver.ConnectionID)
  /// Sends a time request to the host at the other end of a connection. Returns the time at which it left, if that is
  /// known at once; otherwise nil.
  func sendTimeRequest(
    _ bytes: [UInt8], sequence: UInt32, toHostOf id: Receiver.ConnectionID, port: UInt16
  ) -> LocalTime?
  /// Asks that host for packets of a live stream.
  func sendAsk(_ bytes: [UInt8], toHostOf id: Receiver.ConnectionID, port: UInt16)
}
