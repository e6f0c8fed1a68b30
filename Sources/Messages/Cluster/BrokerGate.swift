package import AMQP

/// Lets a process use a broker that belongs to its cluster, and no other.
package struct BrokerGate: Sendable {
    /// How often a broker that lacks the mark is asked again, and how long it is left alone in between: a mark that another process has just
    /// made at one of the broker's nodes is a little later at the others.
    static let maxAsks = 15
    package static let pauseBetweenAsks = Duration.milliseconds(200)

    private let mark: BrokerMark
    /// The broker, as an operator knows it.
    private let place: String
    private let wasMarked: @Sendable () async throws -> Bool
    private let didMark: @Sendable () async throws -> Void
    private var leavesMark = true
    private let folder: FolderClaim?

    /// - Parameters:
    ///   - wasMarked: whether the cluster's store says that a broker bears the cluster's mark.
    ///   - didMark: has the store say so.
    ///   - folder: that of an embedded store, which all processes must share.
    package init(
        mark: BrokerMark, place: String, folder: FolderClaim? = nil,
        wasMarked: @escaping @Sendable () async throws -> Bool, didMark: @escaping @Sendable () async throws -> Void
    ) {
        self.mark = mark
        self.place = place
        self.wasMarked = wasMarked
        self.didMark = didMark
        self.folder = folder
    }

    /// Makes the gate of a store that is always new and leaves nothing behind: it passes brokers without a mark, and
    /// makes none.
    package init(onlyIfUnmarked mark: BrokerMark, place: String) {
        self.init(mark: mark, place: place, wasMarked: { false }, didMark: {})
        leavesMark = false
    }

    /// Checks the broker's mark, and makes it where the cluster has not had a broker yet; says in which folder the store is.
    ///
    /// - Parameter channel: of the same connection; a broker that loses its mark gets it again with the channel.
    /// - Throws: `ForeignBroker`; `MissingTopology`; what the broker or the store throw.
    package func enter(_ connection: AMQPConnection, _ channel: AMQPChannel) async throws {
        let isKnown = try await wasMarked()
        var finding = try await mark.find(on: connection)
        for _ in 0..<Self.maxAsks where isKnown && finding == .none {
            try await Task.sleep(for: Self.pauseBetweenAsks)
            finding = try await mark.find(on: connection)
        }
        switch finding {
        case .foreign(let other):
            throw ForeignBroker(
                """
                the broker at \(place) belongs to \(other.map { "cluster \($0)" } ?? "another cluster") \
                (exchange \(mark.exchange)), and store.url to cluster \(mark.cluster): set both to the same cluster's, or \
                give this cluster an amqp.prefix or virtual host of its own. To use this broker with this store from now on: \
                sluice store adopt --broker
                """)
        case .none where isKnown:
            throw ForeignBroker(
                """
                the broker at \(place) has no exchange \(mark.exchange), which cluster \(mark.cluster) has made: amqp.url, \
                virtual host or amqp.prefix are another's, or the broker has lost its data. To use it as it is, without what \
                waited in the other one: sluice store adopt --broker
                """)
        case .unproven:
            throw ForeignBroker(
                """
                the broker at \(place) bears a cluster's mark (exchange \(mark.exchange)) and nothing that says that it is that of \
                cluster \(mark.cluster), whose store store.url names: there is no exchange \(mark.proof), and this process's user may \
                not make one. Set store.url and amqp.url to the same cluster's, or run sluice broker init, which compares the mark
                """)
        case .own, .none: break
        }
        try await folder?.make(on: connection)
        guard leavesMark else { return }
        // What an earlier version made has one exchange less. A user that may not make that one has just found it.
        let refusal = try await AMQPError.refusal(.accessRefused) { () throws(AMQPError) in
            try await mark.make(on: channel)
        }
        if let refusal, finding == .none {
            throw MissingTopology(mark.exchanges.map { "exchange \($0.name)" }, refusal)
        }
        if !isKnown { try await didMark() }
    }
}

/// A broker belongs to another cluster than the store, or the cluster's processes have other stores. Nobody but an operator can
/// change that.
package struct ForeignBroker: Error, CustomStringConvertible, Sendable {
    package let description: String

    package init(_ description: String) { self.description = description }
}
