package import Storage

/// Rules of partition sync as operators write them, for tests that need an app with some.
package enum TestRules {
    /// Everybody reads and writes every partition.
    package static let open = #"{"partition":{"read":true,"write":true}}"#
    /// Everybody reads every partition, nobody writes.
    package static let readOnly = #"{"partition":{"read":true,"write":false}}"#
    /// Users read and write the partition that their id names.
    package static let own =
        #"{"partition":{"read":{"%%user.id":"%%partition"},"write":{"%%user.id":"%%partition"}}}"#
    package static let closed = #"{"partition":{"read":false,"write":false}}"#

    fileprivate static func change(_ document: String) -> RulesChange {
        RulesChange(document: Array(document.utf8), author: "test", at: 1)
    }
}

extension AppStore {
    /// Makes an app with rules, since without any nobody may do anything.
    package func insert(_ app: AppRecord, rules document: String) async throws {
        try await insert(app, rules: TestRules.change(document))
    }

    /// Puts other rules in force.
    ///
    /// - Returns: their version.
    @discardableResult
    package func setRules(_ document: String, of app: String) async throws -> UInt64 {
        let version = try await self.app(app)?.rulesVersion ?? 0
        return try await replaceRules(app: app, expecting: version, with: TestRules.change(document)).version
    }
}
