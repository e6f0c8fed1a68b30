/// How much a peer may send. Everything that a parser allocates is bounded by one of these, and checked before.
package struct ProtocolLimits: Hashable, Sendable {
    /// One WebSocket message, as it came.
    package var maxMessageBytes = 16 * 1024 * 1024 + 64 * 1024
    /// The entries of an UPLOAD or DOWNLOAD after decompression.
    package var maxPlainBodyBytes = 16 * 1024 * 1024 + 64 * 1024
    /// One changeset. Clients avoid 16 MiB unless a single write is larger (docs/protocol.md, "Client messages").
    package var maxChangesetBytes = 16 * 1024 * 1024
    /// Changesets in one UPLOAD or DOWNLOAD. Stock clients close an UPLOAD at 128 KiB, about 26,000 of the smallest.
    package var maxEntries = 65_536
    /// The bodies of errors, logs and test commands, and the query of an IDENT.
    package var maxJSONBytes = 1024 * 1024
    /// Path of a partition BIND; at least 1.
    package var maxPathBytes = 1024
    /// Token of a BIND (always empty from version 10 on).
    package var maxTokenBytes = 2048
    /// Sessions on one connection, those included that wait for their UNBIND after an error.
    package var maxSessions = 1024

    package init() {}

    /// The defaults.
    package static let standard = ProtocolLimits()

    /// The bytes that a server takes of clients at once: so much less that every upload fits into one message of the broker, which takes 16 MiB
    /// from RabbitMQ 4 on, and into one DOWNLOAD behind what fills a page already.
    package static let ofClients: ProtocolLimits = {
        var limits = standard
        limits.maxPlainBodyBytes = 15 * 1024 * 1024
        limits.maxChangesetBytes = 15 * 1024 * 1024
        return limits
    }()

    /// The largest changeset that an UPLOAD of its own has room for, beside its numbers.
    package static let maxUploadedBytes = ofClients.maxPlainBodyBytes - 256
}
