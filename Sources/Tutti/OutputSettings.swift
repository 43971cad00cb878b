internal import Driver
internal import LinuxIO
internal import OpenSSLSecurity

/// Codec, identity and name with which a player or renderer sends.
public struct OutputSettings: Hashable, Sendable {
  public enum Codec: Hashable, Sendable {
    /// Passes on the packets of a file or station, such as MP3 and AAC, if all rooms decode them; otherwise FLAC for
    /// lossless sources, such as enqueued samples, and Opus for the rest.
    case automatic
    case pcm
    case flac
    /// Opus at a bit rate in kbit/s, 6 to 510; nil lets Opus choose.
    case opus(bitrate: Int?)
  }

  /// The key by which rooms recognise a program: a room plays for the keys that were paired with it.
  public enum Identity: Hashable, Sendable {
    /// This user's key, in `$XDG_STATE_HOME/tutti` or `~/.local/state/tutti`: a room that was paired with `tutti pair`
    /// plays for this program as well. The two count as one sender, and the one that starts last gets a room.
    case user
    /// The key in this file, for a program that is paired by itself. Only its user may read the file; it is made at
    /// first use, in an existing folder. `tutti pair --state-dir DIR` pairs `DIR/sender-key.pem`.
    case file(String)
    /// An unencrypted Ed25519 key in PKCS #8, as PEM, which the program stores itself.
    case key(pem: String)
    /// A new key that ends with the player. Rooms that are open to everybody accept it, and those of the same user on
    /// this machine.
    case temporary
  }

  public var codec = Codec.automatic
  public var identity = Identity.user
  /// The sender's name, which busy rooms tell other senders. Names of 1 to 63 bytes are shown completely.
  public var senderName = "Tutti"

  public init() {}

  func encoders() throws(TuttiError) -> EncoderChoice {
    do {
      return switch codec {
      case .automatic: try EncoderChoice(codec: .auto, bitrate: nil, packetLength: 20)
      case .pcm: try EncoderChoice(codec: .pcm, bitrate: nil, packetLength: 20)
      case .flac: try EncoderChoice(codec: .flac, bitrate: nil, packetLength: 20)
      case .opus(let bitrate): try EncoderChoice(codec: .opus, bitrate: bitrate, packetLength: 20)
      }
    } catch {
      throw .invalid(error.description)
    }
  }

  /// - Throws: `invalid` if the key is not valid; `unavailable` if its file cannot be read or made.
  func key() throws(TuttiError) -> IdentityKey {
    switch identity {
    case .user:
      let directory = SenderKeyFile.usualStateDirectory
      return try Self.kept { () throws(IOError) in
        try StateFile.createDirectory(path: directory)
        return SenderKeyFile(stateDirectory: directory)
      }
    case .file(let path): return try Self.kept { SenderKeyFile(path: path) }
    case .key(let pem):
      guard let key = try? IdentityKey(pem: Array(pem.utf8)) else {
        throw .invalid("the identity is not an unencrypted Ed25519 key in PEM")
      }
      return key
    case .temporary:
      guard let key = try? IdentityKey.generate() else {
        throw .unavailable("OpenSSL made no key")
      }
      return key
    }
  }

  private static func kept(
    _ file: () throws(IOError) -> SenderKeyFile
  ) throws(TuttiError) -> IdentityKey {
    do throws(IOError) {
      return try file().key()
    } catch {
      throw .unavailable("the identity cannot be kept: \(error)")
    }
  }
}
