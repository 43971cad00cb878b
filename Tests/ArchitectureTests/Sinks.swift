/// Places where a text is more than a text, because something interprets it as a command, a name or a notation.
/// docs/security.md has a row for each kind, which lists the files that may do it.
struct Sink {
  /// The name in the table.
  let name: String
  /// Words in the code that do this. A `*` stands for the rest of a name.
  let words: [String]
  var endings = ["swift", "c", "h"]
  /// Text before such a word that gives it another meaning, such as a method or a case of ours.
  var others: [String] = []

  /// Returns the names of the files that do it.
  func places(in files: [SourceText]) -> Set<String> {
    let able = files.filter { file in endings.contains { file.path.hasSuffix("." + $0) } }
    return Set(
      able.filter { file in words.contains { file.says($0, unlessAfter: others) } }.map(\.name))
  }

  static let all = ofMedia + ofSystem + ofNotations + ofPage

  private static let ofMedia = [
    Sink(
      name: "FFmpeg's filters",
      words: [
        "avfilter_graph_parse*(", "avfilter_graph_segment*(", "avfilter_graph_create_filter(",
        "avfilter_init_*(", "avfilter_graph_send_command(", "avfilter_process_command(",
      ]),
    Sink(name: "a chain of FFmpeg's filters", words: ["OwnChain.init", "OwnChain("]),
    Sink(
      name: "FFmpeg's options",
      words: [
        "av_dict_set*(", "av_dict_parse*(", "av_opt_set*(", "av_opt_eval*(", "av_set_options*(",
      ]),
    Sink(
      name: "what FFmpeg opens",
      words: [
        "avformat_open_input(", "avio_open*(", "av_find_input_format(", "av_guess_format(",
        "avcodec_find_decoder_by_name(", "avcodec_find_encoder_by_name(",
      ]),
    Sink(
      name: "ALSA's names",
      words: ["pcm", "mixer", "ctl", "hwdep", "seq", "rawmidi"].map { "snd_\($0)_open*(" }
        + [
          "snd_mixer_attach*(", "snd_config_load*(", "snd_config_search*(", "snd_config_hook*(",
          "snd_card_get_index(",
        ]),
  ]

  private static let ofSystem = [
    Sink(
      name: "a process",
      words: [
        "posix_spawn(", "posix_spawnp(", "execl*(", "execv*(", "popen(", "fork()", "vfork()",
        "wordexp(", "Process()", "sh -c", "csys_spawn(", "system(",
      ], others: [".", "case ", "int "]),
    Sink(
      name: "a process that gives sound", words: ["csys_spawn_source("], others: ["int "]),
    Sink(name: "a process that speaks", words: ["csys_spawn_command("], others: ["int "]),
    Sink(name: "a library", words: ["dlopen(", "dlmopen(", "dlsym("]),
    Sink(
      name: "a path",
      words: [
        "O_RDONLY", "O_WRONLY", "O_RDWR", "O_PATH", "fopen(", "opendir(", "creat(", "realpath(",
        "mkstemp*(", "mkdtemp(", "mkdir*(", "rmdir(", "unlink*(", "rename*(", "link(", "symlink*(",
        "chmod(", "chown(", "truncate(", "stat(", "lstat(", "access(", "statfs(", "sqlite3_open*(",
        "sun_path",
        "inotify_add_watch(", "FileManager", "FileHandle(for", "contentsOfFile", "(contentsOf: URL",
      ], others: [".", "func ", "case ", "try ", "await ", "var ", "let "]),
    Sink(name: "the environment", words: ["getenv(", "secure_getenv(", "setenv(", "putenv("]),
    Sink(name: "a name of a host", words: ["getaddrinfo(", "gethostbyname*("]),
    Sink(name: "a name of a thread", words: ["pthread_setname_np(", "PR_SET_NAME"]),
    Sink(
      name: "what the network is told",
      words: [
        "avahi_entry_group_add_*(", "avahi_entry_group_update_*(", "avahi_service_browser_new*(",
        "avahi_service_resolver_new*(", "avahi_client_set_host_name(",
      ]),
    Sink(name: "a certificate", words: ["X509_NAME_add_*(", "X509V3_EXT_*("]),
  ]

