import Clock
import MPDProtocol
import TestSupport
import Testing

@Suite struct CommandWordsTests {
  private func words(_ line: String) throws -> [String] {
    let words = try CommandWords(line: Array(line.utf8))
    return [words.name] + words.arguments
  }

  @Test func `quotes, escapes and spaces are taken off`() throws {
    #expect(try words("status") == ["status"])
    #expect(try words("find  artist\t\"Bj\\\"örk \\\\ x\"") == ["find", "artist", "Bj\"örk \\ x"])
    #expect(try words("add \"\"") == ["add", ""])
    #expect(try words("find \"(artist == \\\"x\\\")\"") == ["find", "(artist == \"x\")"])
  }

  @Test func `wrong quoting is refused with the words of the protocol`() {
    func refusal(_ line: String) -> Ack? {
      do {
        _ = try words(line)
        return nil
      } catch {
        return error as? Ack
      }
    }
    #expect(refusal("add \"x") == Ack(.unknown, "Missing closing '\"'"))
    #expect(refusal("add \"x\\") == Ack(.unknown, "Missing closing '\"'"))
    #expect(refusal("add \"x\"y") == Ack(.unknown, "Space expected after closing '\"'"))
    #expect(refusal("add x\"y") == Ack(.unknown, "Invalid unquoted character"))
    #expect(refusal("a-b") == Ack(.unknown, "Invalid word character"))
    #expect(refusal("") == Ack(.unknown, "Letter expected"))
  }

  @Test func `a line has no more arguments than the limit`() throws {
    let most = Array(repeating: "x", count: CommandWords.argumentLimit).joined(separator: " ")
    #expect(try words("find \(most)").count == CommandWords.argumentLimit + 1)
    #expect(throws: Ack(.argument, "Too many arguments")) { try words("find \(most) x") }
  }

  @Test func `numbers, ranges and places are read, and nothing else`() throws {
    #expect(try Argument.range("3") == 3..<4)
    #expect(try Argument.range("3:5") == 3..<5)
    #expect(try Argument.range("3:").lowerBound == 3)
    #expect(try Argument.number("4294967295") == 4_294_967_295)
    for wrong in ["", "-1", "x", "5:3", "1:x", "99999999999999999999"] {
      #expect(throws: Ack.self) { try Argument.range(wrong) }
    }
    #expect(try Argument.place("+0", current: 3, count: 9) == 4)
    #expect(try Argument.place("-0", current: 3, count: 9) == 3)
    #expect(throws: Ack.notPlaying) { try Argument.place("+0", current: nil, count: 9) }
    #expect(throws: Ack.badIndex) { try Argument.place("+9", current: 3, count: 9) }
    #expect(try Argument.seconds("+2.5") == 2.5)
    for wrong in ["nan", "inf", "1e99", "0x10", ""] {
      #expect(throws: Ack.self) { try Argument.seconds(wrong) }
    }
  }

  @Test func `any line is taken or refused, and never traps`() throws {
    var random = SplitMix64(seed: 39)
    let alphabet = Array("aZ \"'\\\t()=!<>ANDcontains0:9-+éfind artist ".utf8)
    for _ in 0..<5_000 {
      let count = Int(random.pick(UInt8(0)...60))
      let line = (0..<count).map { _ in random.element(alphabet) }
      if let words = try? CommandWords(line: line) {
        _ = try? SongFilter(words.arguments, isSearch: true)
        _ = try? Argument.range(words.arguments.first ?? "")
      }
    }
  }
}
