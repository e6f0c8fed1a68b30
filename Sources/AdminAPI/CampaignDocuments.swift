package import Storage
package import SyncModel

/// The body that terminates an app's sync.
package struct TerminationRequest: AdminBody, Equatable {
    package static let keys: Set<String> = ["reason", "enable", "campaign"]
    package static let shownKeys = keys

    /// The reason that the campaign has and the clients are told.
    package var reason: String?
    /// Sync goes on at once with the new generation, so that clients can reset; true if absent.
    package var enable: Bool?
    /// The campaign's id, made up if absent: the same one again changes nothing.
    package var campaign: String?

    package init(reason: String? = nil, enable: Bool? = nil, campaign: String? = nil) {
        self.reason = reason
        self.enable = enable
        self.campaign = campaign
    }
}

/// The body that makes the client realms of one realm, or one of them, reset.
package struct ResetRequest: AdminBody, Equatable {
    package static let keys: Set<String> = ["partition", "flexible", "clientFile", "reason", "campaign"]
    package static let shownKeys = keys

    /// The partition value: a word, or extended JSON. Absent of the one realm of an app in flexible mode.
    package var partition: String?
    /// The flexible realm, also of an app that has gone back to partitions.
    package var flexible: Bool?
    /// The client file's ident, from 2 on; all of the realm's if absent.
    package var clientFile: FileIdent?
    package var reason: String?
    package var campaign: String?

    package init(
        partition: String?, flexible: Bool? = nil, clientFile: FileIdent? = nil, reason: String? = nil,
        campaign: String? = nil
    ) {
        self.partition = partition
        self.flexible = flexible
        self.clientFile = clientFile
        self.reason = reason
        self.campaign = campaign
    }
}

/// The body that lets an app's clients reset whose slices hold them.
package struct AllowResetsRequest: AdminBody, Equatable {
    package static let keys: Set<String> = ["slice", "seconds"]

    /// All slices if absent.
    package var slice: SliceNumber?
    /// The time for which the clients may reset, up to a day; an hour if absent.
    package var seconds: UInt64?

    package init(slice: SliceNumber? = nil, seconds: UInt64? = nil) {
        self.slice = slice
        self.seconds = seconds
    }
}

/// The resets that were allowed, and the slices that were told.
package struct AllowedResetsDocument: Codable, Sendable, Equatable {
    package var app: String
    package var slices: [SliceNumber]
    package var seconds: UInt64

    package init(app: String, slices: [SliceNumber], seconds: UInt64) {
        self.app = app
        self.slices = slices
        self.seconds = seconds
    }
}

/// A page of campaigns, newest first.
package struct CampaignList: Codable, Sendable, Equatable {
    package var campaigns: [CampaignSummary]
    /// The `after` of the following page; absent at the end.
    package var next: String?

    package init(campaigns: [CampaignSummary], next: String?) {
        self.campaigns = campaigns
        self.next = next
    }
}

/// A page of client realms.
package struct ClientRealmList: Codable, Sendable, Equatable {
    package var clientRealms: [CampaignClientRealm]
    /// The `after` of the following page; absent at the end.
    package var next: String?

    package init(clientRealms: [CampaignClientRealm], next: String? = nil) {
        self.clientRealms = clientRealms
        self.next = next
    }
}