  private static let ofNotations = [
    Sink(
      name: "SQL",
      words: ["sqlite3_prepare*(", "sqlite3_exec(", "sqlite3_get_table(", "sqlite3_mprintf("]),
    Sink(name: "a question of the search", words: ["MATCH ?"]),
    Sink(
      name: "a format",
      words: [
        "printf(", "fprintf(", "sprintf(", "snprintf(", "dprintf(", "asprintf(", "vprintf(",
        "vfprintf(", "vsprintf(", "vsnprintf(", "vdprintf(", "vasprintf(", "String(format:",
        "NSLog(", "syslog(", "withVaList(",
      ]),
    Sink(
      name: "a log or terminal",
      words: [
        "write(STD", "Glibc.write(STD", "to: STD", "descriptor: STD", "standardError", "fputs(",
        "puts(", "print(",
      ],
      others: [".", "func ", "try "]),
    Sink(name: "a command that people copy", words: ["asShellWord"]),
    Sink(
      name: "a pattern",
      words: [
        "Regex(", "NSRegularExpression", "NSPredicate", "regcomp(", "glob(", "fnmatch(",
        "iconv_open(", "strftime(", "sscanf(", "strptime(",
      ]),
    Sink(name: "JSON", words: ["JSONDecoder", "JSONSerialization"]),
    Sink(name: "XML", words: ["XML_ParserCreate*("]),
    Sink(name: "a header", words: ["HTTPHeaders("]),
    Sink(name: "a QR code", words: ["QRcode_encode*("]),
  ]

  private static let ofPage = [
    Sink(
      name: "markup",
      words: [
        "innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "srcdoc", "DOMParser",
        "createContextualFragment", "setHTML",
      ], endings: ["js", "html"]),
    Sink(
      name: "a script",
      words: [
        "eval(", "new Function", "setTimeout(\"", "setTimeout(`", "setInterval(\"", "setInterval(`",
        "import(", "javascript:", "createElement(\"script", "h(\"script", "setAttribute(\"on",
      ], endings: ["js", "html"]),
    Sink(
      name: "a style",
      words: [".style.", ".style =", "cssText", "insertRule", "setAttribute(\"style"],
      endings: ["js"]),
    Sink(
      name: "an address on the page",
      words: [
        "href:", ".href =", "\"href\", ", ".src =", "src:", "\"src\", ", ".action =",
        "await fetch(",
        "return fetch(", "EventSource(", "location.hash =", "location.href =", "location.assign(",
        "location.replace(", "window.open(",
      ], endings: ["js"]),
    Sink(
      name: "the page's own text", words: ["<!--state", "<!--asker", "<script", "<html"],
      endings: ["swift"]),
  ]
}

/// SQL that is composed from parts. Values are bound. The inserted parts are listed here; each is a constant or a
/// number.
enum PutTogetherSQL {
  static let constants: Set = [
    "Database.swift: version", "ServedFiles.swift: limit",
    "LibraryQueries.swift: order(query.order)", "SearchQuery.swift: kind.rawValue",
    "UserLists.swift: StoredLists.limit", "QueueEntries.swift: Playlist.limit",
    "TrackWriter.swift: $0", "LoudnessTable.swift: choice.rawValue",
  ]

  private static let words = [
    "SELECT", "INSERT", "UPDATE", "DELETE FROM", "REPLACE", "ALTER", "CREATE", "DROP", "PRAGMA",
    "ATTACH", "VACUUM", "WHERE", "ORDER BY", "LIMIT", "VALUES", "SET", "FROM", "JOIN", "= ?",
  ]

  /// Returns `FILE: EXPRESSION` of each inserted part. The schema is made of constants only.
  static func parts(in file: SourceText) -> [String] {
    guard file.path.hasSuffix(".swift"), file.name != "LibrarySchema.swift" else { return [] }
    return lines(of: file).flatMap { line in
      line.matches(of: /\\\(((?:[^()]|\([^()]*\))*)\)/).map { "\(file.name): \($0.1)" }
    }
  }

  /// Returns the lines with SQL into which something is inserted.
  private static func lines(of file: SourceText) -> [String] {
    let places = Set(file.places(of: "\\("))
    guard !places.isEmpty, words.contains(where: { file.says($0) }) else { return [] }
    return file.bytes.split(separator: UInt8(ascii: "\n"))
      .filter { line in line.indices.contains { places.contains($0) } }
      .map { String(decoding: $0, as: UTF8.self) }
      .filter { line in
        let text = SourceText(path: file.path, text: line)
        return words.contains { text.says($0) }
      }
  }
}
