import Messages
import Storage
import SyncModel

/// What the admin API answers (docs/admin-api.md), as far as the commands use it.
struct AppList: Codable {
    var apps: [AppRecord]
}

struct AppDocument: Codable {
    var app: AppRecord
    var users: Int

    private enum Key: CodingKey { case users }

    init(from decoder: any Decoder) throws {
        app = try AppRecord(from: decoder)
        users = try decoder.container(keyedBy: Key.self).decode(Int.self, forKey: .users)
    }

    func encode(to encoder: any Encoder) throws {
        try app.encode(to: encoder)
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(users, forKey: .users)
    }
}

struct SchemaDocument: Codable {
    struct Class: Codable {
        var name: String
        var type: String
        var properties: [Property]
    }

    struct Property: Codable {
        var name: String
        var type: String
    }

    var classes: [Class]
}

/// A campaign in one flat object, with its client realms where they were asked for.
struct CampaignDocument: Codable {
    var campaign: CampaignRecord
    var counts: CampaignCounts
    var slices: [CampaignSlice]?
    var clientRealms: [ClientRealmDocument]?

    private enum Key: CodingKey { case counts, slices, clientRealms }

    init(from decoder: any Decoder) throws {
        campaign = try CampaignRecord(from: decoder)
        let container = try decoder.container(keyedBy: Key.self)
        counts = try container.decode(CampaignCounts.self, forKey: .counts)
        slices = try container.decodeIfPresent([CampaignSlice].self, forKey: .slices)
    }

    func encode(to encoder: any Encoder) throws {
        try campaign.encode(to: encoder)
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(counts, forKey: .counts)
        try container.encodeIfPresent(slices, forKey: .slices)
        try container.encodeIfPresent(clientRealms, forKey: .clientRealms)
    }
}

struct CampaignList: Codable {
    var campaigns: [CampaignDocument]
    var next: String?
}

struct ClientRealmDocument: Codable {
    var partition: String
    var clientFile: UInt64
    var user: String
    var lastSeen: UInt64
    var notifiedAt: UInt64?
    var outcome: OutcomeClass
    var supersededBy: String?
    var report: OutcomeReport?
}

struct ClientRealmList: Codable {
    var clientRealms: [ClientRealmDocument]
    var next: String?
}

struct SliceDocument: Codable {
    var slice: Int
    var owner: String?
    var standBy: [String]
    var epoch: UInt64?
    var load: Double?
    var unacknowledged: Int?
    var oldestAt: UInt64?
    var perSecond: Double?
    var lastHeardAt: UInt64?
}

struct SliceList: Codable {
    var slices: [SliceDocument]
}
