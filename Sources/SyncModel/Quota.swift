/// Something that an app, or one user of it, may have or do only so much of.
///
/// What gateways judge counts at one gateway, what slices' owners judge counts in one slice: nobody asks the whole cluster before
/// a message.
package enum Quota: String, Sendable, Hashable, CaseIterable {
    // Judged by gateways.

    /// Sockets of one user.
    case userSockets
    /// Sockets opened a second, of the app and of one user.
    case connects
    case userConnects
    /// Sessions begun a second, of the app and of one user.
    case binds
    case userBinds
    /// UPLOAD messages a second, likewise.
    case uploads
    case userUploads

    /// Bytes that subscription sets of sessions take, of the app and of one user.
    case setBytes
    case userSetBytes

    // Judged by slices' owners.

    /// Realms that there are, and that one user has made lately.
    case realms
    case userRealms
    /// Client files that there are, and that were made for one user lately.
    case clientFiles
    case userClientFiles
    /// Bytes of objects and histories that there are, and of changesets that one user has added lately.
    case bytes
    case userBytes

    /// Classes and properties that one user may add to the app's schema.
    case userSchemaElements

    /// The limit where nobody says otherwise: more than a real app ever needs.
    package var standard: Int {
        switch self {
        case .userSockets: 2_000
        case .connects: 5_000
        case .userConnects: 20
        case .binds: 5_000
        case .userBinds: 50
        case .uploads: 10_000
        case .userUploads: 100
        case .setBytes: 1 << 30
        case .userSetBytes: 64 << 20
        case .realms: 1_000_000
        case .userRealms: 20_000
        case .clientFiles: 10_000_000
        case .userClientFiles: 100_000
        case .bytes: 256 << 30
        case .userBytes: 64 << 30
        case .userSchemaElements: 5_000
        }
    }

    /// The limits that may be set.
    package var bounds: ClosedRange<Int> {
        switch self {
        case .userSockets: 1...20_000
        case .connects, .userConnects, .binds, .userBinds, .uploads, .userUploads: 1...1_000_000
        case .realms, .userRealms, .clientFiles, .userClientFiles: 1...1_000_000_000
        case .bytes, .userBytes, .setBytes, .userSetBytes: (1 << 20)...(1 << 50)
        case .userSchemaElements: 1...20_000
        }
    }

    /// The setting that holds for all apps that have no value of their own.
    package var setting: String {
        let words = rawValue.map { $0.isUppercase ? "_\($0.lowercased())" : String($0) }.joined()
        return "quotas.\(words)"
    }

    /// The unit of what it counts, after a number: "200 sessions begun a second".
    package var unit: String {
        switch self {
        case .userSockets: "sockets at one gateway"
        case .connects, .userConnects: "sockets opened a second at one gateway"
        case .binds, .userBinds: "sessions begun a second at one gateway"
        case .uploads, .userUploads: "uploads a second at one gateway"
        case .setBytes, .userSetBytes: "bytes of subscription sets at one gateway"
        case .realms: "realms in one slice"
        case .userRealms: "realms made lately in one slice"
        case .clientFiles: "client files in one slice"
        case .userClientFiles: "client files made lately in one slice"
        case .bytes: "bytes in one slice"
        case .userBytes: "bytes uploaded lately to one slice"
        case .userSchemaElements: "classes and properties added"
        }
    }

    /// Whether it is one user's and not the whole app's, as its name says.
    package var isOfUser: Bool { rawValue.hasPrefix("user") }

    /// The sentence that a client is told that has met the quota.
    ///
    /// - Parameter user: whose it is, of a quota of users.
    package func refusal(limit: Int, app: String, user: String) -> String {
        let who = isOfUser ? "user \(user) of app \(app)" : "app \(app)"
        return
            "\(who) may have \(limit) \(unit), and has them (quota \(rawValue)): nothing is lost, try again later; its operator"
            + " can look with: sluice apps quotas \(app)"
    }
}

/// The values of some quotas; the others have their defaults.
package struct QuotaValues: Sendable, Equatable {
    private var values: [Quota: Int] = [:]

    package init(_ values: [Quota: Int] = [:]) { self.values = values }

    /// Nil: it has no value here.
    package subscript(quota: Quota) -> Int? {
        get { values[quota] }
        set { values[quota] = newValue }
    }

    package var isEmpty: Bool { values.isEmpty }

    /// The values by the quotas' names.
    package var named: [String: Int] { Dictionary(uniqueKeysWithValues: values.map { ($0.key.rawValue, $0.value) }) }
}

/// Coding by the quotas' names; names of a newer version are passed over.
extension QuotaValues: Codable {
    package init(from decoder: any Decoder) throws {
        let named = try [String: Int](from: decoder)
        for (name, value) in named { if let quota = Quota(rawValue: name) { values[quota] = value } }
    }

    package func encode(to encoder: any Encoder) throws { try named.encode(to: encoder) }
}
