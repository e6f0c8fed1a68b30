import DequeModule
import Messages
import SyncModel
import SyncProtocol

/// A session's uploads between the client and its owner: published in order, kept until the broker has confirmed them,
/// counted until the owner has acknowledged them.
struct UploadPipeline: Sendable {
    struct Pending: Sendable {
        var number: UInt64
        var message: ChangesetMessage
        var isConfirmed = false
    }

    private var pending: Deque<Pending> = []
    private var counted: Deque<(clientVersion: ClientVersion, bytes: Int)> = []
    private var nextNumber: UInt64 = 1
    private(set) var unacknowledgedBytes = 0
    /// The time, in milliseconds, since when there is something that no owner has acknowledged.
    private var unacknowledgedSince: UInt64 = 0
    /// Client version of the progress that the next upload follows.
    private(set) var follows: ClientVersion = 0
    /// The owner has acknowledged changesets and the client has not been told.
    private(set) var owesAcknowledgement = false
    /// An upload that only reports progress, and when it came.
    private var held: (upload: Upload, since: UInt64)?

    /// Starts from an owner that knows everything up to `clientVersion`.
    mutating func begin(after clientVersion: ClientVersion) { follows = clientVersion }

    var unconfirmed: [Pending] { pending.filter { !$0.isConfirmed } }
    var hasUnconfirmed: Bool { !pending.isEmpty }
    /// The owner has not said of all changesets that it has them.
    var hasUnacknowledged: Bool { !counted.isEmpty }

    /// Keeps an upload of mere progress back for a while: each DOWNLOAD draws one from every client, and the next
    /// upload with changesets makes it superfluous.
    mutating func hold(_ upload: Upload, at now: UInt64) { held = (upload, held?.since ?? now) }

    mutating func takeHeld(before now: UInt64, delay: UInt64) -> Upload? {
        guard let held, now >= held.since &+ delay else { return nil }
        return takeHeld()
    }

    mutating func takeHeld() -> Upload? {
        defer { held = nil }
        return held?.upload
    }

    /// Whether so much was uploaded a moment ago that others' versions had better wait: the client would hear behind all of them that its own
    /// are integrated.
    func isBulky(at now: UInt64) -> Bool {
        unacknowledgedBytes >= Self.bulkBytes && now < unacknowledgedSince &+ Self.bulkPatience
    }

    /// The bytes of unacknowledged uploads from which on others' versions wait for them, and for how many milliseconds at most.
    static let bulkBytes = 16 << 10
    static let bulkPatience: UInt64 = 5_000

    mutating func add(_ message: ChangesetMessage, bytes: Int, at now: UInt64) -> UInt64 {
        let number = nextNumber
        nextNumber &+= 1
        pending.append(Pending(number: number, message: message))
        guard let progress = message.upload?.progress.clientVersion else { return number }
        follows = max(follows, progress)
        if !message.entries.isEmpty {
            if counted.isEmpty { unacknowledgedSince = now }
            counted.append((progress, bytes))
            unacknowledgedBytes += bytes
        }
        return number
    }

    func contains(_ number: UInt64) -> Bool { pending.contains { $0.number == number } }

    mutating func confirmed(_ number: UInt64) {
        guard let index = pending.firstIndex(where: { $0.number == number }) else { return }
        pending[index].isConfirmed = true
        while let first = pending.first, first.isConfirmed { pending.removeFirst() }
    }

    mutating func acknowledged(upTo clientVersion: ClientVersion) {
        while let first = counted.first, first.clientVersion <= clientVersion {
            counted.removeFirst()
            unacknowledgedBytes -= first.bytes
            owesAcknowledgement = true
        }
    }

    mutating func acknowledgementSent() { owesAcknowledgement = false }
}
