/// One version of an app's rules.
package struct RulesRecord: Sendable, Equatable {
    package var app: String
    /// The version's number, counted from 1; the highest is in force.
    package var version: UInt64
    /// The document, as `RulesDocument` writes it.
    package var document: [UInt8]
    /// The name under which the version was set: an admin token's, or that of the server's own work.
    package var author: String
    /// Milliseconds of Unix time.
    package var at: UInt64

    /// So many versions of an app are kept, the newest.
    package static let kept = 100

    package init(app: String, version: UInt64, document: [UInt8], author: String, at: UInt64) {
        self.app = app
        self.version = version
        self.document = document
        self.author = author
        self.at = at
    }

    package var heading: RulesHeading {
        RulesHeading(version: version, author: author, at: at, bytes: document.count)
    }
}

/// A version of an app's rules without the document.
package struct RulesHeading: Sendable, Equatable {
    package var version: UInt64
    package var author: String
    /// Milliseconds of Unix time.
    package var at: UInt64
    package var bytes: Int
}

/// Rules that are to be an app's.
package struct RulesChange: Sendable, Equatable {
    /// A document that was checked.
    package var document: [UInt8]
    package var author: String
    /// Milliseconds of Unix time.
    package var at: UInt64

    package init(document: [UInt8], author: String, at: UInt64) {
        self.document = document
        self.author = author
        self.at = at
    }
}

/// The rules of apps, with the versions that they had before.
package protocol RulesStore: Sendable {
    /// Nil if there is no such version, or none any more.
    func rules(app: String, version: UInt64) async throws(StoreError) -> RulesRecord?
    /// Newest first.
    /// - Parameter after: the version that the previous page ended with.
    func rulesHistory(app: String, after: UInt64?, limit: Int) async throws(StoreError) -> [RulesHeading]
    /// Puts new rules in force under the next version, and drops those beyond the newest `RulesRecord.kept`.
    ///
    /// - Parameter version: the version that they replace; 0 where there are none.
    /// - Throws: `notFound` for an unknown app; `stale` if another version is in force.
    func replaceRules(
        app: String, expecting version: UInt64, with change: RulesChange
    ) async throws(StoreError) -> RulesRecord
}

extension RulesRecord {
    /// What replaces an app's rules.
    /// - Throws: `stale`.
    package static func replacing(
        _ version: UInt64, of app: AppRecord, with change: RulesChange
    ) throws(StoreError) -> RulesRecord {
        guard app.rulesVersion == version else {
            throw StoreError(
                .stale,
                "the rules of app \(app.id) are at version \(app.rulesVersion), not \(version): somebody else has changed them"
            )
        }
        return RulesRecord(
            app: app.id, version: version + 1, document: change.document, author: change.author, at: change.at)
    }
}
