/// A realm's name in the cluster: the app, the sync mode and, for partition sync, the partition value. An app in flexible mode has
/// one realm, whose partition is empty, which no partition value's text is.
///
/// `partition` is the canonical extended JSON text that a client sends in BIND, such as `"store-nw"` with its quotes,
/// `{"$oid":"..."}` or `null`. In JSON messages a bare word is taken for a string value, so that
/// `"partition": "store-nw"` means the partition `"store-nw"`.
package struct RealmName: Hashable, Sendable {
    package var app: String
    package var partition: String

    package init(app: String, partition: String) {
        self.app = app
        self.partition = partition
    }

    /// The one realm of an app in flexible mode.
    package init(flexible app: String) { self.init(app: app, partition: "") }

    package var isFlexible: Bool { partition.isEmpty }

    /// The text that identifies the realm in the whole cluster: `<app>/<sync mode>/<partition>` (docs/messages.md).
    package var key: String { isFlexible ? "\(app)/flexible" : "\(app)/partition/\(partition)" }

    package func slice(of count: SliceCount) -> SliceNumber {
        SliceNumber(JumpHash.bucket(of: FNV1a.hash64(key.utf8), buckets: count.value))
    }

    /// The routing key of the realm's notices on the realm topic: `<app>.<16 hex digits>`.
    package var topicKey: String {
        "\(Self.topicWord(app)).\(ObjectID.hex(FNV1a.hash64(key.utf8), digits: 16))"
    }

    /// App ids may hold a dot, which separates words in a topic key.
    package static func topicWord(_ app: String) -> String { String(app.map { $0 == "." ? "_" : $0 }) }

    /// A partition value as an operator writes it: extended JSON is kept, anything else is a plain string.
    package static func partition(fromText text: String) -> String {
        if text == "null" || text.hasPrefix("\"") || text.hasPrefix("{") { return inASCII(text) }
        return JSONText.quoted(text, asciiOnly: true)
    }

    /// Extended JSON in ASCII alone, other characters as `\uXXXX`: the form in which gateways name realms.
    private static func inASCII(_ text: String) -> String {
        var bytes: [UInt8] = []
        for scalar in text.unicodeScalars {
            if scalar.value <= 0x7e {
                bytes.append(UInt8(scalar.value))
            } else {
                JSONText.appendEscape(of: scalar, to: &bytes)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension RealmName: Codable {
    private enum Key: String, CodingKey { case app, partition, flexible }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        app = try container.decode(String.self, forKey: .app)
        // A name that lacks the partition is a mistake, and no flexible realm.
        if try container.decodeIfPresent(Bool.self, forKey: .flexible) == true {
            partition = ""
        } else {
            partition = Self.partition(fromText: try container.decode(String.self, forKey: .partition))
        }
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(app, forKey: .app)
        if isFlexible {
            try container.encode(true, forKey: .flexible)
        } else {
            try container.encode(partition, forKey: .partition)
        }
    }
}

extension RealmName: CustomStringConvertible {
    package var description: String { key }
}
