import Sender

/// Feeds arbitrary bytes to both ends of the connection between a player and a decoding process. Started by run.sh.
/// Everything that decodes must survive encoding.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzMedia(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
  let input = Array(UnsafeBufferPointer(start: start, count: count))
  guard let kind = input.first else { return 0 }
  let bytes = input.dropFirst()
  switch kind % 4 {
  case 0:
    guard let answer = try? MediaAnswer(bytes) else { return 0 }
    precondition((try? MediaAnswer(answer.bytes[...])) != nil)
    describe(answer)
  case 1:
    guard let call = try? SourceCall(bytes) else { return 0 }
    precondition((try? SourceCall(call.bytes[...])) == call)
  case 2:
    guard let reply = try? SourceReply(bytes) else { return 0 }
    precondition((try? SourceReply(reply.bytes[...])) == reply)
  default:
    guard let request = try? MediaRequest(bytes) else { return 0 }
    precondition((try? MediaRequest(request.bytes[...])) == request)
  }
  return 0
}

/// Checks that the text for people is one line.
private func describe(_ answer: MediaAnswer) {
  switch answer {
  case .failed(let failure), .frames(_, .some(let failure), _):
    precondition(!"\(failure.error(of: "a"))".contains("\n"))
  case .obstacle(let obstacle): _ = obstacle.obstacle(of: "a")
  case .opened(_, let state), .done(let state):
    precondition(state.metadata?.title?.contains("\n") != true)
  default: break
  }
}
