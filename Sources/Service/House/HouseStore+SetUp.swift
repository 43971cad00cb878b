import House
import ProgramJSON
import SQLiteStore

/// The folders of the library, the names of rooms and the language of dates, on the disk: one row, as JSON.
extension HouseStore {
  static let setUpTables = "CREATE TABLE IF NOT EXISTS set_up (record TEXT NOT NULL);"

  /// Leaves out what nobody can have chosen.
  func loadSetUp(_ tell: (String) -> Void) throws(SQLiteError) -> SetUp {
    let text = try database.prepare("SELECT record FROM set_up").first { $0.text(0) }
    guard case let text?? = text else { return SetUp() }
    guard let read = try? JSON.decode(SetUp.self, from: Array(text.utf8)) else {
      tell("the list of the library's folders is damaged; add them again: tutti folders --add")
      return SetUp()
    }
    return read.sound
  }

  func write(_ setUp: SetUp, before: SetUp) throws(SQLiteError) {
    guard setUp != before else { return }
    try database.run("DELETE FROM set_up")
    guard let bytes = try? JSON.encode(setUp) else { return }
    try database.run(
      "INSERT INTO set_up VALUES (?)", .text(String(decoding: bytes, as: UTF8.self)))
  }
}
