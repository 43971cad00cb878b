internal import CTutti
internal import Dispatch
internal import Synchronization
internal import Tutti

/// The objects behind the pointers of C, each of which holds one reference until it is released.
enum Handle {
  static func make(_ object: some AnyObject) -> OpaquePointer {
    OpaquePointer(Unmanaged.passRetained(object).toOpaque())
  }

  static func object<Object: AnyObject>(_ pointer: OpaquePointer, _ type: Object.Type) -> Object {
    Unmanaged<Object>.fromOpaque(UnsafeRawPointer(pointer)).takeUnretainedValue()
  }

  /// Ends the reference that C had.
  static func take<Object: AnyObject>(_ pointer: OpaquePointer, _ type: Object.Type) -> Object {
    Unmanaged<Object>.fromOpaque(UnsafeRawPointer(pointer)).takeRetainedValue()
  }
}

/// Blocks a thread of C until a task has ended.
enum Blocking {
  private final class Box<Value: Sendable>: Sendable {
    let result = Mutex<Result<Value, TuttiError>?>(nil)
  }

  static func run<Value: Sendable>(
    _ body: @escaping @Sendable () async throws(TuttiError) -> Value
  ) throws(TuttiError) -> Value {
    let (box, done) = (Box<Value>(), DispatchSemaphore(value: 0))
    Task.detached {
      do throws(TuttiError) {
        let value = try await body()
        box.result.withLock { $0 = .success(value) }
      } catch {
        box.result.withLock { $0 = .failure(error) }
      }
      done.signal()
    }
    done.wait()
    guard let result = box.result.withLock({ $0 }) else { throw .closed }
    return try result.get()
  }
}

/// The line about the last failure of each thread.
enum LastError {
  /// Returns the number of an error, after it has noted its line.
  static func note(_ error: TuttiError) -> tutti_result {
    ctutti_set_last_error(error.description)
    return result(of: error)
  }

  private static func result(of error: TuttiError) -> tutti_result {
    switch error {
    case .closed: TUTTI_CLOSED
    case .invalid, .playlistIsFull: TUTTI_INVALID
    case .noSuchItem, .noSuchRoom, .notFound, .notPlayable, .broken: TUTTI_NO_SUCH
    case .notSeekable: TUTTI_NOT_SEEKABLE
    case .queueIsFull, .busy: TUTTI_AGAIN
    case .notReady, .cancelled: TUTTI_NOT_READY
    case .roomUnavailable, .pairingFailed: TUTTI_ROOM
    case .unavailable, .refused: TUTTI_UNAVAILABLE
    }
  }
}

/// Runs the body of a function that returns a number.
func number(_ body: () throws(TuttiError) -> Int64) -> Int64 {
  do throws(TuttiError) {
    return try body()
  } catch {
    return Int64(LastError.note(error).rawValue)
  }
}

func code(_ body: () throws(TuttiError) -> Void) -> Int32 {
  Int32(
    number { () throws(TuttiError) in
      try body()
      return Int64(TUTTI_OK.rawValue)
    })
}

/// Runs the body of a function that returns seconds, which are negative where it fails.
func seconds(_ body: () throws(TuttiError) -> Double) -> Double {
  do throws(TuttiError) {
    return try body()
  } catch {
    return Double(LastError.note(error).rawValue)
  }
}

/// Runs the body of a function that returns an object.
func object(_ body: () throws(TuttiError) -> OpaquePointer) -> OpaquePointer? {
  do throws(TuttiError) {
    return try body()
  } catch {
    _ = LastError.note(error)
    return nil
  }
}

/// Runs a command of a player, and returns its outcome.
func outcome(
  _ since: UnsafeMutablePointer<Int64>?,
  _ body: @escaping @Sendable () async throws(TuttiError) -> Player.Outcome
) -> Int32 {
  Int32(
    number { () throws(TuttiError) in
      let outcome = try Blocking.run(body)
      switch outcome {
      case .heard(let time):
        since?.pointee = time.nanoseconds
        return Int64(TUTTI_HEARD.rawValue)
      case .silent: return Int64(TUTTI_SILENT.rawValue)
      case .superseded: return Int64(TUTTI_SUPERSEDED.rawValue)
      case .pending: return Int64(TUTTI_PENDING.rawValue)
      }
    })
}

/// A string of C, which must not be missing.
func text(_ pointer: UnsafePointer<CChar>?) throws(TuttiError) -> String {
  guard let pointer, let text = String(validatingCString: pointer) else {
    throw .invalid("a text is missing, or is not in UTF-8")
  }
  return text
}
