import Foundation
import Messages
import Storage
import SyncModel

/// A page of anything: `next` is what to send as `after` for the following one, absent at the end.
struct AppPage: Encodable {
    var apps: [AppRecord]
}

/// An app as GET of one answers it.
struct AppDocument: Encodable {
    var app: AppRecord
    var users: Int

    func encode(to encoder: any Encoder) throws {
        try app.encode(to: encoder)
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(users, forKey: .users)
    }

    private enum Key: CodingKey { case users }
}

/// The classes and properties that an app's clients may have, in the order of their names.
struct SchemaDocument: Encodable {
    struct Class: Encodable {
        var name: String
        var type: String
        var properties: [Property] = []
    }

    struct Property: Encodable {
        var name: String
        var type: String
    }

    private(set) var classes: [Class] = []

    /// - Parameter elements: by class, each before its properties.
    init(_ elements: [SchemaElement]) {
        for element in elements {
            if let property = element.property {
                // A class that its realms had before the app knew of any has no entry of its own.
                if classes.last?.name != element.className { classes.append(Class(name: element.className, type: "")) }
                classes[classes.count - 1].properties.append(Property(name: property, type: element.type))
            } else {
                classes.append(Class(name: element.className, type: element.type))
            }
        }
    }
}

/// A campaign with its counts, in one flat object.
struct CampaignDocument: Encodable, Equatable {
    var summary: CampaignSummary
    /// Left out of lists.
    var slices: [CampaignSlice]?

    func encode(to encoder: any Encoder) throws {
        try summary.campaign.encode(to: encoder)
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(summary.counts, forKey: .counts)
        try container.encodeIfPresent(slices, forKey: .slices)
    }

    private enum Key: CodingKey { case counts, slices }
}

struct CampaignPage: Encodable {
    var campaigns: [CampaignDocument]
    var next: String?
}

struct ClientRealmDocument: Encodable {
    var campaign: String
    var partition: String
    var clientFile: FileIdent
    var user: String
    var lastSeen: UInt64
    var foundAt: UInt64
    var notifiedAt: UInt64?
    var outcome: OutcomeClass
    var supersededBy: String?
    var report: OutcomeReport?
    var updatedAt: UInt64

    init(_ realm: CampaignClientRealm) {
        campaign = realm.campaign
        partition = realm.partition
        clientFile = realm.clientFile
        user = realm.user
        lastSeen = realm.lastSeen
        foundAt = realm.foundAt
        notifiedAt = realm.notifiedAt
        outcome = realm.outcome
        supersededBy = realm.supersededBy
        report = realm.report
        updatedAt = realm.updatedAt
    }
}

struct ClientRealmPage: Encodable {
    var clientRealms: [ClientRealmDocument]
    var next: String?
}

extension ClientRealmCursor {
    /// `<client file>.<partition in hexadecimal>`: safe in a URL.
    var text: String {
        let digits = partition.utf8.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        return "\(clientFile).\(digits)"
    }

    init?(text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 2, let file = UInt64(parts[0]).map(FileIdent.init), parts[1].utf8.count % 2 == 0 else {
            return nil
        }
        var bytes: [UInt8] = []
        var rest = parts[1].utf8[...]
        while !rest.isEmpty {
            guard let byte = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16) else { return nil }
            bytes.append(byte)
            rest = rest.dropFirst(2)
        }
        self.init(partition: String(decoding: bytes, as: UTF8.self), clientFile: file)
    }
}
