/// One step of a simulation. Clients are numbered from 1; 0 is the server. A step that means nothing where it stands,
/// such as taking an upload when none is under way, does nothing.
package enum SimulationStep: Hashable, Sendable, CustomStringConvertible {
    /// A client's clock jumps, or the server's.
    case clock(Int, by: Int64)
    /// A transaction of a client, or of the server itself.
    case write(Int, [Edit])
    /// The client sends an upload of at most so many history entries.
    case upload(Int, entries: Int)
    /// The server takes the client's next upload.
    case arrive(Int)
    /// The server gets the client's last upload once more.
    case again(Int)
    /// The server sends a download of about so many bytes.
    case download(Int, bytes: Int)
    /// The client takes its next download.
    case integrate(Int)
    /// The connection breaks and is made again.
    case reconnect(Int)
    /// The process ends and goes on from what it has stored.
    case reload(Int)
    /// The client starts from the server's state as a new file, with or without what it has not uploaded.
    case reset(Int, SimulatedReset)
    /// Sync is terminated: the server begins a new history. Every client has to be reset, and is at the next quiet point.
    case terminate
    /// Somebody uploads what cannot be applied.
    case hostile(Int)
    /// Everything is exchanged, and all copies are compared.
    case quiet

    package var description: String {
        switch self {
        case .clock(let who, let by): "\(who) clock \(by)"
        case .write(let who, let edits): "\(who) write \(edits.map(\.description).joined(separator: "; "))"
        case .upload(let who, let entries): "\(who) upload \(entries)"
        case .arrive(let who): "\(who) arrive"
        case .again(let who): "\(who) again"
        case .download(let who, let bytes): "\(who) download \(bytes)"
        case .integrate(let who): "\(who) integrate"
        case .reconnect(let who): "\(who) reconnect"
        case .reload(let who): "\(who) reload"
        case .reset(let who, let mode): "\(who) \(mode.rawValue)"
        case .hostile(let kind): "\(kind) hostile"
        case .terminate: "terminate"
        case .quiet: "quiet"
        }
    }

    package init(parsing line: some StringProtocol) throws(ScriptError) {
        if line == "terminate" {
            self = .terminate
            return
        }
        if line == "quiet" {
            self = .quiet
            return
        }
        let parts = line.split(separator: " ", maxSplits: 2)
        let words = parts.map { String($0) }
        guard words.count >= 2, let who = Int(words[0]), who >= 0 else {
            throw ScriptError("expected a client's number and what it does, found '\(line)'")
        }
        func number() throws(ScriptError) -> Int {
            guard words.count == 3, let number = Int(words[2]) else {
                throw ScriptError("expected a number after '\(words[0]) \(words[1])', found '\(line)'")
            }
            return number
        }
        switch words[1] {
        case "clock": self = .clock(who, by: Int64(try number()))
        case "write": self = .write(who, try Self.edits(words.count == 3 ? words[2] : ""))
        case "upload": self = .upload(who, entries: try number())
        case "arrive": self = .arrive(who)
        case "again": self = .again(who)
        case "download": self = .download(who, bytes: try number())
        case "integrate": self = .integrate(who)
        case "reconnect": self = .reconnect(who)
        case "reload": self = .reload(who)
        case "hostile": self = .hostile(who)
        case let word:
            guard let mode = SimulatedReset(rawValue: word) else {
                throw ScriptError("expected a step, found '\(line)'")
            }
            self = .reset(who, mode)
        }
    }

    static func edits(_ text: String) throws(ScriptError) -> [Edit] {
        try text.split(separator: ";").map { part throws(ScriptError) in try Edit(parsing: part) }
    }

    /// The client that the step is about.
    var client: Int? {
        switch self {
        case .clock(let who, _), .write(let who, _), .upload(let who, _), .arrive(let who), .again(let who),
            .download(let who, _), .integrate(let who), .reconnect(let who), .reload(let who), .reset(let who, _):
            who == 0 ? nil : who
        case .terminate, .hostile, .quiet: nil
        }
    }
}
