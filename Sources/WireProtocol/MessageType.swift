/// The numbers of the messages on the wire. The high byte says who sends: 0 the sender and 1 the receiver on
/// the control connection, 2 either, 3 the sender on the media connection; 4 the sender and 5 the receiver on
/// a pairing connection; 6 a daemon to the other one of its household.
enum MessageType {
  static let hello: UInt16 = 0x0001
  static let anchor: UInt16 = 0x0002
  static let flush: UInt16 = 0x0003
  static let settings: UInt16 = 0x0004
  static let keepAlive: UInt16 = 0x0005
  static let nowPlaying: UInt16 = 0x0006
  static let streamVolume: UInt16 = 0x0007
  static let prove: UInt16 = 0x0008
  static let live: UInt16 = 0x0009
  static let clip: UInt16 = 0x000a
  static let clipPiece: UInt16 = 0x000b
  static let clipTime: UInt16 = 0x000c
  static let sound: UInt16 = 0x000d
  static let askTerm: UInt16 = 0x000e

  static let welcome: UInt16 = 0x0101
  static let refuse: UInt16 = 0x0102
  static let credit: UInt16 = 0x0103
  static let flushed: UInt16 = 0x0104
  static let flushedAutomatically: UInt16 = 0x0105
  static let status: UInt16 = 0x0106
  static let codecs: UInt16 = 0x0107
  static let liveReport: UInt16 = 0x0108
  static let clipState: UInt16 = 0x0109
  static let term: UInt16 = 0x010a

  static let goodbye: UInt16 = 0x0201

  static let attach: UInt16 = 0x0301
  static let format: UInt16 = 0x0302
  static let packet: UInt16 = 0x0303
  static let artwork: UInt16 = 0x0304

  static let pairRequest: UInt16 = 0x0401
  static let pairShare: UInt16 = 0x0402
  static let pairConfirm: UInt16 = 0x0403
  static let unpair: UInt16 = 0x0404
  static let sayPIN: UInt16 = 0x0405

  static let pairSalt: UInt16 = 0x0501
  static let pairAnswer: UInt16 = 0x0502
  static let paired: UInt16 = 0x0503
  static let pairRefused: UInt16 = 0x0504
  static let unpaired: UInt16 = 0x0505
  static let sayingPIN: UInt16 = 0x0506

  static let household: UInt16 = 0x0610
}
