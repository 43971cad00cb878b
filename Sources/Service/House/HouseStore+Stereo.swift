import House
import SQLiteStore

/// Stereo pairs on the disk: one row, as JSON.
extension HouseStore {
  static let stereoTable = "CREATE TABLE IF NOT EXISTS stereo (record TEXT NOT NULL);"

  /// Leaves out what nobody can have chosen.
  func loadStereo(_ tell: (String) -> Void) throws(SQLiteError) -> StereoBook {
    let text = try database.prepare("SELECT record FROM stereo").first { $0.text(0) }
    guard case let text?? = text else { return StereoBook() }
    guard let read = Self.read(StereoBook.self, text) else {
      tell("the list of stereo pairs is damaged; make them again: tutti stereo LEFT RIGHT")
      return StereoBook()
    }
    return read.sound
  }

  func write(_ stereo: StereoBook, before: StereoBook) throws(SQLiteError) {
    guard stereo != before else { return }
    try database.run("DELETE FROM stereo")
    try database.run("INSERT INTO stereo VALUES (?)", Self.text(stereo))
  }
}
