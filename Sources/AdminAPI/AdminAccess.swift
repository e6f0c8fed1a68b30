package import Storage

extension AdminRoute {
    /// The route of an endpoint as the router names it, `/api/admin/v1/apps/{app}`.
    package init?(endpoint: String) {
        guard endpoint.hasPrefix(Self.base + "/") else { return nil }
        let segments = endpoint.dropFirst(Self.base.count + 1).split(separator: "/").map { segment in
            segment.first == "{" && segment.last == "}" ? ":\(segment.dropFirst().dropLast())" : String(segment)
        }
        self.init(rawValue: segments.joined(separator: "/"))
    }

    /// Returns the role that a request with this method needs.
    package func role(for method: String) -> AdminRole {
        switch (self, method) {
        case (.tokens, _), (.token, _): .own
        // Everybody who has a token may log in and out with it.
        case (.session, _), (.sessionLink, _): .read
        // What users have written is there to be read.
        case (.deadLetter, _), (.deadLetterBodies, _), (.viewsExplanation, _), (.realmObjects, _), (.documents, _),
            (.documentCount, _), (.documentDistinct, _), (.documentAggregate, _), (.documentExplanation, _),
            (.documentStream, _), (.changes, _):
            .operate
        // Requests that take much of the coordinator are for those who look after it.
        case (.realmsVerification, _): .operate
        case (_, "GET"), (_, "HEAD"): .read
        case (.rotateKeys, _), (.app, "DELETE"), (.eraseRealm, _), (.migration, _): .own
        default: .operate
        }
    }
}

/// An admin token, without the token.
package struct AdminTokenDocument: Codable, Sendable, Equatable {
    package var name: String
    package var role: AdminRole
    /// Milliseconds of Unix time.
    package var createdAt: UInt64
    /// The name of the token that made it.
    package var createdBy: String
    /// The token itself: only in the answer to the request that made it.
    package var token: String?

    package init(_ record: AdminTokenRecord, token: String? = nil) {
        name = record.name
        role = record.role
        createdAt = record.createdAt
        createdBy = record.createdBy
        self.token = token
    }
}

/// All admin tokens that were made by command, by name.
package struct AdminTokenList: Codable, Sendable, Equatable {
    package var tokens: [AdminTokenDocument]

    package init(tokens: [AdminTokenDocument]) { self.tokens = tokens }
}

/// The body that makes an admin token.
package struct AdminTokenRequest: AdminBody, Equatable {
    package static let keys: Set<String> = ["name", "role"]
    package static let shownKeys = keys

    package var name: String
    /// `read`, `operate` or `own`.
    package var role: String

    package init(name: String, role: String) {
        self.name = name
        self.role = role
    }
}

/// A page of the audit log, newest first.
package struct AuditList: Codable, Sendable, Equatable {
    package var entries: [AuditEntry]
    /// The `after` of the following page; absent at the end.
    package var next: Int64?

    package init(entries: [AuditEntry], next: Int64?) {
        self.entries = entries
        self.next = next
    }
}
