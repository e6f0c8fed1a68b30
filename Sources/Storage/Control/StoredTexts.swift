package import SyncModel

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

// What every engine keeps as text, so that a store can be copied from one engine to another.

extension UserRecord.Identity {
    /// - Throws: if the text is not that of `storedText`.
    package static func list(storedText: String) throws -> [UserRecord.Identity] {
        try JSONDecoder().decode([[String]].self, from: Data(storedText.utf8)).compactMap { pair in
            pair.count == 2 ? UserRecord.Identity(id: pair[0], provider: pair[1]) : nil
        }
    }

    package static func storedText(_ identities: [UserRecord.Identity]) throws -> String {
        String(decoding: try JSONEncoder().encode(identities.map { [$0.id, $0.provider] }), as: UTF8.self)
    }

    /// Whether a stored list is that of a user who has logged in anonymously, and in no other way.
    package static func isAnonymous(storedText: String) -> Bool {
        (try? list(storedText: storedText))?.isAnonymous == true
    }
}

/// A value that is kept as JSON.
package protocol StoredAsJSON: Codable {}

extension StoredAsJSON {
    package init(storedText: String) throws {
        self = try JSONDecoder().decode(Self.self, from: Data(storedText.utf8))
    }

    package func storedText() throws -> String { String(decoding: try JSONEncoder().encode(self), as: UTF8.self) }
}

extension QuotaValues: StoredAsJSON {}
extension SchemaVersionRange: StoredAsJSON {}
extension SchemaVersions: StoredAsJSON {}
extension ModeMigration: StoredAsJSON {}
extension ChangeFeedSetting: StoredAsJSON {}

extension OutcomeReport: StoredAsJSON {
    /// What a client wrote is cut to a size that is worth keeping.
    package func storedText() throws -> String {
        var report = self
        report.error = report.error.map {
            Failure(name: String($0.name.prefix(200)), message: String($0.message.prefix(2000)))
        }
        report.backupFile = report.backupFile.map { String($0.prefix(300)) }
        report.modeUsed = report.modeUsed.map { String($0.prefix(40)) }
        report.modeRequested = report.modeRequested.map { String($0.prefix(40)) }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(report), as: UTF8.self)
    }
}

extension ExternalIdentity {
    package static func profile(storedText: String) throws -> [String: String] {
        try JSONDecoder().decode([String: String].self, from: Data(storedText.utf8))
    }

    package static func storedText(ofProfile profile: [String: String]) throws -> String {
        String(decoding: try JSONEncoder().encode(profile), as: UTF8.self)
    }
}
