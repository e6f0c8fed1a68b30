import Foundation
import Messages
import Storage
import SyncModel

/// One client realm's reset, as far as it is known from its traffic alone: stock clients cannot report (docs/resets.md,
/// "Inference").
///
/// Pure: events go in, the state changes, and now and then a conclusion comes out. Partition sync has no marker for a reset's
/// sessions, so their order tells: after the error, on the same connection, a session that asks for an ident, downloads and
/// leaves without an upload (the fresh copy); then a session that presents that ident with client version 0 (the reset).
struct ResetCase: Codable, Equatable {
    enum Phase: Codable, Equatable {
        /// The error was sent; the client has done nothing yet.
        case notified
        /// A session asked for an ident: a fresh copy, or the new file after a manual reset.
        case copying(ident: FileIdent, session: SessionReference, isMarked: Bool)
        /// The fresh copy is complete.
        case copied(ident: FileIdent)
        /// A session that has an ident was bound and has not said which one.
        case resuming(ident: FileIdent, session: SessionReference, boundAt: UInt64)
        /// The client presented the fresh copy's ident: the merge is committed on its side.
        case merged(ident: FileIdent, boundAt: UInt64, isMarked: Bool)
        /// The reset was given up; only a manual reset can follow.
        case failed
        /// The new file of a manual reset is in use.
        case replaced(ident: FileIdent)
    }

    struct Conclusion: Codable, Equatable {
        var result: OutcomeReport.Result
        var confidence: Double
        var recovered: Int
        /// The campaign that has the client realm reset once more before anything else could be concluded; `result` is
        /// `interrupted` then.
        var supersededBy: String?
    }

    let name: RealmName
    let user: String
    let identOld: FileIdent
    var campaign: String
    var attempt = 1
    /// The connection on which the error was sent; then the one on which the fresh copy is made.
    var connection: String
    var phase = Phase.notified
    /// The fresh copy was asked for on the connection of the error: it belongs to this client realm and no other.
    var isSameConnection = true
    /// The idents of fresh copies asked for on the connection of the error, the latest last. A client may keep a fresh copy
    /// over a repeated error and go on with it; once the client realm goes on under one ident, the others are abandoned.
    /// Nil in cases stored by earlier versions.
    var freshCopies: [FileIdent]?
    /// The app allowed recovery when the error was sent; if not, whatever the client had not synced is discarded. Nil in
    /// cases stored by earlier versions.
    var mayRecover: Bool?
    var recovered = 0
    /// The outcome that was reported last.
    var conclusion: Conclusion?
    /// Milliseconds of Unix time.
    var openedAt: UInt64
    var dueAt: UInt64?

    /// The ident that the client realm goes on under, as far as it is known.
    var identNew: FileIdent? {
        switch phase {
        case .copying(let ident, _, _), .copied(let ident), .resuming(let ident, _, _), .merged(let ident, _, _),
            .replaced(let ident):
            ident
        case .notified, .failed: nil
        }
    }

    /// The ident under which the client realm certainly goes on; nil while it could still present its old one.
    var identInUse: FileIdent? {
        switch phase {
        case .merged(let ident, _, _), .replaced(let ident): ident
        default: nil
        }
    }

    /// Whether the ident is that of a fresh copy which the client realm does not go on under yet, and may never.
    func isCopying(_ ident: FileIdent) -> Bool {
        identInUse == nil && (identNew == ident || freshCopies?.contains(ident) == true)
    }

    /// Whether the client realm goes on under another ident, and will never come back under this one.
    func hasAbandoned(_ ident: FileIdent) -> Bool {
        guard let identInUse, identInUse != ident else { return false }
        return freshCopies?.contains(ident) == true
    }

    /// Whether a new ident could be this client realm's.
    var awaitsIdent: Bool {
        switch phase {
        case .notified, .failed: true
        default: false
        }
    }

    /// Nothing more is expected.
    var isClosed: Bool {
        switch phase {
        case .replaced: conclusion?.result == .manualHandled
        case .merged where conclusion?.supersededBy != nil: true
        case .merged(_, _, let isMarked): isMarked && conclusion != nil && dueAt == nil
        default: false
        }
    }
}

extension ResetCase {
    func record(realm: RealmID) throws -> ResetCaseRecord {
        ResetCaseRecord(
            realm: realm, identOld: identOld, user: user, isOpen: !isClosed, dueAt: dueAt,
            body: Array(try JSONEncoder().encode(self)))
    }

    init(_ record: ResetCaseRecord) throws {
        self = try WorkerError.reading("reset case of client file \(record.identOld)") {
            try JSONDecoder().decode(ResetCase.self, from: Data(record.body))
        }
    }

    func report(_ conclusion: Conclusion, at: UInt64) -> OutcomeReport {
        OutcomeReport(
            campaign: campaign, attempt: "\(campaign)/\(identOld)/\(attempt)", realm: name, user: user,
            identOld: identOld, identNew: identNew, modeRequested: nil, modeUsed: nil, result: conclusion.result,
            supersededBy: conclusion.supersededBy,
            changesets: conclusion.recovered > 0 ? .init(recovered: conclusion.recovered) : nil, backupFile: nil,
            error: nil, evidence: .inferred, confidence: conclusion.confidence, at: at)
    }
}
