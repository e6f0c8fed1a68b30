import DequeModule
import SyncModel
import SyncProtocol

/// The messages of a session that are not dealt with yet, since what the client sent before has to be first (docs/protocol.md, "The
/// order of a session's messages"). Pure.
struct WaitingMessages: Sendable {
    enum Message: Sendable {
        /// `bytes`: what it counts against the budget of unacknowledged uploads.
        case upload(Upload, bytes: Int)
        /// An upload that goes beyond a quota.
        case beyond(Quota, limit: Int, seconds: Int)
        case mark(RequestIdent)
        case query(QuerySet)
        /// A message that breaks the rules.
        case violation(SyncProtocolError)

        /// The size of the part that may be large.
        fileprivate var bytes: Int {
            switch self {
            case .upload(_, let bytes): bytes
            case .query(let set): set.text.utf8.count
            case .beyond, .mark, .violation: 0
            }
        }

        fileprivate var isUpload: Bool { if case .upload = self { true } else { false } }
    }

    /// How long what is more than `mostBytesForLong` may keep the socket from being read: clients want their PINGs answered within 120 s.
    static let patience: UInt64 = 30_000
    static let mostBytesForLong = 256 << 10
    static let mostMessages = 2_000

    private var messages: Deque<Message> = []
    /// The bytes of the uploads and subscription sets that wait.
    private(set) var bytes = 0
    private var uploads = 0
    /// When the first one began to be the first.
    private var since: UInt64 = 0
    /// The messages were let go, and so are those that come: the client sends them again in another session.
    private(set) var isLetGo = false

    var isEmpty: Bool { messages.isEmpty }
    var hasUploads: Bool { uploads > 0 }

    mutating func append(_ message: Message, at now: UInt64) {
        guard !isLetGo else { return }
        guard messages.count < Self.mostMessages else { return letGo() }
        if messages.isEmpty { since = now }
        if message.isUpload { uploads += 1 }
        bytes += message.bytes
        messages.append(message)
    }

    /// The situation of the session, by which messages may go or have to wait.
    struct Situation: Sendable {
        /// The owner knows the client.
        var isLive = true
        /// The client has asked for the data of a subscription set, or begins with it, and it is not sent yet.
        var awaitsSet = false
        /// A MARK is to be answered.
        var owesMark = false
        /// Uploads need not wait for the answers to MARKs.
        var mayPassMarks = false
        /// The owner has not said of all uploads that it has them.
        var hasUnacknowledged = false
    }

    /// Takes the next message out, if it need not wait any more.
    mutating func next(_ situation: Situation, at now: UInt64) -> Message? {
        let isDue =
            switch messages.first {
            case nil: false
            case .mark: true
            case .query: !situation.hasUnacknowledged
            case .upload:
                situation.isLive && !situation.awaitsSet && (situation.mayPassMarks || !situation.owesMark)
            case .beyond, .violation: situation.isLive && !situation.awaitsSet && !situation.owesMark
            }
        guard isDue else { return nil }
        since = now
        return removeFirst()
    }

    /// Takes out what the client has uploaded, for a client that leaves and hears of nothing any more: answers to MARKs need not be first. What was
    /// written under a set whose data is not sent is uploaded again.
    mutating func leave(_ situation: Situation) -> [Message] {
        guard situation.isLive, !situation.awaitsSet else { return [] }
        var taken: [Message] = []
        while let first = messages.first {
            switch first {
            case .upload, .mark: break
            case .beyond, .query, .violation: return taken
            }
            _ = removeFirst()
            if first.isUpload { taken.append(first) }
        }
        return taken
    }

    private mutating func removeFirst() -> Message? {
        guard let first = messages.popFirst() else { return nil }
        if first.isUpload { uploads -= 1 }
        bytes -= first.bytes
        return first
    }

    /// Lets go of what waits if it is much and has waited for long.
    mutating func tick(at now: UInt64) {
        if bytes > Self.mostBytesForLong, now >= since &+ Self.patience { letGo() }
    }

    mutating func clear() {
        messages = []
        (bytes, uploads) = (0, 0)
    }

    private mutating func letGo() {
        clear()
        isLetGo = true
    }
}
