internal import Dispatch
internal import Driver
internal import LinuxIO
internal import OpenSSLSecurity
internal import Pairing
internal import Sender

extension Room {
  /// Pairs the room with this program, so that it may play there from now on. The room shows its PIN with
  /// `tutti-receiver pin`.
  ///
  /// The room then knows the key that `settings.identity` gives the program. Do not pair a `temporary` one, which ends with
  /// the player.
  ///
  /// - Parameter pin: eight digits; spaces and hyphens are ignored.
  /// - Throws: `TuttiError.invalid` if it is no PIN; `pairingFailed` if it is the wrong one, or the room cannot be reached or
  ///   refuses: one line that says what to do. `unavailable` if the identity cannot be read. Takes 15 s at most.
  public func pair(pin: String, settings: OutputSettings = .init()) async throws(TuttiError) {
    let checked: PIN
    do throws(PIN.Mistake) {
      checked = try PIN(pin)
    } catch {
      throw .invalid(
        error == .typo
          ? "a digit of the PIN is mistyped" : "a PIN is eight digits, as the receiver shows them")
    }
    try await visit(.pair(checked), settings)
  }

  /// Makes the room forget this program, which may not play there any more.
  ///
  /// - Throws: as `pair`.
  public func unpair(settings: OutputSettings = .init()) async throws(TuttiError) {
    try await visit(.unpair, settings)
  }

  private func visit(
    _ purpose: PairingVisit.Purpose, _ settings: OutputSettings
  ) async throws(TuttiError) {
    guard hosting == nil else { return }
    let key = try settings.key()
    let room = self
    let result: Result<PairingReport, TuttiError> = await withCheckedContinuation { answer in
      DispatchQueue.global().async {
        do throws(IOError) {
          let pairing = RoomPairing(
            security: try GroupLoop.security(key), senderName: settings.senderName)
          answer.resume(returning: .success(try pairing.run(purpose, at: room.target())))
        } catch {
          answer.resume(returning: .failure(.pairingFailed("\(room.name): \(error)")))
        }
      }
    }
    if let obstacle = try result.get().obstacle { throw .pairingFailed("\(name): \(obstacle)") }
  }

  /// Looks the name up, if it is one.
  private func target() throws(IOError) -> RoomPairing.Target {
    if let record { return RoomPairing.Target(record) }
    do throws(HostResolver.Failure) {
      return .init(
        addresses: try HostResolver.resolve(host: addresses.first ?? "", port: port))
    } catch {
      throw IOError(call: "resolve", code: 0, text: "\(error)")
    }
  }
}
