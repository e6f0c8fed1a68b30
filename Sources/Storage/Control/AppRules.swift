package import Rules
import Synchronization

/// The rules of apps, read and taken apart once a version, for whoever decides by them.
///
/// A version never changes, so what is remembered holds for good. At most `maxBytes` of documents are remembered; beyond them all
/// but the one in hand are forgotten.
package final class AppRules: Sendable {
    private struct Entry {
        var version: UInt64
        var document: RulesDocument
        var bytes: Int
    }

    package static let maxBytes = 16 << 20
    private let store: any RulesStore
    /// The newest version that was asked for of each app's rules, by the app's id.
    private let known = Mutex<[String: Entry]>([:])

    package init(store: any RulesStore) { self.store = store }

    /// The document that `document` would return without a reading; nil if it would read.
    package func remembered(of app: AppRecord) -> RulesDocument? {
        guard let entry = known.withLock({ $0[app.id] }), entry.version == app.rulesVersion else { return nil }
        return entry.document
    }

    /// The rules that are in force by an app's record; nil if it never had any, and nobody may read or write.
    ///
    /// - Throws: `stale` if the record is so old that its rules are not kept any more, `corrupt` if they cannot be read: whoever asks
    ///   must then refuse what the rules would have to allow.
    package func document(of app: AppRecord) async throws(StoreError) -> RulesDocument? {
        guard app.rulesVersion > 0 else { return nil }
        if let document = remembered(of: app) { return document }
        guard let record = try await store.rules(app: app.id, version: app.rulesVersion) else {
            throw StoreError(.stale, "version \(app.rulesVersion) of the rules of app \(app.id) is not kept any more")
        }
        let check = RulesCheck(record.document)
        guard let document = check.document else {
            let first = check.findings.first.map { "\($0.path): \($0.message)" } ?? "no reason found"
            throw StoreError(
                .corrupt, "version \(app.rulesVersion) of the rules of app \(app.id) cannot be read: \(first)")
        }
        remember(Entry(version: record.version, document: document, bytes: record.document.count), of: app.id)
        return document
    }

    private func remember(_ entry: Entry, of app: String) {
        known.withLock { known in
            guard (known[app]?.version ?? 0) < entry.version else { return }
            known[app] = entry
            guard known.values.reduce(0, { $0 + $1.bytes }) > Self.maxBytes else { return }
            known = [app: entry]
        }
    }
}
